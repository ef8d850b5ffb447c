"""`make test`: every check of the project, one after the other, and at the end what failed or could not run.

A failing step does not hide the next one. What could not be installed, and therefore was not checked, is
named last; with CI=true in the environment it counts as a failure, because there nobody reads a green page
to its end.
"""

import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from scripts import chromium, debian, oracle, web
from scripts.npm import NotInstalled
from tests.scale import LACKS

ROOT: Final = Path(__file__).resolve().parent.parent
PROGRAMS: Final = Path(sys.executable).parent
PROCESSES: Final = 2
"""Tests run in as many processes: the smallest machine that checks has two cores."""

TESTS: Final = "tests and docs"
FAILED: Final = ".pytest_cache/v/cache/lastfailed"
SECOND_LOOKS_MAX: Final = 3
"""So many tests that failed are run once more, alone. More than that is no coincidence."""


class Need(NamedTuple):
    """What some tests need beyond Python, and which tests these are."""

    what: str
    paths: tuple[str, ...] = ()
    fixtures: tuple[str, ...] = ()


NPM: Final = Need(
    "the tests that ask the npm packages `ai` 5, 6 and 7, or drive their clients",
    ("tests/oracle",),
    ("oracle", "clients"),
)
WEB: Final = Need(
    "building the web pages, and three clients (npm packages)",
    (
        *("tests/web/test_build.py", "tests/web/test_blocks.py"),
        *(f"tests/web/browser/test_{name}.py" for name in ("clients", "axe", "example")),
    ),
)
NGINX: Final = Need("the fleet behind nginx", fixtures=("nginx",))
CHROMIUM: Final = Need("the tests that click through the pages (Chromium)", ("tests/web/browser",))

T = TypeVar("T")


class Outcome(NamedTuple):
    """How a step went."""

    name: str
    passed: bool
    seconds: float


def run(name: str, command: list[str], environment: dict[str, str], *, folder: Path = ROOT) -> Outcome:
    """Run one step in the open and report how it went."""
    print(f"\n== {_titled(name, command)}", flush=True)
    begun = time.monotonic()
    code = subprocess.run(command, cwd=folder, env=environment, check=False).returncode
    return _told(Outcome(name, code == 0, time.monotonic() - begun), code)


def run_together(commands: dict[str, list[str]], environment: dict[str, str]) -> list[Outcome]:
    """Run steps that use one core each at the same time, and show what each said when it is done."""
    print(f"\n== At the same time: {', '.join(commands)}", flush=True)
    begun = time.monotonic()

    def quietly(name: str) -> tuple[str, subprocess.CompletedProcess[str], float]:
        done = subprocess.run(
            commands[name],
            cwd=ROOT,
            env=environment,
            check=False,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return name, done, time.monotonic() - begun

    outcomes: list[Outcome] = []
    with ThreadPoolExecutor() as threads:
        for finished in as_completed([threads.submit(quietly, name) for name in commands]):
            name, done, seconds = finished.result()
            print(f"\n== {_titled(name, commands[name])}\n{done.stdout.rstrip()}", flush=True)
            outcomes.append(_told(Outcome(name, done.returncode == 0, seconds), done.returncode))
    return outcomes


def _titled(name: str, command: list[str]) -> str:
    return f"{name}: {' '.join([Path(command[0]).name, *command[1:]])}"


def _told(outcome: Outcome, code: int) -> Outcome:
    print(f"   {'ok' if outcome.passed else f'FAILED (exit {code})'}, {outcome.seconds:.1f} s", flush=True)
    return outcome


def steps(without: Sequence[Need]) -> list[dict[str, list[str]]]:
    """Name each step and its command, in groups that run together; the tests leave out what cannot run."""
    code = [name for name in ("src", "tests", "scripts", "bench", "examples") if (ROOT / name).is_dir()]
    left_out = [f"--ignore={path}" for need in without for path in need.paths]
    # A file's tests stay together, because they share what was started for them.
    spread = ["-n", str(PROCESSES), "--dist", "loadfile"]

    def program(name: str, *arguments: str) -> list[str]:
        return [str(PROGRAMS / name), *arguments]

    return [
        {"format": program("ruff", "format", "--check", *code)},
        {"lint": program("ruff", "check", *code)},
        {"floors": program("lint-imports", "--no-logo")},
        {
            "types (mypy)": program("mypy", *code),
            "types (basedpyright)": program("basedpyright", *code),
        },
        {TESTS: program("pytest", "-q", *spread, "--durations=12", *left_out)},
    ]


def second_look(
    first: Outcome, environment: dict[str, str], *, folder: Path = ROOT
) -> tuple[Outcome, list[str]]:
    """Run what failed once more with nothing beside it, and name it: it is to be mended even if it passes now.

    Processes that are killed, disks that are full and browsers take their time on a machine that is busy with the rest
    of the tests. The nightly run takes no excuses.
    """
    kept = folder / FAILED
    failed: list[str] = sorted(json.loads(kept.read_bytes())) if kept.exists() else []
    if first.passed or not 0 < len(failed) <= SECOND_LOOKS_MAX or environment.get("REJOINDER_NIGHTLY"):
        return first, []
    command = [str(PROGRAMS / "pytest"), "-q", *failed]
    second = run(f"{TESTS}, a second look", command, environment, folder=folder)
    return second._replace(seconds=first.seconds + second.seconds), failed


def main() -> None:
    """Run everything, sum up, and leave with 1 if anything failed."""
    print(
        "Checking Rejoinder" + (", the nightly way" if os.environ.get("REJOINDER_NIGHTLY") else ""),
        flush=True,
    )
    missing: dict[Need, str] = {}
    environment = dict(os.environ)

    def have(need: Need, install: Callable[[], T]) -> T | None:
        print(f"\n== Preparing {need.what}", flush=True)
        begun = time.monotonic()
        try:
            got = install()
        except (NotInstalled, debian.NotThere) as problem:
            missing[need] = str(problem)
            print(f"   not installed, {time.monotonic() - begun:.1f} s", flush=True)
            return None
        print(f"   ok, {getattr(got, 'origin', got)}, {time.monotonic() - begun:.1f} s", flush=True)
        return got

    node = have(NPM, oracle.install)
    have(WEB, web.install)
    have(CHROMIUM, chromium.install)
    have(NGINX, debian.nginx)
    if node is not None:
        # Tests that look for `node` on PATH get the one that was chosen here.
        environment = node.environment()
    environment[LACKS] = " ".join(name for need in missing for name in need.fixtures)

    outcomes: list[Outcome] = []
    (ROOT / FAILED).unlink(missing_ok=True)
    for group in steps(tuple(missing)):
        if len(group) > 1:
            outcomes += run_together(group, environment)
        else:
            outcomes += [run(name, command, environment) for name, command in group.items()]
    outcomes[-1], doubtful = second_look(outcomes[-1], environment)

    print("\n== Summary")
    for outcome in outcomes:
        print(f"   {'ok    ' if outcome.passed else 'FAILED'} {outcome.name} ({outcome.seconds:.1f} s)")
    for test in doubtful if outcomes[-1].passed else ():
        print(f"\n!! PASSED ONLY WHEN RUN ALONE, and is to be mended: {test}")
    for need, why in missing.items():
        print(f"\n!! NOT RUN: {need.what}\n{textwrap.indent(why, '   ')}")
    strict = os.environ.get("CI") == "true"
    if missing and strict:
        print("\nCI checks everything or fails.")
    sys.exit(int(not all(outcome.passed for outcome in outcomes) or bool(missing and strict)))


if __name__ == "__main__":
    main()
