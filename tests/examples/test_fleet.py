"""The fleet on one machine: started with its one command, used through nginx, and ended."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.stores.databases import Databases

EXAMPLES: Final = Path(__file__).resolve().parents[2] / "examples"
SECONDS_MAX: Final = 120


@pytest.fixture
def fleet(postgres: Databases, nginx: str) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
    path = os.pathsep.join((str(Path(nginx).parent), os.environ["PATH"]))
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLES / "fleet" / "run.py")],
        env={**os.environ, "PATH": path, "PORT": port, "DATABASE_URL": postgres.fresh()},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert any("Open" in line for line in process.stdout)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 0


def test_a_fleet_behind_nginx_answers_and_any_process_tells_it_again(fleet: str) -> None:
    question = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "owls"}]}
    with httpx.Client(base_url=fleet, timeout=SECONDS_MAX) as client:
        said = client.post("/api/chat", json={"id": "c1", "message": question}).raise_for_status()
        assert '"delta":"There are pages about owls."' in said.text
        assert said.text.endswith("data: [DONE]\n\n")
        # nginx asks one after the other, so these are answered by both.
        again = {client.post("/api/chat", json={"id": "c1", "message": question}).text for _ in range(4)}
        assert again == {said.text}
        shown = {client.get("/api/chat/c1").text for _ in range(4)}
        assert len(shown) == 1
        (turn,) = client.get("/api/chat/c1/turns").json()["turns"]
    assert turn["status"] == "succeeded"
