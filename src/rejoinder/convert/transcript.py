"""Messages of ours of what was told one after the other: a question, a step of the model's, results, the next step.

For forms in which an answer is several messages, and a tool's result another one. They become one message, with a
`StepStart` where each call of the model began. Such forms have no ids: messages are called after their places.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import structs

from rejoinder.messages import Json, Message, Part, Role, StepStart, ToolCall


class Transcript:
    """A conversation as it is read."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._answer: list[Part] | None = None

    def said(self, role: Role, parts: Iterable[Part]) -> None:
        """A message that is one: the user's, the system's."""
        self._close()
        self._add(Message(id="", role=role, parts=tuple(parts)))

    def step(self, parts: Iterable[Part]) -> None:
        """What came of one call of the model."""
        if self._answer is None:
            self._answer = []
        self._answer += [StepStart(), *parts]

    def result(self, call_id: str, name: str, output: Json, *, failed: bool = False) -> None:
        """What came of a call: it goes to the first open call of that id; without one it stands for itself."""
        if self._answer is None:
            self._answer = []
        for place, part in enumerate(self._answer):
            if isinstance(part, ToolCall) and part.call_id == call_id and part.state == "input-available":
                self._answer[place] = _answered(part, output, failed=failed)
                return
        call = ToolCall(name=name, call_id=call_id, state="input-available")
        self._answer.append(_answered(call, output, failed=failed))

    def messages(self) -> tuple[Message, ...]:
        """All of it."""
        self._close()
        return tuple(self._messages)

    def _close(self) -> None:
        if self._answer is not None:
            parts, self._answer = tuple(self._answer), None
            self._add(Message(id="", role="assistant", parts=parts))

    def _add(self, message: Message) -> None:
        self._messages.append(structs.replace(message, id=f"message-{len(self._messages) + 1}"))


def _answered(call: ToolCall, output: Json, *, failed: bool) -> ToolCall:
    if failed:
        return structs.replace(call, state="output-error", error_text=output)
    return structs.replace(call, state="output-available", output=output)
