"""`make bench`: run the programs of bench/ one at a time, and write docs/benchmarks.md of what they tell.

`make bench ONLY=fold` runs one of them, and the others keep what they told before; WORDS="--most 1000" calls it
otherwise. `make bench QUICK=1` runs all with little to do, to see whether they work, and writes into build/bench.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from bench.results import Measured, Results, page
from bench.rows import FILE_VARIABLE, Row
from bench.store import HOME
from scripts import oracle

ROOT: Final = Path(__file__).resolve().parent.parent
KEPT: Final = ROOT / "docs" / "benchmarks.json"

SECONDS_MAX: Final = 3_600.0
"""A run that takes longer is broken off."""

LEAVE_SECONDS: Final = 30
"""A run that is broken off may take so long to end its servers."""

VERSIONS: Final = ("rejoinder", "msgspec", "psycopg", "starlette", "granian", "uvicorn", "pydantic-ai-slim")


class Bench(NamedTuple):
    """A program of bench/, how it is called for the page, and how when it only shall show that it works."""

    name: str
    runs: tuple[str, ...]
    quick: tuple[str, ...]


BENCHES: Final = (
    Bench("fold", ("",), ("--most 1000",)),
    Bench("convert", ("",), ("--messages 20 --rounds 1",)),
    Bench(
        "serve",
        (
            # Of few streams, more words: what is measured is counted in hundredths of a second.
            "--streams 1 --words 20000 --pause 1 --held 100 --late 1",
            "--streams 10 --words 2000 --pause 5 --held 100 --late 10",
            "--streams 100 --words 400 --held 1000",
            "--streams 1000 --held 1000",
        ),
        ("--streams 2 --words 5 --held 2 --late 2",),
    ),
    Bench("store", ("",), ("--rounds 5 --most 10 --seconds 0.2",)),
    Bench("importing", ("",), ("",)),
    Bench("web", ("",), ("--messages 20",)),
    Bench("offline", ("",), ("--messages 200",)),
    Bench("analytics", ("",), ("--parts 10000 --rounds 1",)),
    Bench("compress", ("",), ("--deltas 10 --answers 1",)),
)
"""All of them, in the order of the page. What they measure they `tell` in rows: bench/rows.py."""


def run(
    bench: Bench, *, quick: bool, environment: Mapping[str, str], seconds_max: float
) -> tuple[Measured, list[str]]:
    """Run one, and read what it told; and which of its commands failed. What those told until then counts, too."""
    commands = [f"bench/{bench.name}.py {words}".rstrip() for words in (bench.quick if quick else bench.runs)]
    before, failed = os.getloadavg()[0], list[str]()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows"
        file.touch()
        for command in commands:
            print(f"\n== {command}", flush=True)
            around = {**environment, FILE_VARIABLE: str(file)}
            if (problem := ended(command.split(), around, seconds_max)) is not None:
                print(f"!! {problem}", flush=True)
                failed.append(command)
        rows = [msgspec.json.decode(line, type=Row) for line in file.read_bytes().splitlines()]
    load = f"the load of the machine was {before:.1f} before and {os.getloadavg()[0]:.1f} after it"
    day = dt.datetime.now(dt.UTC).date().isoformat()
    shown = [f".venv/bin/python {each}" + "    # broken off" * (each in failed) for each in commands]
    return Measured(day=day, commands=shown, load=load, rows=rows), failed


def ended(words: list[str], environment: dict[str, str], seconds_max: float) -> str | None:
    """Run a program to its end, with all that it starts, and say what went wrong; None if nothing did."""
    process = subprocess.Popen([sys.executable, *words], cwd=ROOT, env=environment, start_new_session=True)
    try:
        code = process.wait(seconds_max)
    except subprocess.TimeoutExpired:
        code = None
    except BaseException:
        os.killpg(process.pid, signal.SIGINT)
        raise
    if code is None:
        # As Ctrl+C does, so that it can end what it began.
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        return f"not over after {seconds_max:g} seconds"
    return f"exit {code}" if code else None


def machine() -> dict[str, str]:
    """Where this is."""
    cpu = Path("/proc/cpuinfo")
    models = [
        line.partition(":")[2]
        for line in cpu.read_text("utf-8").splitlines()
        if line.startswith("model name")
    ]
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return {
        "processors": f"{os.cpu_count()} of {models[0].strip() if models else platform.machine()}",
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
    }


def versions(node: str) -> dict[str, str]:
    """Of us, of what we stand on, and of the peers."""
    found = {"Python": platform.python_version(), "Node": node}
    for name in VERSIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    packages = ROOT / "tests" / "oracle" / "node_modules" / "ai7" / "package.json"
    if packages.exists():
        found["ai"] = str(msgspec.json.decode(packages.read_bytes())["version"])
    for line in (ROOT / "requirements" / "bench.txt").read_text("utf-8").splitlines():
        name, equals, pin = line.partition("==")
        if equals and name in (
            "asyncpg",
            "google-adk",
            "langgraph-checkpoint-postgres",
            "openai-agents",
            "sqlalchemy",
        ):
            found[name] = pin.split()[0]
    return found


def write(results: Results, folder: Path) -> None:
    """The numbers, the page, and its plots."""
    pictures = folder / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    kept = folder / "benchmarks.json"
    kept.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
    (folder / "benchmarks.md").write_text(page(results), "utf-8")
    python = HOME / "bin" / "python"
    if python.exists():
        for old in pictures.glob("bench-*.svg"):
            old.unlink()
        path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
        command = [str(python), "bench/plots.py", str(kept), str(pictures)]
        subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": path}, check=True)
    print(f"\nwritten: {(folder / 'benchmarks.md').relative_to(ROOT)}")


def main() -> None:
    """Run, write, and leave with 1 if one of them failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="the names of some of them, with commas")
    parser.add_argument("--quick", action="store_true", help="little to do, and nothing written into docs")
    parser.add_argument("--words", help="what to call them with instead, run by run, with semicolons between")
    parser.add_argument("--seconds-max", type=float, default=SECONDS_MAX, help="how long one run may take")
    given = parser.parse_args()
    words = None if given.words is None else tuple(map(str.strip, given.words.split(";")))
    wanted = [
        bench if words is None else bench._replace(runs=words)
        for bench in BENCHES
        if not given.only or bench.name in given.only.split(",")
    ]
    environment, node = dict(os.environ), "none"
    try:
        found = oracle.install()
        environment, node = dict(found.environment()), found.origin
    except oracle.NotInstalled as problem:
        print(f"!! Without the npm packages some peers are missing: {problem}", flush=True)
    kept = (
        msgspec.json.decode(KEPT.read_bytes(), type=Results)
        if KEPT.exists() and not given.quick
        else Results()
    )
    measured, failed = dict(kept.benches), list[str]()
    for bench in wanted:
        told, broken = run(bench, quick=given.quick, environment=environment, seconds_max=given.seconds_max)
        failed += broken
        if told.rows:
            measured[bench.name] = told
    ordered = {bench.name: measured[bench.name] for bench in BENCHES if bench.name in measured}
    results = Results(machine=machine(), versions=versions(node), benches=ordered)
    write(results, ROOT / "build" / "bench" if given.quick else ROOT / "docs")
    if failed:
        sys.exit(f"FAILED: {', '.join(failed)}")


if __name__ == "__main__":
    main()
