"""What a process holds, as the kernel counts it, and what its database holds for it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import psycopg


class Held(NamedTuple):
    """At one moment. The kernel knows no tasks of ours: an open descriptor or connection stands for each that leaks."""

    resident_kib: int
    descriptors: int
    threads: int
    sessions: int


def held(pid: int, database: str) -> Held:
    """Of a process, and of its database."""
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line
    )
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        ).fetchone()
    assert found is not None
    return Held(
        resident_kib=int(status["VmRSS"].split()[0]),
        descriptors=sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()),
        threads=int(status["Threads"]),
        sessions=int(found[0]),
    )
