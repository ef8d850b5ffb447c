"""What the page about the specifications names as proof is there."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = (ROOT / "docs" / "specs.md").read_text("utf-8")


def test_every_test_that_is_named_exists() -> None:
    for path, name in re.findall(r"`(tests/[\w/.-]+)(?:::(\w+))?`", PAGE):
        assert (ROOT / path).exists(), path
        assert not name or f"def {name}(" in (ROOT / path).read_text("utf-8"), f"{path}::{name}"


def test_every_row_names_what_shows_it() -> None:
    rows = re.findall(
        r"^\| (?!---|specification|the specification|what the text|defect)(.+) \|$", PAGE, re.MULTILINE
    )
    tables, _, defects = PAGE.partition("### What was found wrong")
    proofs = ("`tests/", "`rejoinder.testing", "the same", "[why](why.md)")
    lacking = [
        row
        for row in rows
        if row in tables and not any(proof in row.rpartition(" | ")[2] for proof in proofs)
    ]
    assert lacking == []
    persistence = (ROOT / "tests" / "stores" / "test_persistence.py").read_text("utf-8")
    for number in re.findall(r"^\| (\d+) ", defects, re.MULTILINE):
        assert f"def test_defect_{number}_" in persistence


def test_every_test_is_named_with_its_file() -> None:
    assert re.findall(r"(?<!::)`?\btest_[a-z]\w+(?:\.py)?`", re.sub(r"tests/[\w/.]+(::\w+)?", "", PAGE)) == []


def test_every_module_and_name_of_ours_exists() -> None:
    for dotted in re.findall(r"`(rejoinder(?:\.\w+)+)", PAGE):
        assert exists(dotted), dotted


def exists(dotted: str) -> bool:
    """Whether a dotted name leads somewhere: through modules, then through attributes."""
    first, *names = dotted.split(".")
    found: object = importlib.import_module(first)
    module = first
    for name in names:
        module = f"{module}.{name}"
        if not hasattr(found, name) and importlib.util.find_spec(module) is None:
            return False
        found = getattr(found, name) if hasattr(found, name) else importlib.import_module(module)
    return True
