"""Serving an application on a port of its own, in a thread, for clients that are real."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from rejoinder import Chat
from tests.server.agents import AGENT

START_SECONDS_MAX = 60


@contextlib.contextmanager
def serving(app: Any) -> Generator[str]:
    """The address of the application."""
    config = uvicorn.Config(
        app, port=0, ws="websockets-sansio", log_level="error", timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    started = threading.Event()
    while not server.started and thread.is_alive():
        started.wait(0.005)
    assert server.started, "the application did not start"
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive(), "the server did not end"


@contextlib.contextmanager
def chatting(chat: Chat | None = None) -> Generator[str]:
    """The address of a chat's API, in memory if nobody says otherwise."""
    with serving((chat or Chat(AGENT, store="memory")).app) as address:
        yield address + "/api"


@contextlib.contextmanager
def started(*arguments: str, folder: Path, says: str = r"Open (http://\S+)") -> Generator[str]:
    """What a command says once it is ready: of a server, its address. It must end by itself when it is asked to."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rejoinder", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    patience = threading.Timer(START_SECONDS_MAX, process.kill)
    patience.start()
    try:
        said: list[str] = []
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            found = re.search(says, line)
            if found:
                break
        else:
            pytest.fail("it never answered:\n" + "".join(said))
        yield found[1]
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
        assert process.wait() == 0, rest
        # A stream that is broken on purpose is told to the server as an exception, which logs it.
        assert rest.count("Traceback") == rest.count("StreamBroken: ")
        assert "panicked" not in rest
    finally:
        patience.cancel()
        process.kill()
        process.communicate()
