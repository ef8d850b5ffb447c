"""How hard a test tries, and what it has to do without on this machine."""

import os
from typing import Final

LACKS: Final = "REJOINDER_LACKS"
"""Environment variable: fixtures that cannot be had here. Tests that ask for one are left out, and `make test` says so
at its end."""


def scale(ci: int, nightly: int) -> int:
    """Give the number of cases to generate in this run: a few on every commit, many at night (`make nightly`)."""
    return nightly if os.environ.get("REJOINDER_NIGHTLY") else ci


def lacking() -> frozenset[str]:
    """The fixtures that cannot be had."""
    return frozenset(os.environ.get(LACKS, "").split())
