"""The tool calls of a generated stream: which chunks may come next, and which may not.

This keeps just enough of a client's state to tell a legal step from an illegal one: which calls are still being
streamed, and which tool parts the message has, step by step.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.conformance.catalogue import TOOLS
from tests.conformance.values import Chance, Json, JsonObject

NAMES = (*TOOLS, "retired", "ein Werkzeug")


@dataclass
class Place:
    """A tool part of the message."""

    call: str
    dynamic: bool
    name: str
    approval: str | None = None


@dataclass
class Partial:
    """A call whose input is still being streamed, and what of it has not been said yet."""

    dynamic: bool
    name: str
    pieces: list[str]


class Calls:
    """Makes tool chunks that are legal now."""

    def __init__(self, chance: Chance, sdk: int) -> None:
        self._chance = chance
        self._sdk = sdk
        self._serial = 0
        self._approvals = 0
        self._steps: list[list[Place]] = [[]]
        self._partials: dict[str, Partial] = {}

    # --- what the message is continued from, and steps ----------------------------------------------

    def remember(self, parts: list[JsonObject]) -> None:
        """Take over the tool parts of the message that the stream continues."""
        for part in parts:
            if part["type"] == "step-start":
                self.begin_step()
                # Only the calls of the last step are taken up again.
                self._partials.clear()
            elif part["type"].startswith("tool-") or part["type"] == "dynamic-tool":
                dynamic = part["type"] == "dynamic-tool"
                name = part["toolName"] if dynamic else part["type"].removeprefix("tool-")
                approval = part.get("approval", {}).get("id")
                self._steps[-1].append(Place(part["toolCallId"], dynamic, name, approval))
                if part["state"] == "input-streaming":
                    self._partials[part["toolCallId"]] = Partial(dynamic, name, self._chance.pieces('"}]}'))

    def begin_step(self) -> None:
        self._steps.append([])

    def reset_step(self) -> None:
        self._steps[-1].clear()
        self._partials.clear()

    # --- legal chunks ---------------------------------------------------------------------------------

    def begin(self) -> JsonObject:
        chance = self._chance
        call, name, dynamic = self._call(), chance.pick(NAMES), chance.maybe(0.3)
        chunk: JsonObject = {"type": "tool-input-start", "toolCallId": call, "toolName": name}
        encoding = chance.pick(("json", "text")) if self._sdk >= 6 and chance.maybe(0.25) else None
        if encoding is not None:
            chunk["inputEncoding"] = encoding
        self._flag(chunk, dynamic=dynamic)
        if self._sdk >= 6:
            self._metadata(chunk)
        self._titles(chunk)
        self._partials[call] = Partial(
            dynamic, name, chance.pieces(chance.text() if encoding else chance.json_text())
        )
        self._place(call, name, dynamic=dynamic)
        return chunk

    def feed(self) -> JsonObject | None:
        """More of the input of a call, whatever has become of the call meanwhile."""
        if not self._partials:
            return None
        call = self._chance.pick(tuple(self._partials))
        partial = self._partials[call]
        if not partial.pieces:
            if self._chance.maybe(0.9):
                return None
            partial.pieces = self._chance.pieces(self._chance.json_text())
        self._place(call, partial.name, dynamic=partial.dynamic)
        return {"type": "tool-input-delta", "toolCallId": call, "inputTextDelta": partial.pieces.pop(0)}

    def arrive(self) -> JsonObject:
        """The whole input: of a streamed call, of one never heard of, or of the other kind than it began."""
        call, name, dynamic = self._call_or_partial()
        chunk: JsonObject = {"type": "tool-input-available", "toolCallId": call, "toolName": name}
        chunk["input"] = self._input()
        self._flag(chunk, dynamic=dynamic)
        self._metadata(chunk)
        self._titles(chunk)
        self._place(call, name, dynamic=dynamic)
        return chunk

    def refuse(self) -> JsonObject:
        """An input that does not fit its tool."""
        call, name, dynamic = self._call_or_partial()
        chunk: JsonObject = {"type": "tool-input-error", "toolCallId": call, "toolName": name}
        chunk["input"] = self._input()
        chunk["errorText"] = self._chance.text()
        self._flag(chunk, dynamic=dynamic)
        self._metadata(chunk)
        self._titles(chunk)
        known = next((place for place in self._steps[-1] if place.call == call), None)
        # From version 6 on the part that is there decides its kind; in version 5 the chunk does.
        kind = dynamic if known is None or self._sdk == 5 else known.dynamic
        self._place(call, name, dynamic=kind)
        return chunk

    def output(self) -> JsonObject | None:
        place = self._any_place()
        if place is None:
            return None
        chunk: JsonObject = {
            "type": "tool-output-available",
            "toolCallId": place.call,
            "output": self._input(),
        }
        self._chance.add(chunk, "preliminary", 0.3, lambda: self._chance.maybe(0.8))
        return self._of_result(chunk, place)

    def fail(self) -> JsonObject | None:
        place = self._any_place()
        if place is None:
            return None
        chunk: JsonObject = {
            "type": "tool-output-error",
            "toolCallId": place.call,
            "errorText": self._chance.text(),
        }
        return self._of_result(chunk, place)

    def request_approval(self) -> JsonObject | None:
        place = self._any_place()
        if place is None:
            return None
        self._approvals += 1
        again = self._approvals > 1 and self._chance.maybe(0.1)
        approval = f"approval-{self._approvals - 1 if again else self._approvals}"
        chunk: JsonObject = {
            "type": "tool-approval-request",
            "approvalId": approval,
            "toolCallId": place.call,
        }
        self._chance.add(chunk, "approvalDescriptor", 0.2, self._chance.json)
        self._chance.add(
            chunk, "inputSchemaInput", 0.25, lambda: None if self._chance.maybe(0.2) else self._input()
        )
        self._chance.add(chunk, "signature", 0.3, self._chance.word)
        if self._sdk >= 7:
            self._chance.add(chunk, "reason", 0.3, self._chance.text)
            self._chance.add(chunk, "isAutomatic", 0.2, lambda: self._chance.maybe(0.6))
        found = self._found(place.call)
        assert found is not None
        found.approval = approval
        return chunk

    def answer_approval(self) -> JsonObject | None:
        approvals = [place.approval for step in self._steps for place in step if place.approval is not None]
        if not approvals:
            return None
        chunk: JsonObject = {"type": "tool-approval-response", "approvalId": self._chance.pick(approvals)}
        chunk["approved"] = self._chance.maybe(0.6)
        self._chance.add(chunk, "reason", 0.4, self._chance.text)
        self._chance.add(chunk, "providerExecuted", 0.3, lambda: self._chance.maybe(0.5))
        self._metadata(chunk)
        return chunk

    def deny(self) -> JsonObject | None:
        place = self._any_place()
        return None if place is None else {"type": "tool-output-denied", "toolCallId": place.call}

    # --- illegal chunks -------------------------------------------------------------------------------

    def feed_stranger(self) -> JsonObject | None:
        """A delta for a call that was never begun, though it may have a part."""
        known = [place.call for step in self._steps for place in step if place.call not in self._partials]
        call = self._chance.pick(known) if known and self._chance.maybe(0.5) else self._stranger()
        return {"type": "tool-input-delta", "toolCallId": call, "inputTextDelta": "{}"}

    def output_of_stranger(self) -> JsonObject:
        chunk: JsonObject = {"type": "tool-output-available", "toolCallId": self._stranger(), "output": 1}
        self._chance.add(chunk, "dynamic", 0.3, lambda: self._chance.maybe(0.5))
        return chunk

    def failure_of_stranger(self) -> JsonObject:
        return {"type": "tool-output-error", "toolCallId": self._stranger(), "errorText": "no such call"}

    def output_of_other_kind(self) -> JsonObject | None:
        """Version 5 goes by the chunk's `dynamic`: an output of the other kind finds nothing."""
        places = [place for step in self._steps for place in step]
        kinds = {(place.call, place.dynamic) for place in places}
        lone = [place for place in places if (place.call, not place.dynamic) not in kinds]
        if not lone:
            return None
        place = self._chance.pick(lone)
        chunk: JsonObject = {"type": "tool-output-available", "toolCallId": place.call, "output": 1}
        if not place.dynamic:
            chunk["dynamic"] = True
        return chunk

    def approval_of_stranger(self) -> JsonObject:
        return {"type": "tool-approval-request", "approvalId": "approval-x", "toolCallId": self._stranger()}

    def answer_to_stranger(self) -> JsonObject:
        return {"type": "tool-approval-response", "approvalId": self._stranger(), "approved": True}

    def denial_of_stranger(self) -> JsonObject:
        return {"type": "tool-output-denied", "toolCallId": self._stranger()}

    # --- choices --------------------------------------------------------------------------------------

    def _stranger(self) -> str:
        return self._chance.pick(("nobody", "hasOwnProperty", "call_999", 'quoted " id', "lone \ud83d"))

    def _call(self) -> str:
        known = [place.call for step in self._steps for place in step]
        if known and self._chance.maybe(0.2):
            return self._chance.pick(known)
        self._serial += 1
        return self._chance.id() if self._chance.maybe(0.1) else f"call_{self._serial}"

    def _call_or_partial(self) -> tuple[str, str, bool]:
        if self._partials and self._chance.maybe(0.8):
            call = self._chance.pick(tuple(self._partials))
            partial = self._partials[call]
            name = self._chance.pick(NAMES) if self._chance.maybe(0.05) else partial.name
            return call, name, partial.dynamic != self._chance.maybe(0.08)
        return self._call(), self._chance.pick(NAMES), self._chance.maybe(0.3)

    def _any_place(self) -> Place | None:
        places = [place for step in self._steps for place in step]
        if not places:
            return None
        return self._chance.pick(self._steps[-1] if self._steps[-1] and self._chance.maybe(0.7) else places)

    def _found(self, call: str) -> Place | None:
        """The part a client finds by the call's id: in this step the first, else in all the last."""
        here = [place for place in self._steps[-1] if place.call == call]
        if here:
            return here[0]
        anywhere = [place for step in self._steps for place in step if place.call == call]
        return anywhere[-1] if anywhere else None

    def _place(self, call: str, name: str, *, dynamic: bool) -> None:
        for place in self._steps[-1]:
            if place.call == call and place.dynamic == dynamic:
                return
        self._steps[-1].append(Place(call, dynamic, name))

    # --- fields ---------------------------------------------------------------------------------------

    def _input(self) -> Json:
        return self._chance.json()

    def _flag(self, chunk: JsonObject, *, dynamic: bool) -> None:
        if dynamic:
            chunk["dynamic"] = True
        else:
            self._chance.add(chunk, "dynamic", 0.1, lambda: False)
        self._chance.add(chunk, "providerExecuted", 0.2, lambda: self._chance.maybe(0.7))

    def _of_result(self, chunk: JsonObject, place: Place) -> JsonObject:
        if self._sdk == 5:
            self._flag(chunk, dynamic=place.dynamic)
            return chunk
        self._flag(chunk, dynamic=self._chance.maybe(0.3))
        self._metadata(chunk)
        self._chance.add(chunk, "toolMetadata", 0.15, self._chance.object)
        return chunk

    def _titles(self, chunk: JsonObject) -> None:
        # Version 5 passes over them, as it passes over all that it does not know.
        self._chance.add(chunk, "title", 0.2 if self._sdk >= 6 else 0.04, self._chance.text)
        self._chance.add(chunk, "toolMetadata", 0.15 if self._sdk >= 6 else 0.04, self._chance.object)

    def _metadata(self, chunk: JsonObject) -> None:
        self._chance.add(chunk, "providerMetadata", 0.2, self._chance.provider_metadata)
