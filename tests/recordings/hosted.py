"""What OpenAI and Anthropic say when they run tools of their own, and when they break off, as their wires have it."""

from __future__ import annotations

from rejoinder.messages import JsonObject
from tests.agents.vendor_server import Reply, streamed

DIRECT: JsonObject = {"type": "direct"}
PIXEL = "iVBORw0KGgo="
URL = "https://example.com/paris"

AT_OPENAI: JsonObject = {"output_index": 0, "item_id": "ws1"}
SEARCH_OPENAI: JsonObject = {"type": "web_search_call", "id": "ws1", "status": "in_progress"}
ACTION_OPENAI: JsonObject = {"type": "search", "query": "Paris", "sources": [{"type": "url", "url": URL}]}
CODE_OPENAI: JsonObject = {
    "type": "code_interpreter_call",
    "id": "ci1",
    "container_id": "box",
    "code": "",
    "status": "in_progress",
}
RAN_OPENAI: JsonObject = {
    **CODE_OPENAI,
    "code": "print(1)",
    "status": "completed",
    "outputs": [{"type": "logs", "logs": "1\n"}],
}
IMAGE_OPENAI: JsonObject = {"type": "image_generation_call", "id": "ig1", "status": "in_progress"}
MCP_OPENAI: JsonObject = {
    "type": "mcp_call",
    "id": "mc1",
    "name": "roll",
    "server_label": "dice",
    "arguments": "",
}
MCP_DONE_OPENAI: JsonObject = {**MCP_OPENAI, "arguments": '{"sides":6}', "output": "4", "status": "completed"}
MCP_FAILED_OPENAI: JsonObject = {
    **MCP_OPENAI,
    "id": "mc2",
    "arguments": "{}",
    "error": "no dice",
    "status": "failed",
}
CITED_OPENAI: JsonObject = {
    "type": "url_citation",
    "url": URL,
    "title": "Paris",
    "start_index": 0,
    "end_index": 5,
}
TEXT_OPENAI: JsonObject = {"type": "output_text", "text": "Paris, 18 degrees.", "annotations": [CITED_OPENAI]}
MESSAGE_OPENAI: JsonObject = {
    "type": "message",
    "id": "m1",
    "role": "assistant",
    "status": "in_progress",
    "content": [],
}
DONE_OPENAI: JsonObject = {**MESSAGE_OPENAI, "status": "completed", "content": [TEXT_OPENAI]}
CALL_OPENAI: JsonObject = {
    "type": "function_call",
    "id": "fc1",
    "call_id": "c1",
    "name": "get_map",
    "arguments": "",
}
CALLED_OPENAI: JsonObject = {**CALL_OPENAI, "arguments": '{"city":"Paris"}', "status": "completed"}
SEARCHED_OPENAI: JsonObject = {**SEARCH_OPENAI, "status": "completed", "action": ACTION_OPENAI}
DRAWN_OPENAI: JsonObject = {**IMAGE_OPENAI, "status": "completed", "result": PIXEL, "output_format": "png"}
WHOLE_OPENAI: list[JsonObject] = [
    SEARCHED_OPENAI,
    RAN_OPENAI,
    DRAWN_OPENAI,
    MCP_DONE_OPENAI,
    MCP_FAILED_OPENAI,
    DONE_OPENAI,
    CALLED_OPENAI,
]
HEAD_OPENAI: JsonObject = {"id": "resp_1", "object": "response", "model": "gpt-5-mini", "created_at": 1}
USAGE_OPENAI: JsonObject = {
    "input_tokens": 30,
    "output_tokens": 12,
    "total_tokens": 42,
    "output_tokens_details": {"reasoning_tokens": 2},
}
BEGUN_OPENAI: JsonObject = {**HEAD_OPENAI, "status": "in_progress", "output": []}
EVENTS_OPENAI: list[JsonObject] = [
    {"type": "response.created", "response": BEGUN_OPENAI},
    {"type": "response.in_progress", "response": BEGUN_OPENAI},
    {"type": "response.output_item.added", "output_index": 0, "item": SEARCH_OPENAI},
    {"type": "response.web_search_call.in_progress", **AT_OPENAI},
    {"type": "response.web_search_call.searching", **AT_OPENAI},
    {"type": "response.web_search_call.completed", **AT_OPENAI},
    {"type": "response.output_item.done", "output_index": 0, "item": SEARCHED_OPENAI},
    {"type": "response.output_item.added", "output_index": 1, "item": CODE_OPENAI},
    {
        "type": "response.code_interpreter_call_code.delta",
        "output_index": 1,
        "item_id": "ci1",
        "delta": "print(",
    },
    {
        "type": "response.code_interpreter_call_code.delta",
        "output_index": 1,
        "item_id": "ci1",
        "delta": "1)",
    },
    {
        "type": "response.code_interpreter_call_code.done",
        "output_index": 1,
        "item_id": "ci1",
        "code": "print(1)",
    },
    {"type": "response.output_item.done", "output_index": 1, "item": RAN_OPENAI},
    {"type": "response.output_item.added", "output_index": 2, "item": IMAGE_OPENAI},
    {
        "type": "response.image_generation_call.partial_image",
        "output_index": 2,
        "item_id": "ig1",
        "partial_image_index": 0,
        "partial_image_b64": "aVY=",
        "output_format": "png",
    },
    {"type": "response.output_item.done", "output_index": 2, "item": DRAWN_OPENAI},
    {"type": "response.output_item.added", "output_index": 3, "item": MCP_OPENAI},
    {
        "type": "response.mcp_call_arguments.delta",
        "output_index": 3,
        "item_id": "mc1",
        "delta": '{"sides":6}',
    },
    {
        "type": "response.mcp_call_arguments.done",
        "output_index": 3,
        "item_id": "mc1",
        "arguments": '{"sides":6}',
    },
    {"type": "response.output_item.done", "output_index": 3, "item": MCP_DONE_OPENAI},
    {"type": "response.output_item.added", "output_index": 4, "item": {**MCP_OPENAI, "id": "mc2"}},
    {"type": "response.output_item.done", "output_index": 4, "item": MCP_FAILED_OPENAI},
    {"type": "response.output_item.added", "output_index": 5, "item": MESSAGE_OPENAI},
    {
        "type": "response.content_part.added",
        "output_index": 5,
        "item_id": "m1",
        "content_index": 0,
        "part": {**TEXT_OPENAI, "text": "", "annotations": []},
    },
    {
        "type": "response.output_text.delta",
        "output_index": 5,
        "item_id": "m1",
        "content_index": 0,
        "delta": "Paris, 18",
    },
    {
        "type": "response.output_text.annotation.added",
        "output_index": 5,
        "item_id": "m1",
        "content_index": 0,
        "annotation_index": 0,
        "annotation": CITED_OPENAI,
    },
    {
        "type": "response.output_text.delta",
        "output_index": 5,
        "item_id": "m1",
        "content_index": 0,
        "delta": " degrees.",
    },
    {
        "type": "response.output_text.done",
        "output_index": 5,
        "item_id": "m1",
        "content_index": 0,
        "text": "Paris, 18 degrees.",
    },
    {
        "type": "response.content_part.done",
        "output_index": 5,
        "item_id": "m1",
        "content_index": 0,
        "part": TEXT_OPENAI,
    },
    {"type": "response.output_item.done", "output_index": 5, "item": DONE_OPENAI},
    {"type": "response.output_item.added", "output_index": 6, "item": CALL_OPENAI},
    {
        "type": "response.function_call_arguments.delta",
        "output_index": 6,
        "item_id": "fc1",
        "delta": '{"city":"Paris"}',
    },
    {
        "type": "response.function_call_arguments.done",
        "output_index": 6,
        "item_id": "fc1",
        "arguments": '{"city":"Paris"}',
    },
    {"type": "response.output_item.done", "output_index": 6, "item": CALLED_OPENAI},
    {
        "type": "response.completed",
        "response": {**HEAD_OPENAI, "status": "completed", "output": WHOLE_OPENAI, "usage": USAGE_OPENAI},
    },
]


