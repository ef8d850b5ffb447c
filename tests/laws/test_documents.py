"""Laws: what docs/formats.md says of a form survives it, exactly, and nothing else changes on the way."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from rejoinder.agents.anthropic_request import anthropic_history
from rejoinder.agents.openai_chat_request import chat_messages
from rejoinder.cli.forms import WRITERS
from rejoinder.convert.anthropic_history import from_anthropic
from rejoinder.convert.documents import FORMS, items_of
from rejoinder.convert.openai_chat import from_openai_chat
from rejoinder.convert.provider_messages import provider_steps, to_provider_messages
from rejoinder.convert.ui import from_ui, to_ui
from rejoinder.convert.ui_4 import from_ui_4, to_ui_4
from rejoinder.messages import (
    Custom,
    Data,
    File,
    JsonObject,
    Message,
    Opaque,
    Part,
    Reasoning,
    ReasoningFile,
    SourceDocument,
    SourceUrl,
    Steering,
    StepStart,
    Text,
    ToolCall,
)
from rejoinder.wire import json
from tests.laws.messages import address, exactly, messages, reasoning_parts, text_parts, tool_calls
from tests.scale import scale

many = settings(max_examples=scale(150, 5_000), deadline=None)


def _is_over(call: ToolCall) -> bool:
    """A call that may run now and has not is told without a result, which a transcript of it does not say.

    Nor does it say why a provider has not executed a call that was denied.
    """
    denied_at_the_provider = call.state == "output-denied" and call.provider_executed is True
    return call.state != "approval-responded" and not denied_at_the_provider


histories = st.lists(
    st.builds(
        Message,
        id=st.just("m"),
        role=st.sampled_from(["system", "user", "assistant"]),
        parts=st.lists(
            st.one_of(text_parts(), reasoning_parts(), tool_calls().filter(_is_over), st.just(StepStart())),
            max_size=4,
        ).map(tuple),
    ),
    max_size=4,
)

shown_files = st.sampled_from(
    [
        File(media_type="image/png", url="https://example.com/a.png"),
        File(media_type="image/png", url="data:image/png;base64,AAAA", filename="a.png"),
        File(media_type="application/pdf", url="data:application/pdf;base64,AAAA"),
        File(media_type="audio/wav", url="data:audio/wav;base64,AAAA"),
    ]
)

kept_histories = st.lists(
    st.builds(
        Message,
        id=st.just("m"),
        role=st.sampled_from(["system", "user", "assistant"]),
        created_at=st.none() | st.just(datetime(2026, 11, 20, 1, 2, 3, 4000, tzinfo=UTC)),
        parts=st.lists(
            st.one_of(
                text_parts(),
                reasoning_parts(),
                tool_calls().filter(_is_over),
                st.just(StepStart()),
                shown_files,
            ),
            max_size=4,
        ).map(tuple),
    ),
    max_size=4,
).map(lambda history: [structs.replace(each, id=f"m{place}") for place, each in enumerate(history)])

DENIED = "Tool call execution denied."


@many
@given(messages(stored=True))
def test_of_ai_sdk_5_to_7_survives_all_but_what_is_the_stores(message: Message) -> None:
    said = json.decode(json.encode(to_ui(message)))
    assert exactly(from_ui(said)) == exactly(structs.replace(message, created_at=None, status=None))


@many
@given(messages(stored=True))
def test_of_ai_sdk_4_survives_what_the_table_says(message: Message) -> None:
    said = json.decode(json.encode(to_ui_4(message)))
    assert exactly(from_ui_4(said)) == exactly(survives_ui_4(message))


@many
@given(messages(stored=True))
def test_what_was_said_to_ai_sdk_4_is_said_the_same_again(message: Message) -> None:
    said = to_ui_4(message)
    assert exactly(to_ui_4(from_ui_4(said))) == exactly(said)


@many
@given(histories)
def test_what_chat_completions_were_told_is_told_the_same_again(history: list[Message]) -> None:
    said = chat_messages(to_provider_messages(history))
    again = chat_messages(to_provider_messages(from_openai_chat(json.decode(json.encode(said)))))
    assert exactly(again) == exactly(json.decode(json.encode(said)))


@many
@given(histories)
def test_what_anthropic_was_told_is_told_the_same_again(history: list[Message]) -> None:
    said = json.decode(json.encode(anthropic_history(to_provider_messages(history))))
    again = anthropic_history(to_provider_messages(from_anthropic(said)))
    assert exactly(again) == exactly(said)


@pytest.mark.parametrize(
    "form", ["langchain", "langgraph", "pydantic-ai", "openai-responses", "openai-agents"]
)
def test_what_a_framework_was_told_is_told_the_same_again(form: str) -> None:
    @settings(max_examples=scale(80, 3_000), deadline=None)
    @given(kept_histories)
    def law(history: list[Message]) -> None:
        said = json.decode(json.encode(WRITERS[form]("chat", history)))
        read = [each for body in [said] if items_of(body, FORMS[form]) for each in FORMS[form].read(body)]
        assert exactly(json.decode(json.encode(WRITERS[form]("chat", read)))) == exactly(said)

    law()


@many
@given(kept_histories)
def test_steps_say_together_what_the_whole_says(history: list[Message]) -> None:
    together = [told for step in provider_steps(history) for told in step.told]
    assert together == list(to_provider_messages(history))


def survives_ui_4(message: Message) -> Message:
    """The row of the table: texts, thoughts with signatures, calls, files, pages, steps, unknown parts."""
    kept = [part for part in map(_survives_ui_4, message.parts) if part is not None]
    files: list[Part] = []
    if message.role != "assistant":
        files = [structs.replace(part, extra=None) for part in message.parts if isinstance(part, File)]
        files = [structs.replace(part, provider_metadata=None, provider_reference=None) for part in files]
        kept = [part for part in kept if not isinstance(part, File)]
    return structs.replace(message, parts=(*kept, *files), status=None)


def _survives_ui_4(part: Part) -> Part | None:
    match part:
        case Text():
            return Text(text=part.text, extra=part.extra)
        case Reasoning():
            return Reasoning(text=part.text, provider_metadata=_signature(part), extra=part.extra)
        case ToolCall():
            return _survives_call(part)
        case File():
            return File(media_type=part.media_type, url=address(part), extra=part.extra)
        case SourceUrl() | StepStart() | Opaque():
            return part
        case ReasoningFile() | SourceDocument() | Data() | Custom() | Steering():
            return None


def _signature(part: Reasoning) -> JsonObject | None:
    vendor: JsonObject = (part.provider_metadata or {}).get("anthropic") or {}
    for key in ("signature", "redactedData"):
        if isinstance(vendor.get(key), str):
            return {"anthropic": {key: vendor[key]}}
    return None


def _survives_call(call: ToolCall) -> ToolCall:
    kept = ToolCall(
        name=call.name, call_id=call.call_id, state=call.state, input=call.input, extra=call.extra
    )
    match call.state:
        case "input-streaming" | "input-available":
            return kept
        case "approval-requested" | "approval-responded":
            return structs.replace(kept, state="input-available")
        case "output-available":
            return structs.replace(kept, output=call.output)
        case "output-error":
            return structs.replace(kept, error_text=call.error_text or "")
        case "output-denied":
            reason = None if call.approval is None else call.approval.reason
            return structs.replace(
                kept, state="output-available", output=DENIED if reason is None else reason
            )
