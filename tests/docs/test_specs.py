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
