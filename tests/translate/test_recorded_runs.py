"""Runs that we have recorded (`tests/recordings`): nothing twice, nothing missing, the same for every client."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pytest

from rejoinder.convert.ui import to_ui
from rejoinder.fold import accumulate
from rejoinder.messages import Json, JsonObject
from rejoinder.testing.oracle import Oracle
from rejoinder.wire.dialects import dialect
from rejoinder.wire.downlevel import downlevel
from rejoinder.wire.json import as_javascript
from tests.translate.recorded import FOLDER, events_of, golden, read_by, told, written
from tests.translate.runs import Run, ending_of, parts_of, tokens_of
from tests.translate.tables import (
    ag_ui,
    ai_sdk,
    langgraph,
    open_harness,
    openai_agents,
    providers,
    pydantic_ai,
)
from tests.translate.test_agent_streams import RUNS as GIVEN_AGENTS
from tests.translate.test_broken_streams import vendor_of
from tests.translate.test_providers import RUNS as GIVEN_PROVIDERS

TABLES: Final = (ag_ui, ai_sdk, langgraph, open_harness, openai_agents, providers, pydantic_ai)
RUNS: Final[dict[str, Run]] = {name: run for table in TABLES for name, run in table.RUNS.items()}
SDKS: Final = ("5", "6", "7")


def test_every_recording_stands_in_a_table() -> None:
    ours = {
        path.stem for path in (FOLDER / "events").glob("*.jsonl") if vendor_of(path.stem) != "claude-code"
    }
    assert ours == {
        *RUNS,
        *(name for name in (*GIVEN_AGENTS, *GIVEN_PROVIDERS) if not name.startswith("claude")),
    }
    for vendor in {run.vendor for run in RUNS.values()}:
        assert sum(run.vendor == vendor for run in RUNS.values()) >= 2


@pytest.mark.parametrize("run", RUNS)
def test_the_message_has_what_the_run_contained(run: str) -> None:
    expected = RUNS[run]
    came = told(expected.vendor, events_of(run))
    assert parts_of(came) == expected.parts
    assert tokens_of(came) == expected.tokens
    assert ending_of(came) == expected.ending
    assert len(came.problems) == expected.problems
    assert sorted(call.id for call in came.began) == sorted(call.id for call in came.calls)


@pytest.mark.parametrize("run", RUNS)
def test_what_is_said_for_a_run_is_what_was_agreed_upon(run: str) -> None:
    assert written(told(RUNS[run].vendor, events_of(run)).chunks) == golden(run)


@pytest.mark.parametrize("run", RUNS)
def test_every_client_reads_the_run(oracle: Oracle, run: str) -> None:
    came = told(RUNS[run].vendor, events_of(run))
    for sdk in SDKS:
        read = read_by(oracle, sdk, came.chunks)
        if sdk == "7":
            assert read == as_javascript(to_ui(came.message))
        assert seen_in([read]) == seen_in(
            [to_ui(accumulate(downlevel(came.chunks, dialect(f"ai-sdk/{sdk}"))))]
        )


def seen_in(messages: Iterable[JsonObject]) -> list[Json]:
    """What a person sees of messages, by whichever release: versions 5 and 6 keep a wrong input as `rawInput`."""
    return [
        (
            *(as_javascript(part.get(name)) for name in ("type", "text", "output", "errorText", "url")),
            as_javascript(part.get("input", part.get("rawInput"))),
        )
        for message in messages
        for part in message["parts"]
        if not part["type"].startswith(("data-", "custom"))
    ]
