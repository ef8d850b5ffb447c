"""The `rejoinder` command. The filters read standard input and write standard output, one JSON a line.

Exit 0, or 1 with one clear line per problem on standard error, or 2 for wrong use.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from rejoinder.errors import RejoinderError

EXTRAS: Final = {
    "alembic": "postgres",
    "granian": "serve",
    "pyarrow": "parquet",
    "opentelemetry": "telemetry",
    "procrastinate": "worker",
    "prometheus_client": "metrics",
    "psycopg": "postgres",
    "psycopg_pool": "postgres",
    "sqlalchemy": "postgres",
}
"""Which extra of ours brings a package that a command needs."""


def main() -> None:
    """Run the command line, and end with its exit code. No input ends in a traceback."""
    try:
        _have_streams()
        from rejoinder.cli.app import app

        app()
    except RejoinderError as error:
        _fail(str(error))
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        _fail(f"this needs {error.name}, which is not installed: pip install 'rejoinder[{extra}]'")
    except BrokenPipeError:
        # Whoever read us has seen enough (`| head`). Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except (MemoryError, RecursionError) as error:
        _fail(f"the input is too large or too deeply nested to work on ({type(error).__name__})")
    except OSError as error:
        _fail(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _have_streams() -> None:
    """Put something in the place of every standard stream that is closed (`rejoinder fold <&-`).

    Python has no object for it, and whatever reads or writes it would end in a traceback. Closed input is empty
    input; a closed output is told, if there is anybody to tell.
    """
    nowhere = Path(os.devnull)
    if sys.stderr is None:
        sys.stderr = nowhere.open("w", encoding="utf-8")
    if sys.stdout is None:
        _fail("standard output is closed: there is nowhere to write to")
    if sys.stdin is None:
        sys.stdin = nowhere.open(encoding="utf-8")


def _fail(message: str) -> None:
    print(message, file=sys.stderr)
    raise SystemExit(1)
