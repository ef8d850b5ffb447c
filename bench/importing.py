"""How long `import rejoinder` takes, beyond what Python itself takes to start: at most 150 ms."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.rows import OURS, Row, tell  # the path comes first

ROUNDS: Final = 15
MS_MAX: Final = 150
PROGRAMS: Final = (
    "pass",
    "import rejoinder",
    "from rejoinder import Chat",
    "from rejoinder.cli.app import app",
)


def milliseconds(program: str) -> float:
    """How long a new Python takes for a program."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return (time.perf_counter() - begun) * 1000


def main() -> None:
    """Measure all in turns, so that what else the machine does hits each of them."""
    taken: dict[str, list[float]] = {program: [] for program in PROGRAMS}
    for _ in range(ROUNDS):
        for program in PROGRAMS:
            taken[program].append(milliseconds(program))
    medians = {program: statistics.median(times) for program, times in taken.items()}
    for program in PROGRAMS[1:]:
        more = medians[program] - medians["pass"]
        tell(
            Row(
                table="Imports, beyond the start of Python",
                line=f"`{program}`",
                who=OURS,
                value=more,
                unit="ms",
            )
        )
        print(f"{medians[program] - medians['pass']:7.1f} ms  {program}")
    more = medians["import rejoinder"] - medians["pass"]
    print(f"import rejoinder: {more:.1f} ms of {MS_MAX} ms that it may take")


if __name__ == "__main__":
    main()
