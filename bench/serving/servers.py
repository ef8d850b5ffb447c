"""The servers that are compared: how each is started, and what it has consumed since."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple

from bench.serving.ours import STORE
from rejoinder.testing.oracle import find_node

ROOT: Final = Path(__file__).resolve().parents[2]
MODULES: Final = ROOT / "tests" / "oracle" / "node_modules"

START_SECONDS_MAX: Final = 120.0
TICKS: Final = os.sysconf("SC_CLK_TCK")


class Contender(NamedTuple):
    """One of those that are compared. `store` is what ours keeps its turns in."""

    name: str
    command: tuple[str, ...]
    store: str | None = None


def contenders(database: str) -> list[Contender]:
    """All of them. `{port}` stands for where it is to listen."""
    python = sys.executable
    granian = (python, "-m", "rejoinder", "serve", "--agent", "bench.serving.ours:CHAT", "--port", "{port}")
    uvicorn = (python, "-m", "uvicorn", "--port", "{port}", "--log-level", "error", "--no-access-log")
    node = str(find_node())
    scripts = {name: str(Path(__file__).with_name(name)) for name in ("node_chat.mjs", "node.mjs")}
    return [
        Contender("memory, granian", granian, "memory"),
        Contender("memory, uvicorn", (*uvicorn, "bench.serving.ours:APP"), "memory"),
        Contender("D2, granian", granian, database),
        Contender("D2, uvicorn", (*uvicorn, "bench.serving.ours:APP"), database),
        Contender("Node, ai@7, a chat", (node, scripts["node_chat.mjs"], str(MODULES), "{port}")),
        Contender("Node, ai@7, chunks", (node, scripts["node.mjs"], str(MODULES), "{port}")),
        Contender("Pydantic AI, uvicorn", (*uvicorn, "bench.serving.pydantic_ai:APP")),
    ]


class Server:
    """A server that runs: a process, and those that it has started."""

    def __init__(self, pid: int, port: int) -> None:
        self.pid = pid
        self.port = port

    def cpu_seconds(self) -> float:
        """Of all its processes."""
        return sum(cpu_seconds(pid) for pid in family(self.pid))

    def resident_kib(self) -> int:
        """Of all its processes."""
        return sum(_resident_kib(pid) for pid in family(self.pid))


def family(pid: int) -> Iterator[int]:
    """A process and all that come of it."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                yield from family(int(child))


def cpu_seconds(pid: int) -> float:
    """What a process has consumed of processors, in its own code and in the kernel."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(told[11]) + int(told[12])) / TICKS


def _resident_kib(pid: int) -> int:
    try:
        told = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in told.splitlines() if line.startswith("VmRSS:")), 0)


@contextlib.contextmanager
def serving(contender: Contender) -> Generator[Server]:
    """The server, once it listens. It is gone at the end."""
    with socket.create_server(("127.0.0.1", 0)) as trial:
        port: int = trial.getsockname()[1]
    command = [part.format(port=port) for part in contender.command]
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    environment = os.environ | {
        "PYTHONPATH": path,
        STORE: contender.store or "memory",
        "NODE_ENV": "production",
    }
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=said, stderr=said)
        try:
            _wait(process, port, said)
            yield Server(process.pid, port)
        finally:
            pids = [*family(process.pid)]
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, said: IO[bytes]) -> None:
    until = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as line:
            line.settimeout(START_SECONDS_MAX)
            line.sendall(
                b"GET /api/healthz HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
            return
        time.sleep(0.05)
    said.seek(0)
    raise RuntimeError(f"{process.args!r} does not listen:\n{said.read().decode()}")