FOUND_ANTHROPIC: JsonObject = {
    "type": "web_search_result",
    "url": URL,
    "title": "Paris",
    "encrypted_content": "x",
    "page_age": None,
}
CITED_ANTHROPIC: JsonObject = {
    "type": "web_search_result_location",
    "url": URL,
    "title": "Paris",
    "cited_text": "18",
    "encrypted_index": "y",
}
BLOCKS_ANTHROPIC: list[tuple[JsonObject, list[JsonObject]]] = [
    ({"type": "redacted_thinking", "data": "hidden"}, []),
    (
        {"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {}, "caller": DIRECT},
        [{"type": "input_json_delta", "partial_json": '{"query":"Paris"}'}],
    ),
    ({"type": "web_search_tool_result", "tool_use_id": "srv1", "content": [FOUND_ANTHROPIC]}, []),
    (
        {"type": "server_tool_use", "id": "srv2", "name": "web_fetch", "input": {}, "caller": DIRECT},
        [{"type": "input_json_delta", "partial_json": '{"url":"x"}'}],
    ),
    (
        {
            "type": "web_fetch_tool_result",
            "tool_use_id": "srv2",
            "content": {"type": "web_fetch_tool_error", "error_code": "url_not_allowed"},
        },
        [],
    ),
    ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "In Paris: "}]),
    (
        {"type": "text", "text": "", "citations": []},
        [
            {"type": "citations_delta", "citation": CITED_ANTHROPIC},
            {"type": "text_delta", "text": "18 degrees."},
        ],
    ),
    ({"type": "tool_use", "id": "c1", "name": "now", "input": {}, "caller": DIRECT}, []),
]


