"""Every example does what its first line says, with a model that stands in for one."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from rejoinder import Chat
from tests.stores.databases import Databases

EXAMPLES: Final = Path(__file__).resolve().parents[2] / "examples"
LINES_MAX: Final = 60
"""An example that is longer is a program."""

SECONDS_MAX: Final = 60
"""A script that takes longer hangs."""


def asked(chat: Chat, words: str) -> str:
    """What the chat says to these words."""
    question = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": words}]}
    with TestClient(chat.app) as client:
        return client.post("/api/chat", json={"id": "c1", "message": question}).text


def chat_of(name: str, monkeypatch: pytest.MonkeyPatch) -> Chat:
    """The agent of an example, in a chat."""
    monkeypatch.delenv("MODEL", raising=False)
    return Chat(runpy.run_path(str(EXAMPLES / name))["agent"], store="memory")


def printed_by(name: str, **environment: str) -> list[str]:
    """What a script prints."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=True,
    )
    return done.stdout.splitlines()


def test_an_agent_of_ones_own_thinks_calls_tools_and_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    said = asked(chat_of("custom_agent.py", monkeypatch), "owls")
    assert '"delta":"This is question 1."' in said
    assert said.count('"type":"tool-output-available"') == 2
    assert '"delta":"There are pages about owls."' in said


def test_an_agent_of_pydantic_ai_asks_before_it_gives_a_book_away(monkeypatch: pytest.MonkeyPatch) -> None:
    said = asked(chat_of("pydantic_agent.py", monkeypatch), "Give one away.")
    assert '"output":["Ulysses","Emma"]' in said
    assert '"type":"tool-approval-request"' in said
    assert "is gone" not in said


def test_a_graph_of_langgraph_looks_up_and_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    said = asked(chat_of("langgraph_agent.py", monkeypatch), "When does it open?")
    assert "opening hours" in said
    deltas: list[Any] = re.findall(r'"type":"text-delta".*?"delta":"(.*?)"', said)
    assert "".join(deltas) == "It opens at nine."


def test_claude_code_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chat_of("claude_agent.py", monkeypatch).backend.agent.name == "claude-code"


def test_ones_own_tables_are_joined_with_ours(postgres: Databases) -> None:
    url = postgres.fresh()
    assert printed_by("own_tables.py", DATABASE_URL=url) == ["plan free: conversations=1, messages=2"]
    assert printed_by("own_tables.py", DATABASE_URL=url) == ["plan free: conversations=1, messages=2"]


def test_a_turn_is_told_again_and_told_otherwise() -> None:
    assert printed_by("replaying.py") == ["sent: well met ", "anew: WELL! MET! "]


def test_the_notebook_prints_what_it_shows() -> None:
    notebook: dict[str, Any] = json.loads((EXAMPLES / "replaying.ipynb").read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {"__name__": "__main__"}

    async def run() -> list[str]:
        printed: list[str] = []
        for cell in cells:
            said = io.StringIO()
            source = compile("".join(cell["source"]), "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            with contextlib.redirect_stdout(said):
                waiting = eval(source, names)
                if waiting is not None:
                    await waiting
            printed.append(said.getvalue())
        return printed

    shown = ["".join(text for output in cell["outputs"] for text in output["text"]) for cell in cells]
    assert asyncio.run(run()) == shown


def test_every_example_is_on_the_page_and_short() -> None:
    page = (EXAMPLES / "README.md").read_text("utf-8")
    for path in (*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*.ipynb"), *EXAMPLES.glob("*/*.py")):
        assert f"]({path.relative_to(EXAMPLES)})" in page
    for path in EXAMPLES.glob("*.py"):
        assert len(path.read_text("utf-8").splitlines()) <= LINES_MAX, path.name
