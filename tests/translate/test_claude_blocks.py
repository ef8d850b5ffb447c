"""What Claude Code says in its messages: blocks, results, tasks, what is taken back, and how it ends."""

from __future__ import annotations

import pytest

from rejoinder.messages import Data, Json, JsonObject, ToolCall
from rejoinder.translate import Failed, Finished, Remember, Stopped
from tests.translate.claude_words import (
    CALL,
    INIT,
    RESULT,
    TEXT,
    answered,
    assistant,
    call_in,
    chunks,
    results,
    run,
    stream,
    system,
)


def test_the_session_is_told_once_and_remembered_with_its_last_message() -> None:
    came = run(assistant(TEXT), {**INIT, "uuid": "again", "model": "n"}, RESULT)
    metadata = [chunk["messageMetadata"] for chunk in chunks(came, "message-metadata")]
    assert metadata[:2] == [{"model": "m", "sessionId": "s1"}, {"model": "n", "sessionId": "s1"}]
    memories = [note.memory for note in came.notes if isinstance(note, Remember)]
    assert memories[-1] == {"sessionId": "s1", "lastMessage": "m1:text:None"}


def test_blocks_stream_as_parts_and_are_not_said_again_by_their_snapshots() -> None:
    thinking: JsonObject = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
    came = run(
        stream(
            (
                {"type": "thinking", "thinking": ""},
                [
                    {"type": "thinking_delta", "thinking": "Hm."},
                    {"type": "signature_delta", "signature": "sig"},
                ],
            ),
            ({"type": "redacted_thinking", "data": "xyz"}, []),
            ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "Hello"}]),
            (
                {**CALL, "input": {}},
                [
                    {"type": "input_json_delta", "partial_json": '{"comm'},
                    {"type": "input_json_delta", "partial_json": 'and":"ls"}'},
                ],
            ),
        ),
        assistant(thinking),
        assistant({"type": "redacted_thinking", "data": "xyz"}),
        assistant(TEXT),
        assistant(CALL),
        results(answered("c1", "a.txt")),
        RESULT,
    )
    assert [chunk["type"] for chunk in chunks(came)][3:] == [
        "start-step",
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "reasoning-start",
        "reasoning-end",
        "text-start",
        "text-delta",
        "text-end",
        "tool-input-start",
        "tool-input-delta",
        "tool-input-delta",
        "tool-input-available",
        "tool-output-available",
        "message-metadata",
        "finish-step",
        "finish",
    ]
    first, second = chunks(came, "reasoning-end", "reasoning-start")[1:3]
    assert first["providerMetadata"] == {"anthropic": {"signature": "sig"}}
    assert second["providerMetadata"] == {"anthropic": {"redactedData": "xyz"}}
    assert came.problems == []


def test_input_that_is_no_json_is_an_error_of_the_call() -> None:
    came = run(
        stream(({**CALL, "input": {}}, [{"type": "input_json_delta", "partial_json": '{"comm'}])), RESULT
    )
    assert call_in(came).state == "output-error"


def test_tools_of_the_api_are_answered_in_the_message_and_their_pages_are_sources() -> None:
    found = {"type": "web_search_result", "url": "https://example.com/a", "title": "A"}
    came = run(
        assistant({"type": "server_tool_use", "id": "w", "name": "web_search", "input": {"query": "x"}}),
        assistant({"type": "web_search_tool_result", "tool_use_id": "w", "content": [found]}),
        RESULT,
    )
    assert call_in(came).output == [found]
    (source,) = chunks(came, "source-url")
    assert source["url"] == "https://example.com/a"


def test_citations_are_sources() -> None:
    came = run(
        stream(
            (
                {"type": "text", "text": ""},
                [
                    {"type": "text_delta", "text": "So."},
                    {"type": "citations_delta", "citation": {"url": "https://example.com", "title": "E"}},
                    {"type": "citations_delta", "citation": {"document_title": "Report"}},
                ],
            )
        ),
        RESULT,
    )
    assert [chunk["type"] for chunk in chunks(came, "source-url", "source-document")] == [
        "source-url",
        "source-document",
    ]


