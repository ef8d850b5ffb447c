"""Runs of Open Harness. Its packages are published no more, so the runtime is the one of our tests, which tells the
events that theirs did, field by field.

python -m tests.recordings.open_harness_runs
"""

from __future__ import annotations

import asyncio

from rejoinder.messages import Json, JsonObject
from tests.agents.open_harness.harness import Harness, events, said, thought
from tests.recordings.plain import keep

USAGE: JsonObject = {"inputTokens": 16, "outputTokens": 9, "cacheReadInputTokens": 4}
COMPLETE: JsonObject = {"usage": USAGE, "modelUsage": {"claude-sonnet-5": {}}, "numTurns": 1, "durationMs": 3}


def node(name: str, *told: tuple[str, JsonObject]) -> list[tuple[str, JsonObject]]:
    """What happens in a node, under a run of its own."""
    about = {"nodeId": name, "runId": f"run-of-{name}"}
    begun: list[tuple[str, JsonObject]] = [
        ("node:start", about),
        (
            "agent:start",
            {**about, "sessionId": f"session-of-{name}", "prompt": "Weather?", "model": "claude-sonnet-5"},
        ),
    ]
    inside = [(kind, {**fields, **about}) for kind, fields in told]
    return [*begun, *inside, ("node:complete", {**about, "output": {"by": name}})]


def used(name: str, given: Json, **more: Json) -> tuple[str, JsonObject]:
    """A tool that has run."""
    return "agent:tool", {"toolName": name, "toolInput": given, "durationMs": 2, **more}


FLOW: list[tuple[str, JsonObject]] = [
    ("flow:start", {"flowName": "report"}),
    *node(
        "look",
        *thought("Two ", "cities."),
        *said("One ", "moment."),
        used("get_weather", {"city": "Paris"}, toolOutput={"degrees": 18}),
        used("get_weather", {"city": "Oslo"}, toolOutput=None, error="timed out after 30 s"),
        *thought("One will do."),
        *said("18 in Paris."),
        ("agent:complete", {"result": "18 in Paris.", **COMPLETE}),
    ),
    ("edge:fire", {"edgeId": "e1", "from": "look", "to": "write"}),
    ("node:skipped", {"nodeId": "ask", "reason": "edge"}),
    *node(
        "write",
        ("agent:text", {"content": "It is 18 degrees."}),
        ("agent:complete", {"result": "It is 18 degrees.", "structuredOutput": {"degrees": 18}, **COMPLETE}),
    ),
    ("state:patch", {"patch": [{"op": "add", "path": "/done", "value": True}]}),
    ("flow:complete", {"flowName": "report", "status": "complete"}),
]
AGENT: list[tuple[str, JsonObject]] = [
    *said("I look."),
    used("read", {"path": "a"}, toolOutput="a"),
    used("read", {"path": "a"}, toolOutput="a again"),
    ("agent:complete", {"result": "I look.", **COMPLETE}),
]
ABORTED: list[tuple[str, JsonObject]] = [
    ("agent:thinking:delta", {"content": "Hm"}),
    ("agent:text:delta", {"content": "It is"}),
    ("agent:aborted", {"reason": "enough"}),
]


async def record(name: str, told: list[tuple[str, JsonObject]]) -> None:
    """What a runtime told, kept."""
    harness, heard = Harness(events(*told)), list[Json]()
    harness.on_event(heard.append)
    await events(*told)(harness, "Weather?", "run-1")
    keep(name, heard)


async def main() -> None:
    """All of them."""
    await record("open_harness_flow", FLOW)
    await record("open_harness_agent", AGENT)
    await record("open_harness_aborted", ABORTED)


if __name__ == "__main__":
    asyncio.run(main())
