"""Processes for the tests of the embedded server: starters, strangers, and what a folder's server has open."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, Final

import psycopg

import rejoinder
from rejoinder.stores.postgres.embedded import Running

SOURCE: Final = str(Path(rejoinder.__file__).parents[1])
WAIT_SECONDS_MAX: Final = 60

STARTER: Final = """
import json, sys
from pathlib import Path
from rejoinder.stores.postgres.embedded import EmbeddedServerError, start
for folder in sys.stdin:
    try:
        running = start(Path(json.loads(folder)))
    except EmbeddedServerError as error:
        said = {"code": error.code, "text": str(error)}
    else:
        said = {"url": running.url, "pid": running.pid, "started_by_us": running.started_by_us}
    print(json.dumps(said), flush=True)
"""

NOBODY: Final = (
    *("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
    # May read what only root reads, because the interpreter may lie in root's home; may write nothing more.
    *("--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search", "--"),
)


def starter(folder: Path, *, prefix: tuple[str, ...] = (), **environment: str) -> subprocess.Popen[str]:
    """A process that starts the server of this folder, and again for every line that it is told."""
    process = subprocess.Popen(
        [*prefix, sys.executable, "-c", STARTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": SOURCE, "PYTHONDONTWRITEBYTECODE": "1"} | environment,
    )
    tell(process, folder)
    return process


def tell(process: subprocess.Popen[str], folder: Path) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(str(folder)) + "\n")
    process.stdin.flush()


def answer_of(process: subprocess.Popen[str]) -> Mapping[str, Any]:
    assert process.stdout is not None
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def heard(process: subprocess.Popen[str]) -> Mapping[str, Any]:
    """What a starter says, and no more: it ends."""
    said, _ = process.communicate(timeout=WAIT_SECONDS_MAX)
    assert process.returncode == 0
    answer: dict[str, Any] = json.loads(said)
    return answer


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_SECONDS_MAX
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


def files_of(pid: int) -> set[Path]:
    """The files that a process has open; none for one that is gone."""
    try:
        return {descriptor.readlink() for descriptor in Path(f"/proc/{pid}/fd").iterdir()}
    except OSError:
        return set()


def processes_of(folder: Path) -> list[int]:
    """Every process that has one of the folder's files open, a server and its orphans too."""
    pids = [int(process.name) for process in Path("/proc").iterdir() if process.name.isdecimal()]
    return [
        pid
        for pid in pids
        if pid != os.getpid() and any(path.is_relative_to(folder) for path in files_of(pid))
    ]


def remember(server: Running, word: str) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("create table if not exists memory (word text)")
        connection.execute("insert into memory values (%s)", [word])


def memory(address: str) -> list[str]:
    with psycopg.connect(address) as connection:
        return [word for (word,) in connection.execute("select word from memory order by word")]


def plant(folder: Path, pid: int) -> None:
    """Leave the files of a server that was killed and whose pid now belongs to another process."""
    lines = [str(pid), str(folder / "data"), "1", "5432", str(folder / "socket"), "", "1 1", "ready"]
    (folder / "data" / "postmaster.pid").write_text("\n".join(lines) + "\n")
    (folder / "socket" / ".s.PGSQL.5432.lock").write_text("\n".join(lines[:5]) + "\n")


@contextlib.contextmanager
def stranger() -> Generator[subprocess.Popen[bytes]]:
    """A living process that has nothing to do with any server."""
    with subprocess.Popen(["sleep", "600"]) as process:
        try:
            yield process
        finally:
            process.kill()
