"""Chunk streams by seed, legal and illegal, with everything that a version's client knows.

`stream(seed, sdk)` is for agreement with the real package about what a stream means, or that it means nothing;
`legal_stream(seed)` is a stream that version 7 accepts from end to end. Chunks are JSON objects that the newest
release's schema accepts, but for the rare chunk of an unknown type, over which a client's reducer passes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from tests.conformance.calls import Calls
from tests.conformance.mutations import mutate
from tests.conformance.parts import MEDIA_TYPES, STATES, URLS, Parts
from tests.conformance.values import NUMBERS, Chance, Json, JsonObject, is_list, is_object

Chunk: TypeAlias = JsonObject
Source: TypeAlias = Literal["legal", "illegal", "mutated"]
Action: TypeAlias = Callable[[], "Chunk | None"]
Misstep: TypeAlias = Callable[[], "list[Chunk] | None"]

ILLEGAL_SHARE: Final = 0.18
MUTATED_SHARE: Final = 0.2
"""A mutated stream is a legal one with a chunk dropped, doubled or moved: about a third of them are illegal."""

FINISH_REASONS: Final = ("stop", "length", "content-filter", "tool-calls", "error", "other")
EXTRA_REASONS: Final[dict[int, tuple[str, ...]]] = {5: ("unknown",), 6: (), 7: ("interrupted",)}
EMPTY_COLUMNS: Final = (
    *("errorText", "preliminary", "inputEncoding", "title", "toolMetadata", "providerExecuted"),
    *("callProviderMetadata", "resultProviderMetadata"),
)
UNKNOWN_TYPES: Final = ("ping", "tool-weather", "datum", "text", "toString", "")


@dataclass(frozen=True)
class Case:
    """A stream, what it continues, and where it comes from."""

    seed: int
    sdk: int
    source: Source
    chunks: list[Chunk]
    onto: JsonObject | None

    @property
    def request(self) -> JsonObject:
        """The question to the oracle."""
        return {"do": "fold", "sdk": str(self.sdk), "chunks": self.chunks, "onto": self.onto}


def stream(seed: int, sdk: int) -> Case:
    """A stream for version 5, 6 or 7; one in four continues a message."""
    chance = Chance(f"stream {sdk} {seed}")
    share = chance.whole(0, 999) / 1000
    source: Source = "legal"
    if share < ILLEGAL_SHARE:
        source = "illegal"
    elif share < ILLEGAL_SHARE + MUTATED_SHARE:
        source = "mutated"
    maker = _Maker(chance, sdk)
    onto = maker.continue_something() if chance.maybe(0.27) else None
    ticks = chance.weighted(((2, chance.whole(0, 6)), (5, chance.whole(5, 30)), (2, chance.whole(30, 70))))
    chunks = maker.run(ticks, misstep_at=chance.whole(0, ticks) if source == "illegal" else None)
    if source == "mutated":
        mutate(chance, chunks)
    if chance.maybe(0.04):
        strange = {"type": chance.pick(UNKNOWN_TYPES), "id": "t1", "data": 1}
        chunks.insert(chance.whole(0, len(chunks)), strange)
    return Case(seed, sdk, source, chunks, onto)


def legal_stream(seed: int) -> Case:
    """A rich stream that version 7 accepts and that continues nothing."""
    chance = Chance(f"legal stream {seed}")
    return Case(seed, 7, "legal", _Maker(chance, 7).run(chance.whole(15, 70), misstep_at=None), None)


class _Maker:
    """Says one chunk after the other, and remembers what is open."""

    def __init__(self, chance: Chance, sdk: int) -> None:
        self._chance = chance
        self._sdk = sdk
        self._parts = Parts(chance, sdk)
        self._calls = Calls(chance, sdk)
        self._open: dict[str, dict[str, list[str]]] = {"text": {}, "reasoning": {}}
        self._closed: dict[str, list[str]] = {"text": [], "reasoning": []}
        self._metadata: Literal["none", "object", "scalar"] = "none"
        self._onto: JsonObject | None = None
        # Odd metadata is a rarity: a server that sends a number or a list there is beyond help.
        self._odd_metadata = chance.maybe(0.12)

    def continue_something(self) -> JsonObject:
        """The last message of the conversation: an assistant's, unfinished perhaps, or a user's."""
        chance = self._chance
        if chance.maybe(0.15):
            return {"id": "m-user", "role": "user", "parts": [self._parts.of_user()]}
        message: JsonObject = {"id": chance.pick(("m-onto", "m1", "")), "role": "assistant"}
        if chance.maybe(0.4):
            message["metadata"] = self._merged(self._said_metadata())
        message["parts"] = [self._parts.any() for _ in range(chance.whole(0, 6))]
        if chance.maybe(0.5):
            state = chance.weighted(
                ((6, "input-streaming"), (2, "approval-requested"), (2, chance.pick(STATES)))
            )
            message["parts"].append(self._parts.tool(state, dynamic=None if self._sdk > 5 else False))
        self._calls.remember(message["parts"])
        if chance.maybe(0.1):
            self._null_columns(message["parts"])
        self._onto = message
        return message

    def _null_columns(self, parts: list[JsonObject]) -> None:
        """Optional fields of calls that come out of empty database columns, or out of the wrong one."""
        for part in parts:
            # Of a call that is still arriving, later parts are made.
            if "toolCallId" in part and part["state"] != "input-streaming":
                for name in self._chance.some([name for name in EMPTY_COLUMNS if name not in part], 0.3):
                    part[name] = self._chance.pick((None, None, "done", 0))

    def run(self, ticks: int, *, misstep_at: int | None) -> list[Chunk]:
        """The whole stream: mostly framed by `start` and `finish` as a server frames it, sometimes not."""
        chance = self._chance
        chunks: list[Chunk] = []
        if chance.maybe(0.85):
            chunks.append(self._start())
        if chance.maybe(0.8):
            chunks.append(self._start_step())
        actions = self._actions()
        for tick in range(ticks):
            if tick == misstep_at:
                chunks += self._misstep()
            chunks.append(self._next(actions))
        if misstep_at == ticks:
            chunks += self._misstep()
        if chance.maybe(0.6):
            for family in ("text", "reasoning"):
                chunks += [self._end(family, key) for key in tuple(self._open[family])]
            chunks += [self._finish_step(), self._finish()]
        return chunks

    def _next(self, actions: list[tuple[float, Action]]) -> Chunk:
        while True:
            chunk = self._chance.weighted(actions)()
            if chunk is not None:
                # Clients since the loose schemas pass over fields that they do not know.
                name = self._chance.pick(("fromTomorrow", "half a character \ud83d", "0"))
                self._chance.add(chunk, name, 0.01, self._chance.json)
                return chunk

    def _actions(self) -> list[tuple[float, Action]]:
        calls = self._calls
        actions: list[tuple[float, Action]] = [
            (5, lambda: self._begin("text")),
            (16, lambda: self._more("text")),
            (5, lambda: self._any_end("text")),
            (2.5, lambda: self._begin("reasoning")),
            (7, lambda: self._more("reasoning")),
            (2.5, lambda: self._any_end("reasoning")),
            (6, calls.begin),
            (20, calls.feed),
            (5, calls.arrive),
            (1.5, calls.refuse),
            (5, calls.output),
            (2, calls.fail),
            (4, self._data),
            (1, self._file),
            (1, self._source_url),
            (1, self._source_document),
            (2.5, self._start_step),
            (2.5, self._finish_step),
            (1, self._start),
            (2, self._say_metadata),
            (0.6, self._finish),
            (0.4, self._error),
            (0.4, self._abort),
        ]
        if self._sdk >= 6:
            actions += [(3, calls.request_approval), (1.5, calls.deny)]
        if self._sdk >= 7:
            actions += [(3, calls.answer_approval), (1, self._custom), (1, self._reasoning_file)]
            actions += [(1, self._steering), (1.2, self._reset_step)]
        return actions

    # --- one illegal step -----------------------------------------------------------------------------

    def _misstep(self) -> list[Chunk]:
        calls, families = self._calls, ("text", "reasoning")
        kinds: list[tuple[float, Misstep]] = [
            *[(3, lambda family=family: [self._delta_of_stranger(family)]) for family in families],
            *[(2, lambda family=family: [self._end_of_stranger(family)]) for family in families],
            (3, lambda: _alone(calls.feed_stranger())),
            (3, lambda: _alone(calls.output_of_stranger())),
            (1.5, lambda: _alone(calls.failure_of_stranger())),
            (4, self._unmergeable_metadata),
        ]
        if self._sdk == 5:
            kinds.append((4, lambda: _alone(calls.output_of_other_kind())))
        if self._sdk <= 6:
            kinds.append((3, self._delta_after_step))
        if self._sdk >= 6:
            kinds += [
                (2, lambda: _alone(calls.approval_of_stranger())),
                (1.5, lambda: _alone(calls.denial_of_stranger())),
            ]
        if self._sdk >= 7:
            kinds.append((3, lambda: _alone(calls.answer_to_stranger())))
        while True:
            chunks = self._chance.weighted(kinds)()
            if chunks is not None:
                return chunks

    def _delta_of_stranger(self, family: str) -> Chunk:
        return {"type": f"{family}-delta", "id": self._stranger(family), "delta": "lost"}

    def _end_of_stranger(self, family: str) -> Chunk:
        return {"type": f"{family}-end", "id": self._stranger(family)}

    def _stranger(self, family: str) -> str:
        """An id that is not open in this family: closed, open in the other one, or never heard of."""
        other = "reasoning" if family == "text" else "text"
        known = [*self._closed[family], *self._open[other], 'never "heard" of', "hasOwnProperty"]
        return self._chance.pick([key for key in known if key not in self._open[family]])

    def _delta_after_step(self) -> list[Chunk] | None:
        """Until version 6 the end of a step closes every text."""
        family = self._chance.pick(("text", "reasoning"))
        if not self._open[family]:
            return None
        key = self._chance.pick(tuple(self._open[family]))
        return [self._finish_step(), {"type": f"{family}-delta", "id": key, "delta": "late"}]

    def _unmergeable_metadata(self) -> list[Chunk] | None:
        """JavaScript looks for the key of an object in a text, and throws."""
        if self._metadata == "object":
            return None
        base: list[Chunk] = []
        if self._metadata == "none":
            scalar = self._chance.pick(("abc", True, "", *NUMBERS))
            base = [{"type": "message-metadata", "messageMetadata": scalar}]
        # It names the key that it meets first: of these, indices come before the others.
        return [*base, {"type": "message-metadata", "messageMetadata": {"key": 1, **self._chance.object()}}]

    # --- text and reasoning ---------------------------------------------------------------------------

    def _begin(self, family: str) -> Chunk | None:
        key = self._chance.id()
        if key in self._open[family] and self._chance.maybe(0.8):
            return None
        self._open[family][key] = self._chance.pieces(self._chance.text())
        return self._with_metadata({"type": f"{family}-start", "id": key})

    def _more(self, family: str) -> Chunk | None:
        if not self._open[family]:
            return None
        key = self._chance.pick(tuple(self._open[family]))
        pieces = self._open[family][key]
        if not pieces:
            pieces += self._chance.pieces(self._chance.text())
        return self._with_metadata({"type": f"{family}-delta", "id": key, "delta": pieces.pop(0)})

    def _any_end(self, family: str) -> Chunk | None:
        keys = tuple(self._open[family])
        return self._end(family, self._chance.pick(keys)) if keys else None

    def _end(self, family: str, key: str) -> Chunk:
        del self._open[family][key]
        self._closed[family].append(key)
        chunk: Chunk = {"type": f"{family}-end", "id": key}
        if family == "text" and self._sdk >= 7:
            self._chance.add(chunk, "citations", 0.2, self._parts.citations)
        return self._with_metadata(chunk)

    # --- whole parts ----------------------------------------------------------------------------------

    def _data(self) -> Chunk:
        chunk: Chunk = {"type": f"data-{self._chance.pick(('weather', 'progress', '', 'x-y'))}"}
        self._chance.add(chunk, "id", 0.6, lambda: self._chance.pick(("d1", "d2", "", "0")))
        chunk["data"] = self._chance.json()
        self._chance.add(chunk, "transient", 0.2, lambda: self._chance.maybe(0.5))
        self._chance.add(chunk, "note", 0.1, self._chance.json)
        return chunk

    def _file(self) -> Chunk:
        return self._with_metadata(self._at_url("file"))

    def _reasoning_file(self) -> Chunk:
        return self._with_metadata(self._at_url("reasoning-file"))

    def _at_url(self, type: str) -> Chunk:
        return {"type": type, "url": self._chance.pick(URLS), "mediaType": self._chance.pick(MEDIA_TYPES)}

    def _source_url(self) -> Chunk:
        return self._parts.source_url()

    def _source_document(self) -> Chunk:
        return self._parts.source_document()

    def _custom(self) -> Chunk:
        return self._parts.custom()

    def _steering(self) -> Chunk:
        return self._parts.steering()

    # --- the frame ------------------------------------------------------------------------------------

    def _start(self) -> Chunk:
        chunk: Chunk = {"type": "start"}
        ids = ["m1", "m2", "", *([] if self._onto is None else [self._onto["id"]] * 3)]
        self._chance.add(chunk, "messageId", 0.6, lambda: self._chance.pick(ids))
        self._chance.add(chunk, "messageMetadata", 0.3, lambda: self._merged(self._said_metadata()))
        return chunk

    def _finish(self) -> Chunk:
        chunk: Chunk = {"type": "finish"}
        self._chance.add(
            chunk,
            "finishReason",
            0.6,
            lambda: self._chance.pick((*FINISH_REASONS, *EXTRA_REASONS[self._sdk])),
        )
        self._chance.add(chunk, "messageMetadata", 0.3, lambda: self._merged(self._said_metadata()))
        return chunk

    def _start_step(self) -> Chunk:
        self._calls.begin_step()
        return {"type": "start-step"}

    def _finish_step(self) -> Chunk:
        if self._sdk <= 6:
            self._forget_open()
        return {"type": "finish-step"}

    def _reset_step(self) -> Chunk:
        self._forget_open()
        self._calls.reset_step()
        return {"type": "reset-step"}

    def _forget_open(self) -> None:
        for family, texts in self._open.items():
            self._closed[family] += texts
            texts.clear()

    def _error(self) -> Chunk:
        return {"type": "error", "errorText": self._chance.text()}

    def _abort(self) -> Chunk:
        chunk: Chunk = {"type": "abort"}
        if self._sdk >= 6:
            self._chance.add(chunk, "reason", 0.5, self._chance.text)
        return chunk

    def _say_metadata(self) -> Chunk:
        return {"type": "message-metadata", "messageMetadata": self._merged(self._said_metadata())}

    # --- metadata -------------------------------------------------------------------------------------

    def _said_metadata(self) -> Json:
        if self._odd_metadata and self._chance.maybe(0.4):
            return self._chance.pick((None, 7, True, False, "word", "", [], [1, {"a": 2}], 0))
        return (
            {"nested": self._chance.object(3), **self._chance.object()}
            if self._chance.maybe(0.6)
            else self._chance.object()
        )

    def _merged(self, said: Json) -> Json:
        """What is said, unless it cannot be merged into what there is: then an object with nothing in it."""
        if said is None:
            return said
        compound = is_object(said) or is_list(said)
        if self._metadata == "scalar" and (compound or isinstance(said, str)) and said:
            self._metadata = "object"
            return {}
        scalar = self._metadata == "none" and not compound
        self._metadata = "scalar" if scalar else "object"
        return said

    def _with_metadata(self, chunk: Chunk) -> Chunk:
        self._chance.add(chunk, "providerMetadata", 0.12, self._chance.provider_metadata)
        return chunk


def _alone(chunk: Chunk | None) -> list[Chunk] | None:
    return None if chunk is None else [chunk]
