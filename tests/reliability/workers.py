"""Handles for the processes that the tests kill."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import httpx

ROOT = Path(__file__).resolve().parents[2]


class Worker(NamedTuple):
    """One process, and where it listens."""

    pid: int
    url: str

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        os.kill(self.pid, how)


class Workers:
    """Processes over one database. A context manager: whoever is left at its end is killed."""

    def __init__(self, database: str) -> None:
        self._mother = subprocess.Popen(
            [sys.executable, "-m", "tests.reliability.worker", database],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self._begun: list[Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._begun:
            with contextlib.suppress(ProcessLookupError):  # it was killed before
                worker.kill()
        self._mother.kill()
        self._mother.communicate()

    def begin(self) -> Worker:
        """One more."""
        assert self._mother.stdin is not None
        assert self._mother.stdout is not None
        self._mother.stdin.write("begin\n")
        pid, port = self._mother.stdout.readline().split()
        worker = Worker(int(pid), f"http://127.0.0.1:{port}/api")
        self._begun.append(worker)
        return worker

    async def ready(self, http: httpx.AsyncClient) -> Worker:
        """One more, that answers."""
        worker = self.begin()
        while True:
            try:
                await http.get(f"{worker.url}/conversations?limit=1")
            except httpx.TransportError:
                await asyncio.sleep(0.01)
            else:
                return worker
