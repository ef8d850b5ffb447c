"""The first ten minutes, followed to the letter: the file is written, the server started, each command given."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.docs.blocks import blocks

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = list(blocks((ROOT / "docs" / "start.md").read_text("utf-8")))
SHELL: Final = [block.text for block in PAGE if block.language == "sh"]
SHOWN_ADDRESS: Final = "http://127.0.0.1:8000"
SECONDS_MAX: Final = 120


@pytest.fixture
def around(tmp_path: Path) -> dict[str, str]:
    """An empty folder with the programs under test on the path, and a database of its own."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    kept = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return {**kept, "PATH": path, "REJOINDER_HOME": str(tmp_path / "home"), "NO_COLOR": "1"}


@pytest.fixture
def address(tmp_path: Path, around: dict[str, str]) -> Iterator[str]:
    """What `rejoinder serve` says, as the page starts it: it takes another port if that one is taken."""
    (agent,) = [block.text for block in PAGE if block.language == "python" and block.no_run is None]
    (tmp_path / "my_agents.py").write_text(agent, "utf-8")
    (command,) = [text for text in SHELL if text.startswith("rejoinder serve")]
    server = subprocess.Popen(
        ["sh", "-c", f"exec {command}"], cwd=tmp_path, env=around, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        yield next(
            found[0] for line in server.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+", line))
        )
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=SECONDS_MAX)
        subprocess.run(["rejoinder", "db", "stop"], env=around, check=True, capture_output=True)


def test_the_first_ten_minutes_are_as_the_page_says(
    tmp_path: Path, around: dict[str, str], address: str
) -> None:
    def told(command: str) -> str:
        done = subprocess.run(
            ["sh", "-ec", command.replace(SHOWN_ADDRESS, address)],
            cwd=tmp_path,
            env=around,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=True,
        )
        return done.stdout

    (ask,) = [text for text in SHELL if "-d '" in text]
    first = told(ask)
    assert '"delta":"HELLO "' in first
    assert '"delta":"THERE "' in first
    assert told(ask) == first

    shown, replayed, checked = (told(line) for line in SHELL[-1].splitlines())
    assert '"text":"HELLO THERE "' in shown
    assert "HELLO " in replayed
    assert checked == "1 turns checked, 0 differ\n"


def test_what_the_page_installs_are_extras_that_there_are() -> None:
    extras = set(re.findall(r"^(\S+) = \[", (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE))
    text = (ROOT / "docs" / "start.md").read_text("utf-8")
    named = {name for group in re.findall(r"rejoinder\[([\w,-]+)\]", text) for name in group.split(",")}
    assert named
    assert named <= extras
