"""What a user gets: few distributions, a quick import, and a command."""

import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution, requires, version
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import rejoinder
from rejoinder.cli import EXTRAS
from tests.house.sources import PACKAGE, ROOT, committed_files

DISTRIBUTIONS_MAX: Final = 16
"""The core install stays small: everything else is an extra."""

HEAVY: Final = ("typer", "rich", "jsonschema_rs", "asyncio", "psycopg", "sqlalchemy", "starlette", "pydantic")
"""What `import rejoinder` must not load: it is imported where it is used."""


def brought_by(name: str) -> set[str]:
    """The distributions that installing this one without extras brings to this platform, itself included."""
    reached: set[str] = set()
    open_ends = [Requirement(name)]
    while open_ends:
        wanted = open_ends.pop()
        reached.add(canonicalize_name(wanted.name))
        for line in requires(wanted.name) or ():
            needed = Requirement(line)
            applies = needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in wanted.extras or {""}
            )
            if applies and canonicalize_name(needed.name) not in reached:
                open_ends.append(needed)
    return reached


def test_the_core_install_is_small() -> None:
    brought = brought_by("rejoinder")
    assert "msgspec" in brought
    assert len(brought) <= DISTRIBUTIONS_MAX, sorted(brought)


def test_importing_the_package_loads_nothing_heavy() -> None:
    program = f"import json, sys, rejoinder; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout) == []


def test_the_version_is_the_one_that_was_installed() -> None:
    assert rejoinder.__version__ == version("rejoinder")


class Built(NamedTuple):
    """What is published."""

    wheel: Path
    sdist: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Both, as a publisher builds them."""
    folder = tmp_path_factory.mktemp("built")
    program = f"import hatchling.build as b; b.build_wheel({str(folder)!r}); b.build_sdist({str(folder)!r})"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Built(wheel, sdist)


def of_the_package() -> set[str]:
    """Every committed file of the package, pages, queries and migrations among them."""
    return {f"rejoinder/{path.relative_to(PACKAGE)}" for path in committed_files() if PACKAGE in path.parents}


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(built: Built) -> None:
    names = set(zipfile.ZipFile(built.wheel).namelist())
    assert {name for name in names if ".dist-info/" not in name} == of_the_package()
    assert "rejoinder/py.typed" in names
    assert any(name.endswith("/pages/index.html") for name in names)
    assert any(name.startswith("rejoinder/stores/postgres/migrations/") for name in names)
    assert any(name.startswith("rejoinder/stores/postgres/queries/") for name in names)


def test_a_wheel_can_be_built_from_the_source_distribution(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in of_the_package()} <= names
    pages = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", *pages} <= names


class Alone(NamedTuple):
    """A place where the wheel is installed, and what it brings without extras; nothing else."""

    paths: tuple[Path, ...]
    folder: Path

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run the command there."""
        around = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
        around |= {"PYTHONPATH": os.pathsep.join(map(str, self.paths)), "NO_COLOR": "1", "COLUMNS": "120"}
        return subprocess.run(
            [sys.executable, "-S", "-m", "rejoinder", *words],
            cwd=self.folder,
            env=around,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture(scope="module")
def alone(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Alone:
    """The core install, made of links to what is installed here."""
    folder, packages, ours = (tmp_path_factory.mktemp(name) for name in ("alone", "packages", "ours"))
    zipfile.ZipFile(built.wheel).extractall(ours)
    for name in brought_by("rejoinder") - {"rejoinder"}:
        for path in tops_of(name):
            if not (packages / path.name).exists():
                (packages / path.name).symlink_to(path)
    (folder / "mine.py").write_text(
        "from rejoinder.testing.scripted import scripted\nagent = scripted('Hi.')\n", "utf-8"
    )
    return Alone((ours, packages), folder)


def tops_of(name: str) -> Iterator[Path]:
    """What a distribution has put beside other distributions."""
    installed = distribution(name)
    tops = {file.parts[0] for file in installed.files or () if file.parts[0] not in ("..", "__pycache__")}
    for top in sorted(tops):
        yield Path(str(installed.locate_file(top)))


def test_the_core_install_has_filters_and_help(alone: Alone) -> None:
    helped = alone.run("--help")
    assert (helped.returncode, helped.stderr) == (0, "")
    assert "fold" in helped.stdout
    chunks = [
        {"type": "start", "messageId": "a"},
        {"type": "text-start", "id": "1"},
        {"type": "text-delta", "id": "1", "delta": "Hi."},
        {"type": "text-end", "id": "1"},
        {"type": "finish"},
    ]
    folded = alone.run("fold", "--sdk", "7", stdin="\n".join(map(json.dumps, chunks)))
    assert folded.stderr == ""
    assert json.loads(folded.stdout)["parts"] == [{"type": "text", "text": "Hi.", "state": "done"}]


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("db", "upgrade", "--database", "postgresql://localhost/none"), "postgres"),
        (("stats", "--database", "postgresql://localhost/none"), "postgres"),
        (("serve", "--agent", "mine:agent", "--database", "postgresql://localhost/none"), "postgres"),
        (("serve", "--agent", "mine:agent", "--database", "memory", "--port", "0"), "serve"),
        (("worker", "--agent", "mine:agent"), "worker"),
    ],
)
def test_what_needs_an_extra_says_which(alone: Alone, words: tuple[str, ...], extra: str) -> None:
    done = alone.run(*words)
    assert done.returncode == 1
    assert f"pip install 'rejoinder[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_every_extra_that_is_named_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(EXTRAS.values()) <= set(project["optional-dependencies"])
