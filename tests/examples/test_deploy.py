"""The files for running it elsewhere call commands that there are, with options that they have."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from scripts.docs_source import commands

PROGRAMS: Final = Path(sys.executable).parent
ROOT: Final = Path(__file__).resolve().parents[2]
FILES: Final = ("Dockerfile", "compose.yaml", "rejoinder.service")


def called() -> Iterator[list[str]]:
    """Every call of `rejoinder` in these files, as its words."""
    for name in FILES:
        text = (ROOT / "deploy" / name).read_text("utf-8")
        # As a list (Dockerfile, compose) or as a line (systemd).
        for found in re.finditer(r"\[\"?rejoinder\"?, ([^\]]+)\]|bin/rejoinder (.+)", text):
            yield re.split(r"[\s,\"]+", (found[1] or found[2]).strip('"'))


def test_the_files_for_running_it_call_commands_and_options_that_there_are() -> None:
    calls = list(called())
    assert len(calls) == 6, calls
    known = commands()
    for words in calls:
        name = next(name for name in (" ".join(words[:2]), words[0]) if name in known)
        options = {each for option in known[name].options for each in option.names}
        assert {word for word in words if word.startswith("--")} <= options, words


def test_the_image_installs_extras_that_there_are() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (extras,) = re.findall(r"\.whl\)\[([^\]]+)\]", (ROOT / "deploy" / "Dockerfile").read_text("utf-8"))
    assert set(extras.split(",")) <= set(project["optional-dependencies"])


def test_hadolint_has_nothing_to_say_of_the_image() -> None:
    command = [str(PROGRAMS / "hadolint"), "--no-color", str(ROOT / "deploy" / "Dockerfile")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_wheel_of_the_image_is_built_of_what_is_copied_into_it(tmp_path: Path) -> None:
    first, _, _ = (ROOT / "deploy" / "Dockerfile").read_text("utf-8").partition("FROM python:3.13-slim\n")
    for line in re.findall(r"^COPY (.+)$", first, re.MULTILINE):
        *sources, target = line.split()
        for source in sources:
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, tmp_path / target)
            else:
                shutil.copy(ROOT / source, tmp_path / target)
    program = "import hatchling.build as b; b.build_wheel('.')"
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"rejoinder/py.typed", "rejoinder/server/pages/index.html"} <= names
