"""Running the filters as a shell does."""

from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple


class Ran(NamedTuple):
    """What a filter said, and how it ended."""

    code: int
    out: str
    err: str


def run(*arguments: str, given: str | bytes = b"", seconds: float = 60) -> Ran:
    """Run `rejoinder` with these arguments and this standard input. It has to end by itself."""
    ran = subprocess.run(
        [sys.executable, "-m", "rejoinder", *arguments],
        input=given.encode("utf-8", "surrogatepass") if isinstance(given, str) else given,
        capture_output=True,
        timeout=seconds,
        check=False,
    )
    return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())
