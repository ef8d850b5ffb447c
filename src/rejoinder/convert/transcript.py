"""Messages of ours of what was told one after the other: a question, a step of the model's, results, the next step.

For forms in which an answer is several messages, and a tool's result another one. They become one message, with a
`StepStart` where each call of the model began. A message that has no id there is called after its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Final

from msgspec import Struct, structs

from rejoinder.messages import Json, JsonObject, Message, Part, Role, StepStart, ToolCall

OPEN: Final = frozenset({"input-available", "approval-requested", "approval-responded"})
"""The states of a call that may still be answered."""

Change = Callable[[ToolCall], ToolCall]


class _Draft(Struct):
    role: Role
    parts: list[Part]
    id: str | None = None
    created_at: datetime | None = None
    extra: JsonObject | None = None


class Transcript:
    """A conversation as it is read."""

    def __init__(self) -> None:
        self._drafts: list[_Draft] = []
        self._answering = False

    def said(
        self,
        role: Role,
        parts: Iterable[Part],
        *,
        id: str | None = None,
        created_at: datetime | None = None,
        extra: JsonObject | None = None,
    ) -> None:
        """A message that is one: the user's, the system's."""
        self._answering = False
        self._drafts.append(_Draft(role, list(parts), id, created_at, extra))

    def step(
        self,
        parts: Iterable[Part],
        *,
        id: str | None = None,
        created_at: datetime | None = None,
        extra: JsonObject | None = None,
    ) -> None:
        """What came of one call of the model. Id and time are those of its first step, `extra` is the step's."""
        answer = self._answer(id, created_at)
        answer.parts += [StepStart(extra=extra or None), *parts]

    def add(self, part: Part) -> None:
        """A part of the answer that no call of the model made."""
        self._answer(None, None).parts.append(part)

    def result(
        self,
        call_id: str,
        name: str,
        output: Json,
        *,
        failed: bool = False,
        about: JsonObject | None = None,
    ) -> None:
        """What came of a call: it goes to the open call of that id; without one it stands for itself."""

        def answered(call: ToolCall) -> ToolCall:
            if about is not None:
                call = structs.replace(call, result_provider_metadata=about)
            if failed:
                return structs.replace(call, state="output-error", error_text=output)
            return structs.replace(call, state="output-available", output=output)

        self.answer(call_id, name, answered)

    def answer(self, call_id: str, name: str, change: Change) -> None:
        """Change the open call of that id; without one there is one now, of which nobody knows the input."""
        if not self.change(lambda call: call.call_id == call_id and call.state in OPEN, change):
            self.add(change(ToolCall(name=name, call_id=call_id, state="input-available")))

    def change(self, wanted: Callable[[ToolCall], bool], change: Change) -> bool:
        """Change such a call: the first one of the newest step that has any. Answers whether there is one."""
        for draft, place in self._calls():
            call = draft.parts[place]
            if isinstance(call, ToolCall) and wanted(call):
                draft.parts[place] = change(call)
                return True
        return False

    def messages(self) -> tuple[Message, ...]:
        """All of it."""
        used: set[str] = {draft.id for draft in self._drafts if draft.id}
        named: set[str] = set()
        made: list[Message] = []
        for number, draft in enumerate(self._drafts, 1):
            id = draft.id
            if not id or id in named:
                id = f"message-{number}"
                while id in used:
                    id += "'"
            named.add(id)
            used.add(id)
            made.append(
                Message(
                    id=id,
                    role=draft.role,
                    parts=tuple(draft.parts),
                    created_at=draft.created_at,
                    extra=draft.extra or None,
                )
            )
        return tuple(made)

    def _answer(self, id: str | None, created_at: datetime | None) -> _Draft:
        if not self._answering:
            self._drafts.append(_Draft("assistant", [], created_at=created_at))
            self._answering = True
        answer = self._drafts[-1]
        answer.id = answer.id or id
        return answer

    def _calls(self) -> Iterator[tuple[_Draft, int]]:
        """Where calls stand, the newest step first, and in a step the first one first."""
        for draft in reversed(self._drafts):
            step: list[int] = []
            for place in range(len(draft.parts) - 1, -1, -1):
                part = draft.parts[place]
                if isinstance(part, ToolCall):
                    step.insert(0, place)
                elif isinstance(part, StepStart):
                    yield from ((draft, at) for at in step)
                    step = []
            yield from ((draft, at) for at in step)
