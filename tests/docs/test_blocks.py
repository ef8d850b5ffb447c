"""Every example of the documentation runs, and prints what the page says it prints."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.docs.blocks import Block, agrees, blocks, commands

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND_SECONDS_MAX: Final = 60
"""An example that takes longer than this hangs."""


def run_python(block: Block, page: Path, namespace: dict[str, Any]) -> None:
    """Run a block in the namespace of its page; its lines are numbered as on the page."""
    source = "\n" * (block.line - 1) + block.text
    exec(compile(source, str(page), "exec"), namespace)


def run_console(block: Block, page: Path, folder: Path) -> None:
    """Run the commands of a block in a folder and compare what each prints, errors included."""
    # `rejoinder` and `python` are the ones under test; colours and widths do not depend on who looks.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    around = {**os.environ, "PATH": path, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "80"}
    for line, command, shown in commands(block):
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=folder,
            env=around,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=COMMAND_SECONDS_MAX,
            check=False,
        )
        printed = done.stdout.decode("utf-8", "replace")
        where = f"{page.name}:{line}: $ {command}"
        assert agrees(shown, tuple(printed.splitlines())), (
            f"{where}\nprints (exit {done.returncode})\n{printed}"
        )
        # A page that means to show a failure says so: `… ; echo "exit $?"`.
        assert done.returncode == 0, f"{where}\nfails with exit {done.returncode}"


@pytest.fixture
def _own_environment() -> Iterator[None]:
    """What a page sets for its commands is gone behind it."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.mark.usefixtures("_own_environment")
@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_the_examples_of_a_page_do_what_it_says(page: Path, tmp_path: Path) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page.read_text("utf-8")):
        if block.no_run is not None:
            continue
        match block.language:
            case "python":
                run_python(block, page, namespace)
            case "console":
                run_console(block, page, tmp_path)
            case _:
                pass  # Shown, not run: sh, text, json, tsx and the like.


def test_blocks_of_a_page_share_what_they_define() -> None:
    page = "```python\na = 1\n```\ntext\n  ```python\n  assert a == 1\n  b = a + 1\n  ```\n"
    namespace: dict[str, Any] = {}
    for block in blocks(page):
        run_python(block, Path("page.md"), namespace)
    assert namespace["b"] == 2


def test_an_example_that_fails_is_reported_with_its_line_on_the_page() -> None:
    (block,) = blocks("text\n\n```python\nx = 1\nassert x == 2\n```\n")
    with pytest.raises(AssertionError) as caught:
        run_python(block, Path("page.md"), {})
    assert caught.traceback[-1].lineno + 1 == 5


def test_output_that_is_not_what_the_page_shows_is_reported(tmp_path: Path) -> None:
    (block,) = blocks("```console\n$ echo one\ntwo\n```\n")
    with pytest.raises(AssertionError, match="one"):
        run_console(block, Path("page.md"), tmp_path)


def test_output_that_the_page_does_not_show_is_reported(tmp_path: Path) -> None:
    (block,) = blocks("```console\n$ echo one\n```\n")
    with pytest.raises(AssertionError, match="one"):
        run_console(block, Path("page.md"), tmp_path)


def test_a_command_that_fails_is_reported(tmp_path: Path) -> None:
    (block,) = blocks("```console\n$ exit 3\n```\n")
    with pytest.raises(AssertionError, match="exit 3"):
        run_console(block, Path("page.md"), tmp_path)


def test_a_command_may_go_on_over_several_lines_and_find_what_an_earlier_one_wrote(tmp_path: Path) -> None:
    write, read = (
        "$ cat > poem <<'END'\n> rose\n>\n> is\n> END\n",
        "$ cat poem; python -c 'print(1)'\nrose\n...\n1\n",
    )
    for block in blocks(f"```console\n{write}```\n```console\n{read}```\n"):
        run_console(block, Path("page.md"), tmp_path)


def test_a_block_that_does_not_run_says_why() -> None:
    (block,) = blocks('```python no-run="needs a key"\nboom\n```\n')
    assert block.no_run == "needs a key"
    with pytest.raises(ValueError, match="say why"):
        list(blocks("```python no-run\nboom\n```\n"))


def test_a_block_that_is_never_closed_is_reported() -> None:
    with pytest.raises(ValueError, match="line 2"):
        list(blocks("text\n```python\nx = 1\n"))


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ((), (), True),
        (("a",), ("a",), True),
        (("a",), ("a", "b"), False),
        (("...",), (), True),
        (("...", "z"), ("a", "b", "z"), True),
        (("a", "...", "z"), ("a", "z"), True),
        (("a", "..."), ("b",), False),
        (("a",), (), False),
    ],
)
def test_three_dots_stand_for_any_lines(
    shown: tuple[str, ...], printed: tuple[str, ...], *, expected: bool
) -> None:
    assert agrees(shown, printed) is expected