def test_a_page_is_one_source_however_often_it_was_found_and_is_cited() -> None:
    page = {"url": "https://example.com/a", "title": "A"}
    cited = {"type": "web_search_result_location", **page, "cited_text": "So it is"}
    found = {"type": "web_search_result", **page}
    fetched = {"type": "web_fetch_result", "url": "https://example.com/b", "content": {"title": "B"}}
    came = run(
        assistant({"type": "server_tool_use", "id": "w", "name": "web_search", "input": {"query": "x"}}),
        assistant({"type": "web_search_tool_result", "tool_use_id": "w", "content": [found, found]}),
        assistant({"type": "server_tool_use", "id": "f", "name": "web_fetch", "input": {}}),
        assistant({"type": "web_fetch_tool_result", "tool_use_id": "f", "content": fetched}),
        assistant({**TEXT, "citations": [cited, cited]}),
        RESULT,
    )
    assert [(chunk["url"], chunk["title"]) for chunk in chunks(came, "source-url")] == [
        ("https://example.com/a", "A"),
        ("https://example.com/b", "B"),
    ]
    (end,) = chunks(came, "text-end")
    assert [(cite["source"]["id"], cite["citedText"]) for cite in end["citations"]] == [
        ("s0", "So it is"),
        ("s0", "So it is"),
    ]
    assert end["providerMetadata"] == {"anthropic": {"citations": [cited, cited]}}


def test_a_block_of_tomorrow_is_shown_as_it_came() -> None:
    block = {"type": "compaction", "content": "In short: yes."}
    delta = {"type": "compaction_delta", "content": "In short: yes."}
    came = run(stream(({"type": "compaction", "content": ""}, [delta])), assistant(block), RESULT)
    (custom,) = chunks(came, "custom")
    assert custom["kind"] == "anthropic.compaction"
    assert custom["providerMetadata"] == {"anthropic": {"block": block}}
    assert came.problems == []


def test_a_result_of_the_api_that_was_streamed_is_not_a_second_one_in_its_snapshot() -> None:
    call: JsonObject = {"type": "server_tool_use", "id": "w", "name": "web_search", "input": {}}
    failed = {
        "type": "web_search_tool_result",
        "tool_use_id": "w",
        "content": {"error_code": "too_many_requests"},
    }
    came = run(stream((call, []), (failed, [])), assistant(call, failed), RESULT)
    assert call_in(came).error_text == "too_many_requests"
    assert came.problems == []


@pytest.mark.parametrize(
    ("answer", "more", "state", "outcome"),
    [
        (answered("c1", "out"), {}, "output-available", "out"),
        (answered("c1", [{"type": "text", "text": "out"}]), {}, "output-available", "out"),
        (answered("c1", "out"), {"tool_use_result": {"stdout": "o"}}, "output-available", {"stdout": "o"}),
        (answered("c1", "bad", is_error=True), {}, "output-error", "bad"),
        (
            answered(
                "c1",
                [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}],
            ),
            {},
            "output-available",
            [{"type": "image", "data": "AA==", "mimeType": "image/png"}],
        ),
    ],
)
def test_results_are_told_once_with_what_the_tool_gave(
    answer: JsonObject, more: JsonObject, state: str, outcome: Json
) -> None:
    came = run(assistant(CALL), results(answer, **more), results(answer, again=True, **more), RESULT)
    call = call_in(came)
    assert call.state == state
    assert (call.error_text if state == "output-error" else call.output) == outcome
    assert came.problems == []


def test_a_denial_is_told_as_one_whoever_says_so() -> None:
    denied = results(answered("c1", "no", is_error=True))
    announced = run(
        assistant(CALL), system("permission_denied", tool_use_id="c1", decision_reason="rule"), denied, RESULT
    )
    listed = run(
        assistant(CALL),
        {**RESULT, "permission_denials": [{"tool_name": "Bash", "tool_use_id": "c1", "tool_input": {}}]},
    )
    for came in (announced, listed):
        assert call_in(came).state == "output-denied"


