"""The real Claude Code behind a chat, with a stand-in for its API that says what a prompt asks it to say."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, create_sdk_mcp_server, tool

from rejoinder import Chat
from rejoinder.agents.claude_code import ClaudeCode
from tests.agents.anthropic_stand_in import JsonObject, StandIn, last_user
from tests.server.serving import chatting


def said(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def called(id: str, name: str, given: JsonObject) -> JsonObject:
    return {"type": "tool_use", "id": f"toolu_{id}", "name": name, "input": given}


def bash(id: str, command: str) -> JsonObject:
    return called(id, "Bash", {"command": command, "description": "For a test"})


def script(body: JsonObject) -> Iterable[JsonObject]:
    """What the model says: the word that a prompt begins with decides, and results are reported."""
    text, results = last_user(body)
    words = text.rstrip().rsplit("\n", 1)[-1].split()
    if not body.get("tools"):
        return [said("A title")]
    if results and not text.strip():
        return [said("It said: " + " | ".join(map(_told, results)))]
    if "The answer is 42." in text:
        return [said("The answer is 42.")]
    if "SUBAGENT" in text:
        return (
            [bash("inner", text.rsplit("SUBAGENT: ", 1)[1].splitlines()[0])]
            if "touch" in text
            else [said("The answer is 42.")]
        )
    count = sum(message["role"] == "user" for message in body["messages"])
    match words:
        case ["-", "your", "call", "of", name, *_] if "is allowed" in text:
            again = text.rsplit("with the input ", 1)[1].rsplit(" is allowed", 1)[0]
            return [called(f"again{count}", name, json.loads(again))]
        case ["bash", *command]:
            return [said("Running it."), bash(f"bash{count}", " ".join(command))]
        case ["twice", *command]:
            return [bash(f"{name}{count}", f"{' '.join(command)} {name}") for name in ("one", "two")]
        case ["mcp", city, *_]:
            return [called(f"mcp{count}", "mcp__demo__weather", {"city": city})]
        case ["ask", *_]:
            options = [{"label": each, "description": each} for each in ("Red", "Blue")]
            question = {
                "question": "Which colour?",
                "header": "Colour",
                "options": options,
                "multiSelect": False,
            }
            return [called(f"ask{count}", "AskUserQuestion", {"questions": [question]})]
        case [("delegate" | "background") as how, *command]:
            given = {
                "description": "Compute",
                "prompt": f"SUBAGENT: {' '.join(command)}",
                "subagent_type": "general-purpose",
                "run_in_background": how == "background",
            }
            return [said("Delegating."), called(f"agent{count}", "Agent", given)]
        case ["long", *_]:
            return [said("word " * 8_000)]
        case _:
            return [
                {"type": "thinking", "thinking": "A greeting.", "signature": "c2ln"},
                said(f"You said: {' '.join(words)}"),
            ]


def _said(content: str | list[JsonObject]) -> str:
    """The last text of a message, or what its last block is."""
    if isinstance(content, str):
        return content
    texts = [str(block["text"]) for block in content if block["type"] == "text"]
    return texts[-1].strip() if texts else str(content[-1]["type"])


def _told(result: JsonObject) -> str:
    content = result.get("content")
    return content if isinstance(content, str) else json.dumps(content)


@tool("weather", "How warm it is", {"city": str})
async def weather(given: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": f"18 degrees in {given['city']}"}]}


@dataclass
class Stage:
    """A stand-in, a folder for the program's files, and one for it to work in."""

    stand_in: StandIn
    home: Path
    project: Path
    allowed: list[str] = field(default_factory=lambda: ["mcp__demo__weather", "Agent"])

    def elsewhere(self, folder: Path) -> Stage:
        """The same on another host: the project is there too, the program's own files are not."""
        folder.mkdir()
        return replace(self, home=folder)

    def options(self, **more: Any) -> ClaudeAgentOptions:
        return ClaudeAgentOptions(
            cwd=self.project,
            env={
                "ANTHROPIC_BASE_URL": self.stand_in.url,
                "ANTHROPIC_API_KEY": "none",
                "CLAUDE_CONFIG_DIR": str(self.home),
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_TELEMETRY": "1",
            },
            setting_sources=[],
            allowed_tools=self.allowed,
            mcp_servers={"demo": create_sdk_mcp_server("demo", tools=[weather])},
            **more,
        )

    def agent(self, **more: Any) -> ClaudeCode:
        return ClaudeCode(self.options(), **more)

    @property
    def shown(self) -> list[tuple[str, str]]:
        """What the model was shown the last time: who said what."""
        return [
            (message["role"], _said(message["content"]))
            for message in self.stand_in.requests[-1]["messages"]
            if message["role"] != "system"
        ]

    @contextmanager
    def chatting(self, agent: ClaudeCode | None = None, store: Any = "memory") -> Generator[str]:
        with chatting(Chat(agent or self.agent(), store=store)) as api:
            yield api


@contextmanager
def staged(folder: Path) -> Generator[Stage]:
    home, project = folder / "home", folder / "project"
    home.mkdir()
    project.mkdir()
    with StandIn(script).serving() as stand_in:
        yield Stage(stand_in, home, project)
