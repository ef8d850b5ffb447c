"""Every kind of message that Claude Code has: what a client is told of it, and what is only recorded."""

from __future__ import annotations

from typing import Final

import pytest

from rejoinder.messages import Data, JsonObject
from rejoinder.translate import Finished
from tests.translate.claude_words import (
    RESULT,
    TEXT,
    assistant,
    chunks,
    run,
    system,
)

TRANSIENT: Final[dict[str, JsonObject]] = {
    "data-status": system("status", status="requesting"),
    "data-retry": system("api_retry", attempt=1, max_retries=10, retry_delay_ms=500, error_status=529),
    "data-background-tasks": system("background_tasks_changed", tasks=[]),
    "data-notice": system("notification", text="Look"),
    "data-mirror-error": system("mirror_error", error="no store"),
    "data-tool-progress": {
        "type": "tool_progress",
        "tool_use_id": "c1",
        "tool_name": "Bash",
        "elapsed_time_seconds": 3,
        "uuid": "p",
    },
    "data-rate-limit": {
        "type": "rate_limit_event",
        "rate_limit_info": {"status": "allowed_warning"},
        "uuid": "r",
    },
    "data-prompt-suggestion": {"type": "prompt_suggestion", "suggestion": "And now?", "uuid": "q"},
    "data-thinking-tokens": system("thinking_tokens", estimated_tokens=5, estimated_tokens_delta=5),
}

KEPT: Final[dict[str, JsonObject]] = {
    "compaction": system("compact_boundary", compact_metadata={"trigger": "auto", "pre_tokens": 9}),
    "task": system("task_started", task_id="t", description="Count", task_type="local_bash"),
    "refusal": system("model_refusal_no_fallback", original_model="m"),
    "conversation-reset": {"type": "conversation_reset", "new_conversation_id": "s2", "uuid": "x"},
    "hook": system("hook_response", hook_event="Stop", outcome="blocked"),
    "rate-limit": {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}, "uuid": "r"},
}

SILENT: Final = [
    *(
        system(subtype)
        for subtype in (
            "session_state_changed",
            "permission_denied",
            "hook_started",
            "hook_progress",
            "commands_changed",
            "memory_recall",
            "plugin_install",
            "files_persisted",
            "elicitation_complete",
            "local_command_output",
            "worker_shutting_down",
            "control_request_progress",
        )
    ),
    system("hook_response", outcome="success"),
    {"type": "tool_use_summary", "summary": "Read files", "uuid": "y"},
    {"type": "auth_status", "isAuthenticating": False, "uuid": "z"},
    {"type": "keep_alive"},
]


@pytest.mark.parametrize("name", TRANSIENT)
def test_what_passes_is_told_and_not_kept(name: str) -> None:
    came = run(assistant(TEXT), TRANSIENT[name], RESULT)
    (said,) = [chunk for chunk in chunks(came, name) if name != "data-status" or chunk["data"].get("status")]
    assert said["transient"] is True
    assert came.problems == []
    assert not [part for part in came.message.parts if isinstance(part, Data)]


@pytest.mark.parametrize("name", KEPT)
def test_what_belongs_to_the_answer_is_kept_in_it(name: str) -> None:
    came = run(assistant(TEXT), KEPT[name], RESULT)
    (part,) = [part for part in came.message.parts if isinstance(part, Data)]
    assert part.name == name
    assert came.problems == []


@pytest.mark.parametrize("event", SILENT, ids=lambda event: str(event.get("subtype") or event["type"]))
def test_what_is_of_no_use_to_a_client_is_only_recorded(event: JsonObject) -> None:
    assert chunks(run(assistant(TEXT), event, RESULT)) == chunks(run(assistant(TEXT), RESULT))
    assert run(assistant(TEXT), event, RESULT).problems == []


@pytest.mark.parametrize("event", [{"type": "new_kind"}, system("new_subtype"), {"no": "type"}])
def test_a_kind_that_nobody_knows_is_kept_and_noted(event: JsonObject) -> None:
    came = run(assistant(TEXT), event, RESULT)
    assert len(came.problems) == 1
    assert came.ending == Finished(reason="stop")
