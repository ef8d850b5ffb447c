"""How long it takes, and how much memory, to check, export and import 100,000 messages: 200 MiB at most.

The database has turns of every vendor, made of the recorded runs, in a server of its own in a folder that is deleted
again. Each command is a process of its own, which says how much memory it had at most.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psycopg

from bench.rows import OURS, Row, tell
from rejoinder.stores.postgres import migrate
from rejoinder.stores.postgres.embedded import start, stop
from tests.offline.generated import generate
from tests.offline.measured import MEASURED

ROOT: Final = Path(__file__).resolve().parent.parent
MESSAGES: Final = 100_000
MIB_MAX: Final = 200


def rejoinder(url: str, *words: str) -> str:
    """Run a command, and print what it cost. Answers what it printed."""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *words],
        env={**os.environ, "DATABASE_URL": url, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - begun
    *told, kib = done.stderr.splitlines()
    mib = int(kib) / 1024
    over = "  TOO MUCH" if mib > MIB_MAX else ""
    shown = " ".join("FOLDER" if "/" in word else word for word in words)
    print(f"  {seconds:7.1f} s {mib:6.0f} MiB{over}  rejoinder {shown}: {done.stdout.strip()}", flush=True)
    name = f"`rejoinder {shown.replace(' FOLDER', '')}`"
    tell(
        Row(table="Time of a command over 100,000 messages", line=name, who=OURS, value=seconds, unit="s"),
        Row(
            table="Most memory of a command over 100,000 messages", line=name, who=OURS, value=mib, unit="MiB"
        ),
    )
    for line in told[:10]:
        print(f"    {line}")
    if done.returncode != 0:
        raise SystemExit(1)
    return done.stdout.strip()


def main() -> None:
    """Fill a database, work on it, and fill another one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=MESSAGES, help="how many messages there shall be")
    given = parser.parse_args()
    logging.disable(logging.WARNING)  # recorded runs that are cut off have much to warn of
    folder = Path(tempfile.mkdtemp(prefix="rj-"))
    folder.chmod(0o755)
    try:
        url = start(folder).url
        other = url.replace("/postgres?", "/other?", 1)
        migrate.upgrade(url)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE other")
            begun = time.perf_counter()
            generate(url, given.messages)
            row = connection.execute(
                "SELECT count(*), pg_size_pretty(pg_database_size('postgres')) FROM rejoinder.message"
            ).fetchone()
            assert row is not None
        print(f"  {time.perf_counter() - begun:7.1f} s             to make {row[0]:,} messages, {row[1]}")
        rejoinder(url, "replay", "--check")
        rejoinder(url, "export", str(folder / "export"))
        rejoinder(url, "export", str(folder / "tables"), "--format", "parquet")
        migrate.upgrade(other)
        rejoinder(other, "import", "--from", "rejoinder", str(folder / "export"))
        digests = {rejoinder(each, "export", "--digest") for each in (url, other)}
        listed = json.loads((folder / "export" / "export.json").read_text("utf-8"))
        rows = sum(file["rows"] for file in listed["tables"].values())
        print(f"{rows:,} rows; the digests are {'equal' if len(digests) == 1 else 'NOT EQUAL'}")
        if len(digests) != 1:
            raise SystemExit(1)
    finally:
        stop(folder)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
