"""`make run`: a chat page with a model behind it, kept in a PostgreSQL, from nothing."""

import os
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).parent / "rejoinder"


def main() -> None:
    """Say what comes, and become `rejoinder demo`: Ctrl+C ends it, and all it has begun."""
    print("Starting Rejoinder: PostgreSQL, a model, and a page to chat on.", flush=True)
    os.execv(PROGRAM, [str(PROGRAM), "demo", *sys.argv[1:]])  # noqa: S606  # a shell would only stand between


if __name__ == "__main__":
    main()
