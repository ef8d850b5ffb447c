"""How far an answer is, for the agent that makes it: its own events, folded as everybody else folds them.

So a model is shown, at its next call, what the message says, and a replay of the log shows the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rejoinder.errors import InvalidJson
from rejoinder.fold import Accumulator
from rejoinder.messages import Json, Message, Part, StepStart, ToolCall
from rejoinder.ports.agents import Call
from rejoinder.translate import Translation
from rejoinder.translate.model_turn import ModelTurn
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk, FinishReason


class Progress:
    """The answer to one call, from its first event."""

    def __init__(self, call: Call, translator: ModelTurn) -> None:
        message_id = call.turn.message_id or call.turn.id
        self._turn = translator
        self._translation = Translation(translator, message_id=message_id, message=call.continues)
        self._accumulator = Accumulator(onto=call.continues, message_id=message_id)
        self._take(self._translation.begin())

    @property
    def message(self) -> Message:
        """What has been said."""
        return self._accumulator.message

    @property
    def failed(self) -> bool:
        """Whether the provider said that it cannot go on."""
        return self._translation.ending is not None

    @property
    def reason(self) -> FinishReason | None:
        """Why the model said its last word."""
        return self._turn.reason

    @property
    def paused(self) -> bool:
        """Whether the model only paused."""
        return self._turn.paused

    def decided(self) -> tuple[ToolCall, ...]:
        """The calls that the user has decided about, and that nobody has acted upon."""
        return tuple(call for call in _ours(self.message.parts) if call.state == "approval-responded")

    def refused(self) -> tuple[ToolCall, ...]:
        """The calls that a vendor asked about, and that the user did not allow: the vendor says nothing of them."""
        return tuple(
            part
            for part in self.message.parts
            if isinstance(part, ToolCall)
            and part.provider_executed is True
            and part.state == "approval-responded"
            and part.approval is not None
            and part.approval.approved is False
        )

    def step(self) -> tuple[ToolCall, ...]:
        """The calls of our tools, or the client's, in the newest step."""
        parts = self.message.parts
        began = max((at for at, part in enumerate(parts) if isinstance(part, StepStart)), default=-1)
        return tuple(_ours(parts[began + 1 :]))

    def hear(self, event: bytes | Json) -> None:
        """The next event, as it is about to be yielded."""
        if isinstance(event, bytes):
            try:
                event = json.decode(event)
            except InvalidJson:
                return  # whoever keeps the record says so
        self._take(self._translation.event(event))
        self._translation.take_notes()

    def _take(self, chunks: Iterable[Chunk]) -> None:
        for chunk in chunks:
            self._accumulator.apply(chunk)


def _ours(parts: Iterable[Part]) -> Iterator[ToolCall]:
    for part in parts:
        if isinstance(part, ToolCall) and part.provider_executed is not True:
            yield part
