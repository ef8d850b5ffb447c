"""The floors hold: no cycles between files, and each import contract fails when it is broken."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import combinations, pairwise
from pathlib import Path
from typing import Final

import pytest

from tests.house.sources import PACKAGE, PURE, ROOT, import_graph

FLOORS: Final = (
    ("errors",),
    ("messages", "wire"),
    ("fold", "convert", "translate", "history"),
    ("ports",),
    ("stores", "agents"),
    ("engine",),
    ("live", "offline", "testing"),
    ("chat", "core"),
    ("server",),
    ("cli",),
)
"""The house, ground floor first, said once more so that a contract cannot be loosened unnoticed."""

CLIMBING: Final = [(low, high) for below, above in pairwise(FLOORS) for low in below for high in above]
SIBLINGS: Final = [
    pair for floor in FLOORS for one, two in combinations(floor, 2) for pair in ((one, two), (two, one))
]
INPUT_OUTPUT: Final = (
    "asyncio",
    "datetime",
    "logging",
    "os",
    "random",
    "socket",
    "subprocess",
    "time",
    "uuid",
)
HANDS: Final = ("engine", "live", "offline")
"""Rooms that work with any store and any agent and therefore name none."""


def contracts() -> dict[str, list[str]]:
    """What pyproject.toml says about the rooms that must stay pure."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    purity = next(each for each in settings["tool"]["importlinter"]["contracts"] if each["id"] == "purity")
    return {"source": purity["source_modules"], "forbidden": purity["forbidden_modules"]}


def built(room: str) -> bool:
    return (PACKAGE / room).is_dir() or (PACKAGE / f"{room}.py").is_file()


def plant(package: Path, room: str, imports: Iterable[str]) -> None:
    """Add a file with these imports to a room, which is built first if it does not stand yet."""
    folder, module = package / room, package / f"{room}.py"
    folder.mkdir(exist_ok=True)
    if module.exists():
        module.rename(folder / "__init__.py")
    (folder / "__init__.py").touch()
    with (folder / "planted.py").open("a", encoding="utf-8") as file:
        file.writelines(f"import {name}\n" for name in imports)


def build(site: Path, planted: Mapping[str, Iterable[str]]) -> None:
    """Copy the package and its contracts, with every room standing and these imports planted."""
    shutil.copytree(PACKAGE, site / "rejoinder", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", site)
    for room in (room for floor in FLOORS for room in floor):
        plant(site / "rejoinder", room, planted.get(room, ()))


def lint(site: Path, contract: str) -> tuple[int, str]:
    """Check one contract in a copy; give exit code and report."""
    command = [
        str(Path(sys.executable).parent / "lint-imports"),
        "--no-cache",
        "--no-logo",
        "--contract",
        contract,
    ]
    # The report is wrapped to the width of the terminal; a wide one keeps each import in one line.
    around = {**os.environ, "COLUMNS": "400", "PYTHONPATH": ""}
    done = subprocess.run(command, cwd=site, env=around, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def report_of(
    planted: Iterable[tuple[str, str]], contract: str, tmp_path_factory: pytest.TempPathFactory
) -> str:
    gathered: dict[str, list[str]] = {}
    for room, name in planted:
        gathered.setdefault(room, []).append(name)
    site = tmp_path_factory.mktemp("house")
    build(site, gathered)
    code, report = lint(site, contract)
    assert code == 1, report
    return report


@pytest.fixture(scope="module")
def climbing(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The linter's report on a house in which every floor imports the one above it."""
    return report_of(
        ((low, f"rejoinder.{high}.planted") for low, high in CLIMBING), "floors", tmp_path_factory
    )


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The linter's report on a house in which every room imports all others on its floor."""
    return report_of(((one, f"rejoinder.{two}.planted") for one, two in SIBLINGS), "floors", tmp_path_factory)


@pytest.fixture(scope="module")
def impure(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The linter's report on a house in which every pure room does I/O."""
    return report_of(((room, name) for room in PURE for name in INPUT_OUTPUT), "purity", tmp_path_factory)


@pytest.mark.parametrize("contract", ["floors", "purity"])
def test_the_house_without_anything_planted_is_sound(contract: str, tmp_path: Path) -> None:
    build(tmp_path, {})
    code, report = lint(tmp_path, contract)
    assert code == 0, report


@pytest.mark.parametrize(("low", "high"), CLIMBING)
def test_an_import_that_climbs_breaks_the_contract(low: str, high: str, climbing: str) -> None:
    assert f"rejoinder.{low}.planted -> rejoinder.{high}.planted" in climbing


@pytest.mark.parametrize(("one", "two"), SIBLINGS)
def test_an_import_from_a_room_on_the_same_floor_breaks_the_contract(
    one: str, two: str, neighbours: str
) -> None:
    assert f"rejoinder.{one}.planted -> rejoinder.{two}.planted" in neighbours


@pytest.mark.parametrize("room", [room for room in PURE if built(room)])
@pytest.mark.parametrize("module", [module for module in INPUT_OUTPUT if module != "datetime"])
def test_an_import_that_does_input_or_output_breaks_the_contract(room: str, module: str, impure: str) -> None:
    assert f"rejoinder.{room}.planted -> {module} " in impure


def test_a_moment_is_a_value_so_its_type_is_welcome_everywhere(impure: str) -> None:
    assert "-> datetime" not in impure


def test_a_room_without_a_floor_breaks_the_contract(tmp_path: Path) -> None:
    build(tmp_path, {})
    plant(tmp_path / "rejoinder", "odds_and_ends", [])
    code, report = lint(tmp_path, "floors")
    assert code == 1
    assert "odds_and_ends" in report


def test_every_pure_room_that_stands_is_under_contract() -> None:
    assert contracts()["source"] == [f"rejoinder.{room}" for room in PURE if built(room)]


def test_the_rooms_that_work_with_any_store_and_agent_name_none() -> None:
    for module, targets in import_graph(PACKAGE).items():
        if module.split(".")[1:2] in [[room] for room in HANDS]:
            named = [each for each in targets if each.startswith(("rejoinder.stores", "rejoinder.agents"))]
            assert not named, f"{module} names {named}: take it as an argument, by its protocol in ports"


def test_no_files_import_each_other_in_a_circle() -> None:
    TopologicalSorter(import_graph(PACKAGE)).prepare()


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("from house.room import two", "from house.room.one import x"),
        ("from . import two", "from .one import x"),
        ("import house.room.two", "def late():\n    from house.room import one"),
    ],
)
def test_a_circle_is_found(tmp_path: Path, one: str, two: str) -> None:
    room = tmp_path / "house" / "room"
    room.mkdir(parents=True)
    for name, text in {"__init__": "", "one": one, "two": two}.items():
        (room / f"{name}.py").write_text(text, "utf-8")
    with pytest.raises(CycleError) as caught:
        TopologicalSorter(import_graph(tmp_path / "house")).prepare()
    assert set(caught.value.args[1]) == {"house.room.one", "house.room.two"}


def test_a_file_that_takes_from_its_own_rooms_front_door_closes_a_circle(tmp_path: Path) -> None:
    room = tmp_path / "house" / "room"
    room.mkdir(parents=True)
    (room / "__init__.py").write_text("from house.room.one import x", "utf-8")
    (room / "one.py").write_text("from house.room import x", "utf-8")
    with pytest.raises(CycleError):
        TopologicalSorter(import_graph(tmp_path / "house")).prepare()
