"""What is named as the agent is imported, and whatever is wrong with it is said in one line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rejoinder.server.standalone import NoSuchAgent, named

SOURCES = {
    "name_importing": (
        "import nothing_of_the_kind",
        r"ModuleNotFoundError: No module named 'nothing_of_the_kind' \(.*line 1\)",
    ),
    "name_broken": ("def (:", r"SyntaxError: .*name_broken.py, line 1"),
    "name_raising": (
        "def f():\n    raise ValueError('a\\nb')\n\nf()",
        r"ValueError: a b \(name_raising.py, line 2",
    ),
    "name_deeper": ("import json\njson.loads('{')", r"JSONDecodeError: .* \(name_deeper.py, line 2\)"),
}


@pytest.mark.parametrize("module", SOURCES)
def test_a_module_that_cannot_be_imported(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, words = SOURCES[module]
    (tmp_path / f"{module}.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(NoSuchAgent, match=rf"\A{module} cannot be imported: {words}") as raised:
        named(f"{module}:agent")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("path", ["rejoinder.agents.openai:OpenAIResponses", "rejoinder:Agent"])
def test_a_class_is_no_agent(path: str) -> None:
    with pytest.raises(NoSuchAgent, match="is the class"):
        named(path)
