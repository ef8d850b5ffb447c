"""What to say instead, so that no client dies and as little as possible is lost.

A stream that version 7 accepts goes in; what comes out is accepted by the given release, and the message that its
client makes of it has the same text, reasoning, tool results and files. A field that the release's schema does
not name is left out, whether the release would refuse or ignore it: one rule, and nothing is sent for nobody.
What has no words in a release is said in a data part that an application may show or ignore:

    citations of a text                data-citations         {textId, citations}
    tool-approval-request, -response   data-tool-approval     id: the approval's, {approvalId, toolCallId, …}
    custom                             data-custom            {kind, providerMetadata}
    steering-message                   data-steering-message  {id, parts}
    reset-step, when nothing was kept  data-reset-step        {}

A key that a release's parser stumbles over stands in brackets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias, get_args

from msgspec import UNSET
from msgspec.structs import replace

from rejoinder.wire.chunks import (
    Chunk,
    CustomChunk,
    DataChunk,
    FileChunk,
    Finish,
    FinishStep,
    KnownChunk,
    MessageMetadata,
    ReasoningEnd,
    ReasoningFileChunk,
    ReasoningStart,
    ResetStep,
    Start,
    SteeringMessage,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolApprovalResponse,
    UnknownChunk,
)
from rejoinder.wire.codec import chunk_from_json, chunk_to_json, encode_chunk
from rejoinder.wire.dialects import (
    FIELD_SINCE,
    FINISH_REASON_SINCE,
    NULL_CONSTRUCTORS_PASS,
    PARTS_OUTLIVE_STEPS,
    TYPE_SINCE,
    UNKNOWN_FIELDS_PASS,
    Dialect,
    is_null_constructor,
    vocabulary_of,
)
from rejoinder.wire.downlevel_resets import MarkedResets, PatientResets
from rejoinder.wire.downlevel_tools import SpokenTools
from rejoinder.wire.json import Json, JsonObject, bracketed, is_array, is_object


class Downlevel:
    """Speaks one stream to one client. Chunks go in one by one; what to send comes out.

    `patient` keeps a step back until no `reset-step` can take it back, so that the client is never told what does
    not count; a live server does not wait and marks what was taken back. `message` is the one that the stream
    continues, as the client holds it.
    """

    def __init__(self, dialect: Dialect, *, patient: bool = False, message: JsonObject | None = None) -> None:
        stages: list[Stage] = []
        if not dialect.has(TYPE_SINCE["reset-step"]):
            stages.append(PatientResets(message) if patient else MarkedResets(message))
        if SpokenTools.needed(dialect):
            stages.append(SpokenTools(dialect, message))
        if not dialect.has(PARTS_OUTLIVE_STEPS):
            stages.append(_LateFinishSteps())
        stages.append(_Words(dialect))
        if not dialect.has(NULL_CONSTRUCTORS_PASS):
            stages.append(_Constructors(message))
        self._stages: Final = tuple(stages)
        self._heard: Final[frozenset[type]] = frozenset().union(*(stage.heard for stage in stages))

    def feed(self, chunk: Chunk) -> Sequence[Chunk]:
        """What to send now that this chunk was said."""
        if type(chunk) not in self._heard:
            return (chunk,)
        return self._through((chunk,), 0)

    def close(self) -> Sequence[Chunk]:
        """What to send at the end of the stream."""
        said: list[Chunk] = []
        for place, stage in enumerate(self._stages):
            said += self._through(stage.close(), place + 1)
        return said

    def _through(self, chunks: Sequence[Chunk], place: int) -> Sequence[Chunk]:
        for stage in self._stages[place:]:
            if not chunks:
                break
            if len(chunks) == 1:
                chunks = stage.feed(chunks[0]) if type(chunks[0]) in stage.heard else chunks
                continue
            said: list[Chunk] = []
            for chunk in chunks:
                if type(chunk) in stage.heard:
                    said += stage.feed(chunk)
                else:
                    said.append(chunk)
            chunks = said
        return chunks


def downlevel(
    chunks: Iterable[Chunk], dialect: Dialect, *, message: JsonObject | None = None
) -> Iterator[Chunk]:
    """Speak a whole stream to one client: patiently, as nobody is waiting."""
    speaker = Downlevel(dialect, patient=True, message=message)
    for chunk in chunks:
        yield from speaker.feed(chunk)
    yield from speaker.close()


class _LateFinishSteps:
    """`finish-step` changes no message, but older clients forget open texts at it: it waits until none is."""

    heard: Final[frozenset[type]] = frozenset(
        {TextStart, TextEnd, ReasoningStart, ReasoningEnd, FinishStep, ResetStep}
    )

    def __init__(self) -> None:
        self._open: set[tuple[str, str]] = set()
        self._waiting = 0

    def feed(self, chunk: Chunk) -> Sequence[Chunk]:
        match chunk:
            case TextStart():
                self._open.add(("text", chunk.id))
            case ReasoningStart():
                self._open.add(("reasoning", chunk.id))
            case FinishStep() if self._open:
                self._waiting += 1
                return ()
            case TextEnd():
                self._open.discard(("text", chunk.id))
                return (chunk, *self._finish_steps())
            case ReasoningEnd():
                self._open.discard(("reasoning", chunk.id))
                return (chunk, *self._finish_steps())
            case ResetStep():
                self._open.clear()
                return (chunk, *self._finish_steps())
            case _:
                pass  # nothing is open, or nothing is closed
        return (chunk,)

    def close(self) -> Sequence[Chunk]:
        # After the end they would only come too late, and they say nothing.
        return ()

    def _finish_steps(self) -> Sequence[Chunk]:
        if self._open or not self._waiting:
            return ()
        late = [FinishStep()] * self._waiting
        self._waiting = 0
        return late


class _Words:
    """Chunk types, fields and finish reasons that the release does not have."""

    def __init__(self, dialect: Dialect) -> None:
        types, fields = vocabulary_of(dialect)
        self._types: Final = types
        self._unspoken: Final = {
            kind: dict.fromkeys(names, UNSET) for kind, names in fields.items() if kind not in types
        }
        self._reasons: Final = {name for name, since in FINISH_REASON_SINCE.items() if dialect.has(since)}
        self._cites: Final = dialect.has(FIELD_SINCE["text-end", "citations"])
        self._approvals: dict[str, JsonObject] = {}
        heard: set[type] = {*types, *self._unspoken, Finish, UnknownChunk}
        if types:
            heard.add(ToolApprovalRequest)
        if not dialect.has(UNKNOWN_FIELDS_PASS):
            heard.add(DataChunk)
        self.heard: Final = frozenset(heard)

    def feed(self, chunk: Chunk) -> Sequence[Chunk]:
        if type(chunk) in self._types:
            return self._instead(chunk)
        match chunk:
            case UnknownChunk():
                return ()
            case DataChunk():
                return (replace(chunk, extra=None) if chunk.extra else chunk,)
            case TextEnd() if not self._cites and chunk.citations is not UNSET:
                cited = {"textId": chunk.id, "citations": chunk.citations}
                return (replace(chunk, citations=UNSET), DataChunk(name="citations", data=cited))
            case Finish():
                return (self._finish(chunk),)
            case ToolApprovalRequest() if ToolApprovalResponse in self._types:
                self._note(chunk)
            case _:
                pass  # its fields are seen to below
        return (self._stripped(chunk),)

    def close(self) -> Sequence[Chunk]:
        return ()

    def _stripped(self, chunk: Chunk) -> Chunk:
        unspoken = self._unspoken.get(type(chunk))
        if unspoken is not None and any(getattr(chunk, name) is not UNSET for name in unspoken):
            chunk = _with(chunk, unspoken)
        return chunk

    def _finish(self, chunk: Finish) -> Finish:
        reason = chunk.finish_reason
        if reason is UNSET or reason in self._reasons:
            return chunk
        return replace(chunk, finish_reason="other" if "other" in self._reasons else UNSET)

    def _instead(self, chunk: Chunk) -> Sequence[Chunk]:
        match chunk:
            case CustomChunk() | SteeringMessage():
                body = chunk_to_json(chunk)
                return (DataChunk(name=str(body.pop("type")), data=body),)
            case ReasoningFileChunk():
                return (
                    FileChunk(
                        url=chunk.url, media_type=chunk.media_type, provider_metadata=chunk.provider_metadata
                    ),
                )
            case ToolApprovalRequest():
                return (_approval(chunk.approval_id, self._note(chunk)),)
            case ToolApprovalResponse():
                return (_approval(chunk.approval_id, self._answered(chunk)),)
            case _:
                return ()

    def _note(self, chunk: ToolApprovalRequest) -> JsonObject:
        body = chunk_to_json(chunk)
        del body["type"]
        self._approvals[chunk.approval_id] = body
        return body

    def _answered(self, chunk: ToolApprovalResponse) -> JsonObject:
        body = chunk_to_json(chunk)
        del body["type"]
        return self._approvals.get(chunk.approval_id, {}) | body


class _Constructors:
    """Keys that only early parsers, and early mergers of metadata, stumble over. To others every encoder sees."""

    heard: Final[frozenset[type]] = frozenset({*get_args(KnownChunk), DataChunk})

    def __init__(self, message: JsonObject | None) -> None:
        continued = message is not None and message.get("role") == "assistant"
        self._metadata: Json = (message or {}).get("metadata") if continued else None

    def feed(self, chunk: Chunk) -> Sequence[Chunk]:
        if isinstance(chunk, Start | Finish | MessageMetadata):
            chunk = self._mergeable(chunk)
        if b'"constructor":null' not in encode_chunk(chunk):
            return (chunk,)
        return (chunk_from_json(bracketed(chunk_to_json(chunk), is_null_constructor)),)

    def close(self) -> Sequence[Chunk]:
        return ()

    def _mergeable(self, chunk: Start | Finish | MessageMetadata) -> Chunk:
        """Merged into what is no object, any key kills the stream; newer clients pass over these two."""
        said, known = chunk.message_metadata, self._metadata
        if said is UNSET or said is None:
            return chunk
        # What is merged is an object from then on, whatever it was.
        self._metadata = said if known is None else {}
        if known is None or is_object(known) or is_array(known) or not is_object(said):
            return chunk
        kept = {key: item for key, item in said.items() if key not in {"constructor", "prototype"}}
        return replace(chunk, message_metadata=kept)


Stage: TypeAlias = PatientResets | MarkedResets | SpokenTools | _LateFinishSteps | _Words | _Constructors
"""A stage of the way down: chunks that it has `heard` go in, what to say instead comes out."""


def _approval(approval: str, data: JsonObject) -> DataChunk:
    return DataChunk(name="tool-approval", id=approval, data=data)


def _with(chunk: Chunk, fields: dict[str, Any]) -> Chunk:
    return replace(chunk, **fields)
