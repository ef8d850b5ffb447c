"""`make bench`: run every program of bench/, in the order of their names and one at a time."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from scripts import oracle

ROOT: Final = Path(__file__).resolve().parent.parent


def main() -> None:
    """Run them all; leave with 1 if one of them failed."""
    environment = dict(os.environ)
    try:
        node = oracle.install()
        environment = node.environment()
        print(f"Peers from npm run with {node.origin}.", flush=True)
    except oracle.NotInstalled as problem:
        print(f"!! Without the npm packages there is nobody to compare with: {problem}", flush=True)
    programs = sorted((ROOT / "bench").glob("*.py"))
    if not programs:
        print("There is no benchmark yet: bench/ is empty.")
    failed: list[str] = []
    for program in programs:
        print(f"\n== {program.relative_to(ROOT)}", flush=True)
        if (
            subprocess.run([sys.executable, str(program)], cwd=ROOT, env=environment, check=False).returncode
            != 0
        ):
            failed.append(program.name)
    if failed:
        sys.exit(f"\nFAILED: {', '.join(failed)}")


if __name__ == "__main__":
    main()