def hosted_responses() -> Reply:
    """OpenAI searches, computes and draws, cites, and calls a function."""
    return streamed({**event, "sequence_number": number} for number, event in enumerate(EVENTS_OPENAI))


def failing_responses() -> Reply:
    """A text that breaks off with an error."""
    head: JsonObject = {"id": "resp_2", "object": "response", "model": "gpt-5-mini", "created_at": 1}
    item: JsonObject = {
        "type": "message",
        "id": "m1",
        "role": "assistant",
        "status": "in_progress",
        "content": [],
    }
    error = {"code": "rate_limit_exceeded", "message": "Slow down."}
    return streamed(
        [
            {"type": "response.created", "response": {**head, "status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {
                "type": "response.output_text.delta",
                "output_index": 0,
                "item_id": "m1",
                "content_index": 0,
                "delta": "It is",
            },
            {
                "type": "response.failed",
                "response": {**head, "status": "failed", "output": [], "error": error},
            },
        ]
    )


def hosted_anthropic() -> Reply:
    """Anthropic searches, thinks out of sight, cites, fails to fetch, and calls a tool without an input."""
    message: JsonObject = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": [],
    }
    said: list[JsonObject] = [
        {
            "type": "message_start",
            "message": {
                **message,
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {"input_tokens": 9, "output_tokens": 1},
            },
        },
        {"type": "ping"},
    ]
    for index, (block, deltas) in enumerate(BLOCKS_ANTHROPIC):
        said.append({"type": "content_block_start", "index": index, "content_block": block})
        said += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        said.append({"type": "content_block_stop", "index": index})
    told = {"output_tokens": 20, "server_tool_use": {"web_search_requests": 1}}
    said.append({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": told})
    return streamed([*said, {"type": "message_stop"}])


def overloaded_anthropic() -> Reply:
    """A text that breaks off with an error."""
    message: JsonObject = {
        "id": "msg_2",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": [],
    }
    return streamed(
        [
            {
                "type": "message_start",
                "message": {**message, "usage": {"input_tokens": 9, "output_tokens": 1}},
            },
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "It is"}},
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        ]
    )
