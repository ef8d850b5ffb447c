"""Model streams → message: the agent-runtime spec's aggregator over `TextStreamPart`.

The spec's three open questions, answered: a tool's result is merged into its call, in the one assistant message;
provider metadata is kept part by part; reasoning is kept, with the vendor's signature.
"""

from __future__ import annotations

from rejoinder.fold.accumulator import Accumulator
from rejoinder.messages import Json, Message
from rejoinder.wire.chunks import (
    Abort,
    Error,
    Finish,
    ToolInputError,
    ToolOutputAvailable,
    ToolOutputDenied,
    ToolOutputError,
)
from rejoinder.wire.stream_parts import StreamPartOptions, chunk_of

_TOLD_TO_THE_STORE = StreamPartOptions(send_sources=True)

_BOUNDARIES = (Abort, Error, Finish, ToolInputError, ToolOutputAvailable, ToolOutputDenied, ToolOutputError)


class MessageList:
    """One assistant message that grows by the parts of a model stream."""

    def __init__(self, *, message_id: str | None = None, sdk: int = 7, onto: Message | None = None) -> None:
        self._accumulator = Accumulator(sdk=sdk, onto=onto, message_id=message_id)
        self._invalid_calls: set[str] = set()
        self._unflushed = False

    def update_from_stream_part(self, part: Json) -> bool:
        """Take one part. Answers whether this is a place to flush: a finish, an end, or a tool's outcome."""
        chunk = chunk_of(part, _TOLD_TO_THE_STORE)
        if chunk is None or self._repeats_an_invalid_call(part):
            return False
        self._accumulator.apply(chunk)
        self._unflushed = True
        return isinstance(chunk, _BOUNDARIES)

    def flush_to_canonical(self) -> Message | None:
        """The message as it stands; None when nothing has come since the last time."""
        if not self._unflushed:
            return None
        self._unflushed = False
        return self._accumulator.message

    def _repeats_an_invalid_call(self, part: Json) -> bool:
        # The SDK lets a `tool-error` follow a call with an invalid input, for the model to read. The call has
        # said so already.
        call_id = part.get("toolCallId")
        if part["type"] == "tool-call" and part.get("invalid"):
            self._invalid_calls.add(call_id)
        elif (
            part["type"] == "tool-error"
            and not part.get("providerExecuted")
            and call_id in self._invalid_calls
        ):
            self._invalid_calls.discard(call_id)
            return True
        return False
