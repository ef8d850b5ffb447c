"""What `make test` does with tests that fail."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from scripts.check import PROGRAMS, SECOND_LOOKS_MAX, Outcome, second_look

TEST = """
from pathlib import Path

def test_{name}():
    before = Path("{name}.before")
    seen, _ = before.exists(), before.touch()
    assert {outcome}
"""


@pytest.mark.parametrize(
    ("outcomes", "nightly", "passes"),
    [
        (["seen"], False, True),
        (["seen"], True, False),
        (["False"], False, False),
        (["seen", "False"], False, False),
        (["seen"] * SECOND_LOOKS_MAX, False, True),
        (["seen"] * (SECOND_LOOKS_MAX + 1), False, False),
    ],
)
def test_what_passes_alone_is_named_and_what_fails_again_or_in_numbers_has_failed(
    tmp_path: Path, outcomes: list[str], *, nightly: bool, passes: bool
) -> None:
    for number, outcome in enumerate(outcomes):
        (tmp_path / f"test_{number}.py").write_text(TEST.format(name=number, outcome=outcome), "utf-8")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "REJOINDER"))
    }
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = (
        "1"  # what is installed here is of no use there, and takes seconds
    )
    subprocess.run([PROGRAMS / "pytest", "-q"], cwd=tmp_path, env=environment, check=False)
    if nightly:
        environment["REJOINDER_NIGHTLY"] = "1"
    looked_at, named = second_look(Outcome("tests", passed=False, seconds=1), environment, folder=tmp_path)
    assert looked_at.passed == passes
    assert len(named) == (len(outcomes) if not nightly and len(outcomes) <= SECOND_LOOKS_MAX else 0)
