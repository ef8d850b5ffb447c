"""`make lock`: pin what the project stands on in requirements/*.txt (`UPGRADE=1` renews every pin).

Each file holds exact versions and hashes for Python 3.11 and later on every platform, and no address: where
the files come from is the business of the machine that installs them.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
REQUIREMENTS: Final = ROOT / "requirements"
TOOL: Final = ROOT / "build" / "lock-venv"
OLDEST_PYTHON: Final = "3.11"


def locker() -> Path:
    """Give the resolver, installed in an environment of its own because nobody else needs it."""
    scripts = TOOL / ("Scripts" if os.name == "nt" else "bin")
    if not (scripts / "uv").exists():
        venv.create(TOOL, with_pip=True, clear=True)
        pinned = REQUIREMENTS / "lock.txt"
        what = ["--require-hashes", "-r", str(pinned)] if pinned.exists() else ["uv"]
        subprocess.run([str(scripts / "python"), "-m", "pip", "install", "-q", *what], check=True)
    return scripts / "uv"


def lock(tool: Path, name: str, what: list[str], *, upgrade: bool) -> None:
    """Resolve `what` into requirements/NAME.txt; pins that stand there stay unless `upgrade`."""
    target = REQUIREMENTS / f"{name}.txt"
    command = [str(tool), "pip", "compile", "-q", "--universal", "--python-version", OLDEST_PYTHON]
    command += ["--generate-hashes", "--no-header", "--no-annotate"]
    command += ["--no-emit-index-url", "--no-emit-find-links", "-o", str(target), *what]
    if upgrade:
        command.append("--upgrade")
    # The settings of this machine may steer the resolver, but they must not reach the file.
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    pins = sum(1 for line in target.read_text("utf-8").splitlines() if "==" in line)
    print(f"{target.relative_to(ROOT)}: {pins} distributions")


def main() -> None:
    """Write core.txt (what users install), test.txt (core, extras and all tools), bench.txt and lock.txt."""
    upgrade = "--upgrade" in sys.argv[1:]
    REQUIREMENTS.mkdir(exist_ok=True)
    tool = locker()
    lock(tool, "core", ["pyproject.toml"], upgrade=upgrade)
    # Tests run on the very versions that core.txt names, and with every extra.
    core = str(REQUIREMENTS / "core.txt")
    lock(tool, "test", ["pyproject.toml", "--all-extras", "--group", "test", "-c", core], upgrade=upgrade)
    bench = ["pyproject.toml", "--extra", "embedded", "--group", "bench"]
    lock(tool, "bench", bench, upgrade=upgrade)
    lock(tool, "lock", ["--group", "lock"], upgrade=upgrade)
    lock(tool, "weights", ["--group", "weights", "--no-deps"], upgrade=upgrade)


if __name__ == "__main__":
    main()
