"""The queries in `queries/*.sql`, by name, written out for one schema.

    -- fragment: name        a piece of SQL that other queries hold as {name}
    -- query: name           a statement; the comment below it says what it is for and what $1, $2 … are

`{schema}` is the schema, quoted. Every parameter is cast where it stands (`$1::text`): we send values without their
types, so that a statement is prepared once, whether or not one of its values is NULL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

from rejoinder.stores.postgres.searched import searched

_HEADING: Final = re.compile(r"^-- (query|fragment): (\w+)\n((?:--.*\n)*)", re.MULTILINE)
_PLACE: Final = re.compile(r"\{([a-z_]+)\}")


@lru_cache
def statements(schema: str) -> Mapping[str, bytes]:
    """Every query, ready for the server. The schema's name is one that `schema.NAME` allows."""
    queries: dict[str, str] = {}
    # The indexes that a search uses hold these very expressions.
    fragments = {
        "schema": f'"{schema}"',
        "searched_title": searched("title"),
        "searched_text": searched("text_text"),
    }
    for name, kind, body in _sections():
        known = fragments if kind == "fragment" else queries
        assert name not in {**fragments, **queries}, f"{name} stands twice in queries/*.sql"
        known[name] = body
    return {name: _written_out(body, fragments).encode() for name, body in queries.items()}


def _sections() -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for file in sorted(
        files("rejoinder.stores.postgres").joinpath("queries").iterdir(), key=lambda file: file.name
    ):
        _, *pieces = _HEADING.split(file.read_text(encoding="utf-8"))
        kinds, names, bodies = pieces[0::4], pieces[1::4], pieces[3::4]
        found += zip(names, kinds, map(str.strip, bodies), strict=True)
    return found


def _written_out(body: str, fragments: Mapping[str, str]) -> str:
    while _PLACE.search(body) is not None:
        body = _PLACE.sub(lambda place: fragments[place[1]], body)
    return body
