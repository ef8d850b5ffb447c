"""Markdown that streams is read block by block: the same blocks, and what is complete is not read again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts import node, npm, web
from tests.scale import scale
from tests.web.actor import ANSWER

READER = Path(__file__).with_name("blocks.mjs")

PIECES = (
    *("a", "b ", "word ", "\n", "\n\n", "\r\n", "\r", "  ", "    ", "\t", "\\", "\u00a0", "😀", "&amp;"),
    *("- x", "- ", "* ", "+", "1. ", "2", "2.", "2) ", "- [ ] t", "- [x] ", "> ", ">", "# ", "#", "## h\n"),
    *("---\n", "---", "===\n", "_", "|", "|a|b|\n", "|-|-|\n", "| - | - |\n", "`", "```", "```js\n", "~~~\n"),
    *("**", "*", "~", "<div>", "</div>\n", "<!--", "-->", "<pre>", "</pre>", "<b>", "<?", "?>", "<script>"),
    *("[a]", "[a]: http://x\n", "[a][b]", "(http://y)", "![", "]", "[^1]: f", "https://example.com "),
)
"""What Markdown is made of, and what makes something else of what came before it."""

Grow = Callable[[list[str]], dict[str, Any]]


@pytest.fixture(scope="module")
def grow() -> Iterator[Grow]:
    """Reads a text as it grows by these pieces."""
    try:
        found: node.Node = web.install()
    except npm.NotInstalled as problem:
        pytest.fail(str(problem), pytrace=False)
    command = [str(found.program), "--experimental-strip-types", "--no-warnings", str(READER)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, told = process.stdin, process.stdout

        def grown(pieces: list[str]) -> dict[str, Any]:
            asked.write(json.dumps({"pieces": pieces}) + "\n")
            asked.flush()
            answer: dict[str, Any] = json.loads(told.readline())
            return answer

        yield grown
        asked.close()


def test_a_text_that_grows_is_read_as_if_it_had_come_at_once(grow: Grow) -> None:
    @settings(max_examples=scale(1_000, 20_000), deadline=None)
    @given(st.lists(st.sampled_from(PIECES), max_size=30))
    def law(pieces: list[str]) -> None:
        assert grow(pieces)["wrong"] is None

    law()


@pytest.mark.parametrize("size", [1, 7, 24])
def test_an_answer_is_read_the_same_however_it_is_cut(grow: Grow, size: int) -> None:
    answer = grow([ANSWER[at : at + size] for at in range(0, len(ANSWER), size)])
    assert answer["wrong"] is None


def test_what_is_complete_is_not_read_again_and_stays_the_same_value(grow: Grow) -> None:
    text = ANSWER * 12
    answer = grow([text[at : at + 12] for at in range(0, len(text), 12)])
    assert answer["changed"] == 0
    # Reading all of it with each piece would be reading it some hundreds of times.
    assert answer["read"] < 60 * len(text)


def test_a_definition_at_the_end_reaches_the_links_before_it(grow: Grow) -> None:
    answer = grow(["[a] and\n\n", "more\n\n", "text\n\n", "again\n\n", "[a]: http", "://x", "\n\nthe end"])
    assert answer["wrong"] is None
