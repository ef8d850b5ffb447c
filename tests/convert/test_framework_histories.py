"""Histories of Pydantic AI, LangChain and the OpenAI Agents SDK, as these packages write and read them."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    messages_from_dict,
    messages_to_dict,
)
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    FilePart,
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from rejoinder.convert.documents import FORMS
from rejoinder.convert.langchain_history import from_langchain, to_langchain, to_langchain_dicts
from rejoinder.convert.pydantic_ai_history import from_pydantic_ai
from rejoinder.convert.pydantic_ai_messages import to_pydantic_ai
from rejoinder.errors import InvalidMessage
from rejoinder.messages import (
    Custom,
    File,
    Json,
    Message,
    Opaque,
    Reasoning,
    StepStart,
    Text,
    ToolCall,
)
from rejoinder.wire import json

THREAD: list[BaseMessage] = [
    SystemMessage("Be brief.", id="s"),
    HumanMessage(
        [
            {"type": "text", "text": "What is that? 👩‍👩‍👧‍👦"},
            {"type": "image", "base64": "AAAA", "mime_type": "image/png"},
        ],
        id="h",
        name="Ada",
    ),
    AIMessage(
        [
            {"type": "thinking", "thinking": "Look.", "signature": "sig"},
            {"type": "text", "text": "Let me look."},
            {"type": "hologram", "depth": 3},
        ],
        id="run-1",
        tool_calls=[
            {"name": "look", "args": {"at": 2**70}, "id": "c1"},
            {"name": "look", "args": {}, "id": "c2"},
        ],
        invalid_tool_calls=[
            {"name": "see", "args": "{oops", "id": "c3", "error": "no JSON", "type": "invalid_tool_call"}
        ],
        usage_metadata={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
        response_metadata={"model_name": "m"},
    ),
    ToolMessage("A cat.", tool_call_id="c2", name="look", id="t2", artifact={"pixels": 9}),
    ToolMessage("Too dark.", tool_call_id="c1", name="look", id="t1", status="error"),
    ToolMessage("No such tool.", tool_call_id="c3", name="see", id="t3", status="error"),
    AIMessage("A cat.", id="run-2"),
    HumanMessage("Thanks.", id="h2"),
]


def calls_of(message: Message) -> list[ToolCall]:
    return [part for part in message.parts if isinstance(part, ToolCall)]


@pytest.mark.parametrize(
    "written",
    [
        messages_to_dict(THREAD),
        [message.model_dump(mode="json") for message in THREAD],
        [dumpd(message) for message in THREAD],
    ],
    ids=["messages_to_dict", "as a server says it", "dumpd"],
)
def test_a_thread_of_langchain_is_read_however_it_is_written(written: list[Json]) -> None:
    system, question, answer, thanks = from_langchain(json.decode(json.encode(written)))
    assert (system.role, system.id, question.id, answer.id, thanks.id) == ("system", "s", "h", "run-1", "h2")
    assert question.parts == (
        Text(text="What is that? 👩‍👩‍👧‍👦"),
        File(media_type="image/png", url="data:image/png;base64,AAAA"),
    )
    _, thought, said, hologram, *_ = answer.parts
    assert thought == Reasoning(text="Look.", provider_metadata={"anthropic": {"signature": "sig"}})
    assert said == Text(text="Let me look.")
    assert isinstance(hologram, Custom)
    assert hologram.kind == "langchain.hologram"
    assert [(call.call_id, call.state, call.input) for call in calls_of(answer)] == [
        ("c1", "output-error", {"at": 2**70}),
        ("c2", "output-available", {}),
        ("c3", "output-error", "{oops"),
    ]
    assert [type(part) for part in answer.parts[-2:]] == [StepStart, Text]


def test_a_thread_of_langchain_comes_back_as_it_was() -> None:
    again = messages_from_dict(to_langchain_dicts(from_langchain(messages_to_dict(THREAD))))
    results = {message.id: message for message in again if isinstance(message, ToolMessage)}
    assert [message for message in again if not isinstance(message, ToolMessage)] == [
        message for message in THREAD if not isinstance(message, ToolMessage)
    ]
    assert results == {message.id: message for message in THREAD if isinstance(message, ToolMessage)}


def test_langgraph_reads_what_is_written_for_it() -> None:
    told = convert_to_messages(to_langchain(from_langchain(messages_to_dict(THREAD))))
    assert [message.type for message in told] == [
        "system",
        "human",
        "ai",
        "tool",
        "tool",
        "tool",
        "ai",
        "human",
    ]
    assert [message.id for message in told] == ["s", "h", "run-1", "t1", "t2", "t3", "run-2", "h2"]


def test_messages_of_other_kinds_are_kept() -> None:
    others = [ChatMessage(content="Hey.", role="narrator", id="c"), RemoveMessage(id="x")]
    read = from_langchain(messages_to_dict(others))
    assert read[0].parts == (Text(text="Hey."),)
    assert isinstance(read[1].parts[0], Opaque)
    assert messages_from_dict(to_langchain_dicts(read)) == others


def test_a_result_without_a_call_becomes_one() -> None:
    [answer] = from_langchain([{"type": "tool", "content": "21", "tool_call_id": "gone", "name": "weather"}])
    assert calls_of(answer) == [
        ToolCall(name="weather", call_id="gone", state="output-available", output="21")
    ]


def test_a_late_result_goes_to_its_call() -> None:
    read = from_langchain(
        [
            {"type": "ai", "content": "", "tool_calls": [{"id": "c", "name": "wait", "args": {}}]},
            {"type": "human", "content": "Well?"},
            {"type": "tool", "content": "done", "tool_call_id": "c"},
        ]
    )
    assert [message.role for message in read] == ["assistant", "user"]
    assert calls_of(read[0])[0].output == "done"


HISTORY: list[ModelMessage] = [
    ModelRequest(
        parts=[
            SystemPromptPart("Be brief."),
            UserPromptPart(
                [
                    "What is that?",
                    ImageUrl("https://example.com/cat.png"),
                    BinaryContent(b"\x00\xff", media_type="image/png"),
                    CachePoint(),
                ]
            ),
        ],
        instructions="Speak of cats.",
        run_id="run",
    ),
    ModelResponse(
        parts=[
            ThinkingPart("Look.", signature="sig", provider_name="anthropic"),
            TextPart("Let me look."),
            ToolCallPart("look", {"at": 2**62}, "c1"),
            ToolCallPart("look", "{oops", "c2"),
            ToolCallPart("pay", {"euros": 7}, "c3"),
        ],
        model_name="m",
        usage=RequestUsage(input_tokens=3, output_tokens=2),
        finish_reason="tool_call",
    ),
    ModelRequest(
        parts=[
            ToolReturnPart("look", {"cat": True}, "c1", metadata={"seen": 1}),
            ToolReturnPart("look", "Not JSON.", "c2", outcome="failed"),
            ToolReturnPart("pay", "Too much.", "c3", outcome="denied"),
        ]
    ),
    ModelResponse(
        parts=[
            NativeToolCallPart("web_search", {"query": "cat"}, "n1", provider_name="openai"),
            NativeToolReturnPart("web_search", {"found": 1}, "n1", provider_name="openai"),
            TextPart("A cat.", id="msg_1", provider_name="openai"),
            FilePart(BinaryContent(b"cat", media_type="image/png")),
        ]
    ),
    ModelRequest(parts=[RetryFeedbackPart("Say more.", retry=RetryInfo("model_retry"))]),
    ModelResponse(parts=[TextPart("A black cat.")]),
    ModelRequest(parts=[UserPromptPart("Thanks.")]),
]


def dumped(history: list[ModelMessage]) -> list[Any]:
    written: list[Any] = json.decode(ModelMessagesTypeAdapter.dump_json(history))
    return written


def test_a_history_of_pydantic_ai_is_read() -> None:
    system, question, answer, thanks = from_pydantic_ai(dumped(HISTORY))
    assert (system.role, system.parts, thanks.role) == ("system", (Text(text="Be brief."),), "user")
    assert [type(part) for part in question.parts] == [Text, File, File]
    assert question.created_at is not None
    assert [(call.call_id, call.state) for call in calls_of(answer)] == [
        ("c1", "output-available"),
        ("c2", "output-error"),
        ("c3", "output-denied"),
        ("n1", "output-available"),
    ]
    assert calls_of(answer)[0].output == {"cat": True}
    assert calls_of(answer)[1].input == "{oops"
    assert calls_of(answer)[3].provider_executed
    thought = answer.parts[1]
    assert isinstance(thought, Reasoning)
    assert thought.provider_metadata is not None
    assert thought.provider_metadata["anthropic"] == {"signature": "sig"}
    assert sum(isinstance(part, StepStart) for part in answer.parts) == 3


def test_a_history_of_pydantic_ai_comes_back_as_it_was() -> None:
    again = ModelMessagesTypeAdapter.validate_json(
        json.encode(to_pydantic_ai(from_pydantic_ai(dumped(HISTORY))))
    )
    assert dumped(again) == dumped(HISTORY)


def test_pydantic_ai_reads_odd_text() -> None:
    said = to_pydantic_ai([Message(id="u", role="user", parts=(Text(text="half \ud83d, nul \x00"),))])
    [request] = ModelMessagesTypeAdapter.validate_json(json.encode(said))
    assert isinstance(request.parts[0], UserPromptPart)
    assert request.parts[0].content == "half �, nul \x00"


def test_older_histories_of_pydantic_ai_are_read() -> None:
    # As versions before 1.0 wrote them: no ids of runs, retries as prompts, fields that are gone.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = from_pydantic_ai(
            [
                {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Hi"}]},
                {
                    "kind": "response",
                    "parts": [
                        {"part_kind": "tool-call", "tool_name": "f", "args": '{"x":1}', "tool_call_id": "c"}
                    ],
                    "vendor_id": "v",
                },
                {
                    "kind": "request",
                    "parts": [
                        {"part_kind": "retry-prompt", "content": "bad", "tool_name": "f", "tool_call_id": "c"}
                    ],
                },
            ]
        )
        ModelMessagesTypeAdapter.validate_json(json.encode(to_pydantic_ai(read)))
    assert calls_of(read[1]) == [
        ToolCall(
            name="f",
            call_id="c",
            state="output-error",
            input={"x": 1},
            error_text="bad",
            result_provider_metadata={"pydantic_ai": {"part_kind": "retry-prompt"}},
        )
    ]


REFUSED: list[tuple[str, list[Any], str]] = [
    ("langchain", [7], r"messages\[0\]"),
    ("langchain", [{"type": "robot", "content": ""}], "'robot'"),
    ("langchain", [{"type": "ai", "content": "", "tool_calls": [{"id": "c"}]}], r"tool_calls\[0\]"),
    ("pydantic-ai", [{"kind": "letter", "parts": []}], "request or response"),
    ("pydantic-ai", [{"kind": "request"}], "parts"),
    ("pydantic-ai", [{"kind": "response", "parts": [{}]}], "part_kind"),
    ("openai-agents", [{"role": "robot", "content": ""}], r"items\[0\].role"),
    ("openai-agents", ["hi"], r"items\[0\]"),
    ("openai-agents", [{"role": "user", "content": 7}], "content"),
    ("model", [{"role": "robot", "content": ""}], r"messages\[0\].role"),
    ("model", [{"role": "tool", "content": 7}], "content"),
]


@pytest.mark.parametrize(("form", "items", "said"), REFUSED)
def test_what_is_no_history_is_refused_with_its_place(form: str, items: list[Json], said: str) -> None:
    with pytest.raises(InvalidMessage, match=said):
        FORMS[form].read({FORMS[form].keys[0]: items})