def test_what_is_put_into_the_users_mouth_is_told_as_such() -> None:
    injected = results(
        {"type": "text", "text": "A task is done"}, origin={"kind": "task-notification"}, isSynthetic=True
    )
    replayed = results({"type": "text", "text": "Mine"}, isReplay=True, origin={"kind": "human"})
    (part,) = [part for part in run(injected, replayed, RESULT).message.parts if isinstance(part, Data)]
    assert part.data == {"origin": {"kind": "task-notification"}, "text": "A task is done"}


def test_a_task_is_one_part_that_has_its_last_state() -> None:
    came = run(
        system("task_started", task_id="t", description="Count", task_type="local_agent"),
        system("task_progress", task_id="t", usage={"total_tokens": 3}),
        system("task_updated", task_id="t", patch={"status": "completed"}),
        system("task_notification", task_id="t", status="completed", summary="3"),
        assistant(TEXT),
        RESULT,
    )
    (part,) = [part for part in came.message.parts if isinstance(part, Data)]
    assert part.id == "t"
    assert part.data["status"] == "completed"
    assert (part.data["summary"], part.data["usage"]) == ("3", {"total_tokens": 3})


def test_an_answer_is_not_over_while_a_task_runs_whose_end_the_model_waits_for() -> None:
    began = system("task_started", task_id="t", description="Count", task_type="local_agent")
    ended = system("task_notification", task_id="t", status="completed", summary="3")
    waking = assistant({"type": "text", "text": "It is 3."}, id="m2")
    came = run(assistant(TEXT), began, RESULT, ended, waking, {**RESULT, "uuid": "u10", "result": "It is 3."})
    assert [chunk["delta"] for chunk in chunks(came, "text-delta")] == ["Hello", "It is 3."]
    assert came.ending == Finished(reason="stop")


def test_each_compaction_is_a_part_also_where_no_status_announces_it() -> None:
    first = system("compact_boundary", compact_metadata={"trigger": "auto"})
    second = {**system("compact_boundary", compact_metadata={"trigger": "manual"}), "uuid": "second"}
    came = run(first, second, RESULT)
    parts = [part.data for part in came.message.parts if isinstance(part, Data)]
    assert parts == [{"trigger": "auto"}, {"trigger": "manual"}]


def test_a_task_of_an_odd_type_ends_nothing() -> None:
    odd: JsonObject = {"task_id": "t", "task_type": ["local_agent"], "status": {}}
    came = run(system("task_started", **odd), assistant(TEXT), RESULT)
    assert came.ending == Finished(reason="stop")


def test_compaction_is_one_part_whichever_of_its_signals_come() -> None:
    begins = system("status", status="compacting")
    boundary = system("compact_boundary", compact_metadata={"trigger": "auto", "pre_tokens": 9})
    settled = {**system("status", status=None, compact_result="success"), "uuid": "settled"}
    failed = {**system("status", status=None, compact_error="too long"), "uuid": "failed"}
    for signals, expected in (
        ([begins, boundary, settled], {"trigger": "auto", "pre_tokens": 9, "compact_result": "success"}),
        ([begins, settled], {"compact_result": "success"}),
        ([begins, failed], {"compact_error": "too long"}),
    ):
        came = run(*signals, assistant(TEXT), RESULT)
        (part,) = [part for part in came.message.parts if isinstance(part, Data)]
        assert part.data == expected


@pytest.mark.parametrize("field", ["retracted_message_uuids", "supersedes"])
def test_what_the_model_takes_back_is_taken_back(field: str) -> None:
    bad = assistant({"type": "text", "text": "Never mind"})
    good = assistant({"type": "text", "text": "Instead"}, id="m2")
    if field == "supersedes":
        good = {**assistant({"type": "text", "text": "Instead"}), "uuid": "other", field: [bad["uuid"]]}
        came = run(bad, good, RESULT)
    else:
        came = run(bad, system("model_refusal_fallback", **{field: [bad["uuid"]]}), good, RESULT)
    assert len(chunks(came, "reset-step")) == 1
    assert "Never mind" not in str(came.message)
    assert "Instead" in str(came.message)


