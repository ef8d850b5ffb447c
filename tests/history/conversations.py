"""Conversations to choose from: short ones by chance, and what must hold of every history."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st
from msgspec import structs

from rejoinder.convert.provider_messages import to_provider_messages
from rejoinder.history.exchanges import Placed
from rejoinder.messages import Message, Part, Reasoning, StepStart, Text, ToolCall
from rejoinder.messages.provider_message import ProviderToolCallPart, ProviderToolResultPart

WORDS = st.text("abc é\U0001f600", max_size=60)


@st.composite
def calls(draw: st.DrawFn, id: str) -> ToolCall:
    state = draw(st.sampled_from(["output-available", "output-error", "input-available", "output-denied"]))
    match state:
        case "output-available":
            output = draw(st.sampled_from(["short", "long " * 1_000, {"rows": [1] * 900}, None]))
            return ToolCall(name="look", call_id=id, state=state, input={"q": 1}, output=output)
        case "output-error":
            return ToolCall(name="look", call_id=id, state=state, input={}, error_text="no")
        case "output-denied":
            return ToolCall(name="look", call_id=id, state=state, input={})
        case _:
            return ToolCall(name="look", call_id=id, state="input-available", input={})


@st.composite
def answers(draw: st.DrawFn, id: str) -> Message:
    parts: list[Part] = [StepStart()]
    if draw(st.booleans()):
        parts.append(Reasoning(text=draw(WORDS) * 5, provider_metadata={"openai": {"itemId": f"rs_{id}"}}))
    parts += [draw(calls(f"{id}.{n}")) for n in range(draw(st.integers(0, 2)))]
    parts += [StepStart(), Text(text=draw(WORDS), provider_metadata={"openai": {"itemId": f"msg_{id}"}})]
    return Message(id=id, role="assistant", parts=tuple(parts))


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """What was said, oldest first. It may begin with system, or with an answer to nothing."""
    said: list[Message] = []
    if draw(st.booleans()):
        said.append(Message(id="system", role="system", parts=(Text(text="Be kind."),)))
    for number in range(draw(st.integers(0, 8))):
        for extra in range(draw(st.integers(0 if number == 0 else 1, 2))):
            message = Message(id=f"u{number}.{extra}", role="user", parts=(Text(text=draw(WORDS)),))
            pinned = draw(st.integers(0, 9)) == 0
            said.append(structs.replace(message, metadata={"pinned": True}) if pinned else message)
        said += [draw(answers(f"a{number}.{n}")) for n in range(draw(st.integers(0, 2)))]
    return said


def placed(messages: Sequence[Message]) -> tuple[Placed, ...]:
    return tuple(Placed(message, seq) for seq, message in enumerate(messages))


def dangling(messages: Sequence[Message]) -> list[str]:
    """Calls without a result and results without a call, as a provider would see them."""
    called: list[str] = []
    found: list[str] = []
    for message in to_provider_messages(messages):
        for part in message.content:
            if isinstance(part, ProviderToolCallPart):
                called.append(part.call_id)
            elif isinstance(part, ProviderToolResultPart):
                if part.call_id in called:
                    called.remove(part.call_id)
                else:
                    found.append(part.call_id)
    return found + called
