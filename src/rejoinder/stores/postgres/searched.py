"""What is searched: the expression that the search indexes hold, and that a search repeats to the letter."""

from __future__ import annotations

from typing import Final

SEARCHED_CHARACTERS_MAX: Final = 65_536
"""A tsvector holds 1 MB, and a text that makes more is an error: what comes later in a text is not searched."""

SEPARATORS: Final = ".:/@_-+~&<>"
"""With these PostgreSQL's parser makes one word of an address, a path, a tag or a number. For us they end a word."""


def searched(column: str) -> str:
    """The words of a column."""
    words = f"translate(left({column}, {SEARCHED_CHARACTERS_MAX}), '{SEPARATORS}', '{' ' * len(SEPARATORS)}')"
    return f"to_tsvector('simple', {words})"