def test_what_subagents_say_names_the_call_that_began_them_also_nested() -> None:
    came = run(
        assistant({**CALL, "id": "a1", "name": "Agent"}),
        assistant({**CALL, "id": "a2", "name": "Agent"}, id="m2", parent="a1"),
        assistant({**CALL, "id": "b"}, id="m3", parent="a2"),
        {**results(answered("b", "deep")), "parent_tool_use_id": "a2"},
        {**results(answered("a2", "deeper")), "parent_tool_use_id": "a1"},
        results(answered("a1", "done")),
        RESULT,
    )
    parents = {
        part.call_id: (part.call_provider_metadata or {}).get("claude-code", {}).get("parentToolCallId")
        for part in came.message.parts
        if isinstance(part, ToolCall)
    }
    assert parents == {"a1": None, "a2": "a1", "b": "a2"}
    assert [part.output for part in came.message.parts if isinstance(part, ToolCall)] == [
        "done",
        "deeper",
        "deep",
    ]


@pytest.mark.parametrize(
    ("result", "ending"),
    [
        ({}, Finished(reason="stop")),
        ({"stop_reason": "max_tokens"}, Finished(reason="length")),
        ({"stop_reason": "refusal"}, Finished(reason="content-filter")),
        ({"subtype": "error_max_turns", "is_error": True}, Finished(reason="length")),
        (
            {"subtype": "error_during_execution", "terminal_reason": "aborted_tools"},
            Stopped(reason="aborted_tools"),
        ),
    ],
)
def test_the_result_says_how_it_ended(result: JsonObject, ending: object) -> None:
    assert run(assistant(TEXT), RESULT | result).ending == ending


@pytest.mark.parametrize(
    "result",
    [
        {"subtype": "error_during_execution", "is_error": True, "errors": ["It broke"]},
        {"subtype": "error_max_budget_usd", "is_error": True, "errors": ["It broke"]},
        {"subtype": "error_max_structured_output_retries", "is_error": True, "errors": ["It broke"]},
        {"is_error": True, "result": "It broke"},
    ],
)
def test_a_result_that_is_an_error_fails_with_its_words(result: JsonObject) -> None:
    came = run(assistant(TEXT), RESULT | result)
    assert isinstance(came.ending, Failed)
    assert came.ending.error.message == "It broke"
    assert [chunk["type"] for chunk in chunks(came)][-2:] == ["error", "finish"]


def test_the_text_of_the_result_is_said_only_if_nothing_was() -> None:
    assert [chunk["delta"] for chunk in chunks(run(assistant(TEXT), RESULT), "text-delta")] == ["Hello"]
    assert [chunk["delta"] for chunk in chunks(run(RESULT), "text-delta")] == ["Hello"]


def test_structured_output_is_a_part() -> None:
    came = run(assistant(TEXT), {**RESULT, "structured_output": {"a": 1}})
    (part,) = [part for part in came.message.parts if isinstance(part, Data)]
    assert (part.name, part.data) == ("structured-output", {"a": 1})


def test_an_error_in_a_message_is_told_and_the_answer_goes_on() -> None:
    came = run(assistant(TEXT, error="rate_limit"), RESULT)
    assert [chunk["data"] for chunk in chunks(came, "data-claude-error")] == [{"error": "rate_limit"}]
    assert came.ending == Finished(reason="stop")


def test_a_message_that_comes_again_says_nothing_and_one_with_another_body_does() -> None:
    other = {**assistant({"type": "text", "text": "More"}, id="m2"), "uuid": assistant(TEXT)["uuid"]}
    came = run(assistant(TEXT), assistant(TEXT), other, RESULT)
    assert [chunk["delta"] for chunk in chunks(came, "text-delta")] == ["Hello", "More"]
