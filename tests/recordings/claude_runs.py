"""Records runs of the real Claude Code at a stand-in for its API: `python -m tests.recordings.claude_runs [name…]`.

What is written is what the program said, in its order, its questions and our answers to them included; folders get
neutral names. Ids and times are those of the run, so a recording made anew differs from the one that is kept.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from claude_agent_sdk import ClaudeAgentOptions

from rejoinder.agents.claude_program import Program
from rejoinder.wire import json
from tests.agents.anthropic_stand_in import JsonObject, StandIn, last_user

EVENTS: Final = Path(__file__).resolve().parent.parent / "translate" / "events"

Script = Callable[[JsonObject], Iterable[JsonObject]]


@dataclass
class Recording:
    """What is asked, what the model says to it, which calls the user allows, and further options."""

    prompt: str
    script: Callable[[], Script]
    allowed: frozenset[str] = frozenset()
    options: dict[str, Any] = field(default_factory=dict[str, Any])


def said(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def thought(text: str, signature: str) -> JsonObject:
    return {"type": "thinking", "thinking": text, "signature": signature}


def bash(id: str, command: str) -> JsonObject:
    given = {"command": command, "description": "For a recording"}
    return {"type": "tool_use", "id": f"toolu_{id}", "name": "Bash", "input": given}


def agent(id: str, prompt: str) -> JsonObject:
    given = {
        "description": "Count files",
        "prompt": prompt,
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    return {"type": "tool_use", "id": f"toolu_{id}", "name": "Agent", "input": given}


def in_turn(*answers: Iterable[JsonObject]) -> Callable[[], Script]:
    """A script that gives these answers one after the other, to whoever asks with tools."""

    def begin() -> Script:
        left: Iterator[Iterable[JsonObject]] = iter(answers)

        def script(body: JsonObject) -> Iterable[JsonObject]:
            return next(left) if body.get("tools") else [said("A title")]

        return script

    return begin


def _nested() -> Script:
    """Two subagents at the same time, each with a tool of its own."""

    def script(body: JsonObject) -> Iterable[JsonObject]:
        _, results = last_user(body)
        first, _ = last_user({"messages": body["messages"][:1]})
        number = "two" if "part two" in first else "one"
        if not body.get("tools"):
            return [said("A title")]
        if "count part" in first:
            return [said(f"Part {number} has 3 files.")] if results else [bash(number, f"echo {number}")]
        if results:
            return [thought("Both are back.", "c2lnbmVk"), said("Six files together.")]
        return [said("Asking two."), agent("agent1", "count part one"), agent("agent2", "count part two")]

    return script


def _background() -> Script:
    """A subagent that works on while the main thread has said its last word, and wakes it."""

    def script(body: JsonObject) -> Iterable[JsonObject]:
        text, results = last_user(body)
        first, _ = last_user({"messages": body["messages"][:1]})
        if not body.get("tools"):
            return [said("A title")]
        if "take your time" in first:
            return [said("It is 7.")] if results else [bash("slow", SLOWLY)]
        if "It is 7." in text:
            return [said("The answer is 7.")]
        if results:
            return [said("It works on it.")]
        begun = agent("agent1", "take your time")
        return [said("Starting."), {**begun, "input": {**begun["input"], "run_in_background": True}}]

    return script


SLOWLY: Final = "python3 -c 'import time; time.sleep(1)'; echo slept"

OVERLOADED: Final = {
    "type": "error",
    "status": 529,
    "error": {"type": "overloaded_error", "message": "Overloaded"},
}

COUNTED: Final = {
    "type": "object",
    "properties": {"count": {"type": "integer"}},
    "required": ["count"],
}

REFUSED: Final = {
    "type": "error",
    "status": 400,
    "error": {"type": "invalid_request_error", "message": "This prompt is refused"},
}

RECORDINGS: Final = {
    "claude_permissions": Recording(
        prompt="Make two files.",
        script=in_turn(
            [
                thought("Two files, two calls.", "c2lnbmF0dXJl"),
                said("Making both."),
                bash("one", "touch one.txt && echo made one"),
                bash("two", "touch two.txt && echo made two"),
            ],
            [said("One is made, the other is not.")],
        ),
        allowed=frozenset({"toolu_one"}),
    ),
    "claude_nested": Recording(
        prompt="How many files?", script=_nested, options={"allowed_tools": ["Agent", "Bash"]}
    ),
    "claude_background": Recording(
        prompt="Take a look.", script=_background, options={"allowed_tools": ["Agent", "Bash"]}
    ),
    "claude_structured": Recording(
        prompt="How many?",
        script=in_turn(
            [{"type": "tool_use", "id": "toolu_out", "name": "StructuredOutput", "input": {"count": 3}}]
        ),
        options={"output_format": {"type": "json_schema", "schema": COUNTED}},
    ),
    "claude_retry": Recording(
        prompt="Try it.",
        script=in_turn(
            [OVERLOADED],
            [bash("fails", "echo to stdout; echo to stderr >&2; exit 3")],
            [thought("It failed.", "ZmFpbGVk"), said("The command ended with 3.")],
        ),
        options={"allowed_tools": ["Bash"]},
    ),
    "claude_turns": Recording(
        prompt="Go on and on.",
        script=in_turn([bash("first", "echo first")], [bash("second", "echo second")]),
        options={"allowed_tools": ["Bash"], "max_turns": 1},
    ),
    "claude_refused": Recording(prompt="Try it in vain.", script=lambda: lambda _: [REFUSED]),
}


async def record(recording: Recording) -> list[JsonObject]:
    """All that the program says."""
    events: list[JsonObject] = []
    with tempfile.TemporaryDirectory() as folder, StandIn(recording.script()).serving() as server:
        project = Path(folder) / "project"
        project.mkdir()
        program = Program(
            ClaudeAgentOptions(
                cwd=project,
                env={
                    "ANTHROPIC_BASE_URL": server.url,
                    "ANTHROPIC_API_KEY": "none",
                    "CLAUDE_CONFIG_DIR": f"{folder}/home",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                    "DISABLE_TELEMETRY": "1",
                },
                setting_sources=[],
                include_partial_messages=True,
                **recording.options,
            )
        )
        await program.start()
        try:
            await program.say([said(recording.prompt)])
            while not program.course.over and (event := await program.next()) is not None:
                if event.get("sdk_host_only") is not True:
                    events.append(event)
                for question in [*program.course.questions.values()]:
                    allowed = question.call_id in recording.allowed
                    answer = (
                        {"behavior": "allow", "updatedInput": question.input}
                        if allowed
                        else {"behavior": "deny", "message": "The user said no"}
                    )
                    events.append(await program.answer(question.request_id, answer))
        finally:
            await program.close()
        return [_neutral(event, folder, server.url) for event in events]


def _neutral(event: JsonObject, folder: str, url: str) -> JsonObject:
    text = json.encode(event).decode()
    names = {
        folder: "/srv/user",
        re.sub(r"\W|_", "-", folder): "-srv-user",
        url: "http://127.0.0.1:8080",
    }
    for name, neutral in names.items():
        text = text.replace(name, neutral)
    value: JsonObject = json.decode(re.sub("(?<!/var)/tmp/", "/var/tmp/", text))
    return value


def main(names: list[str]) -> None:
    for name in names or RECORDINGS:
        events = asyncio.run(record(RECORDINGS[name]))
        lines = b"".join(json.encode(event) + b"\n" for event in events)
        (EVENTS / f"{name}.jsonl").write_bytes(lines)
        sys.stdout.write(f"{name}: {len(events)} events\n")


if __name__ == "__main__":
    main(sys.argv[1:])
