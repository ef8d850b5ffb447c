"""Cut a Markdown page into its fenced blocks, and a console block into commands and what they print."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

FENCE: Final = re.compile(r"(?P<indent> *)```(?P<info>.*)")
NO_RUN: Final = re.compile(r'no-run(?:="(?P<reason>[^"]*)")?')
ANY_LINES: Final = "..."
"""A line of shown output that stands for any lines, or none."""


class Block(NamedTuple):
    """A fenced block: its language, the line of its first text line, its text, why it must not run."""

    language: str
    line: int
    text: str
    no_run: str | None


class Command(NamedTuple):
    """A command of a console block, where it stands, and the output shown below it."""

    line: int
    command: str
    shown: tuple[str, ...]


def blocks(page: str) -> Iterator[Block]:
    """Every fenced block of a page, in order; a block that is never closed is an error."""
    opened: tuple[re.Match[str], int] | None = None
    text: list[str] = []
    for number, line in enumerate(page.splitlines(), 1):
        fence = FENCE.fullmatch(line)
        if opened is None:
            if fence:
                opened, text = (fence, number + 1), []
        elif fence and not fence["info"].strip():
            yield _block(opened[0]["info"], opened[1], text)
            opened = None
        else:
            text.append(line.removeprefix(opened[0]["indent"]))
    if opened is not None:
        raise ValueError(f"the block that begins in line {opened[1] - 1} is never closed")


def _block(info: str, line: int, text: list[str]) -> Block:
    language, _, rest = info.strip().partition(" ")
    no_run = NO_RUN.search(rest)
    if no_run and not no_run["reason"]:
        raise ValueError(f'line {line - 1}: say why this block does not run: no-run="needs a key"')
    return Block(language, line, "".join(f"{each}\n" for each in text), no_run["reason"] if no_run else None)


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block: `$ ` begins one, `> ` continues it, everything else is output."""
    lines = block.text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    if not starts or starts[0] != 0:
        raise ValueError(f"line {block.line}: a console block begins with a command: `$ rejoinder …`")
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        command, rest = [lines[start][2:]], start + 1
        while rest < end and (lines[rest] == ">" or lines[rest].startswith("> ")):
            command.append(lines[rest][2:])
            rest += 1
        yield Command(block.line + start, "\n".join(command), tuple(lines[rest:end]))


def agrees(shown: tuple[str, ...], printed: tuple[str, ...]) -> bool:
    """Whether the output shown is the output printed, where `...` stands for any lines."""
    if not shown:
        return not printed
    if shown[0] == ANY_LINES:
        return any(agrees(shown[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and agrees(shown[1:], printed[1:])
