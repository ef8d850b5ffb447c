"""The grammar as a picture: a line down for each phase, and an arrow from line to line for each chunk.

So nothing has to be laid out, and no two arrows meet, whatever the tables come to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

from rejoinder.wire import grammar_tables
from scripts.docs_source import ROOT

PICTURE: Final = ROOT / "docs" / "pictures" / "grammar.svg"

COLUMN: Final = 150
ROW: Final = 34
HEAD: Final = 64
GAP: Final = 40
LOOP: Final = 22
"""Pixels: from phase to phase, from arrow to arrow, of a heading, between two tables, of an arrow to where it began."""

STYLE: Final = """
text { font: 12px system-ui, sans-serif; fill: #1f2328; text-anchor: middle }
.name { font-weight: 600; font-size: 14px; text-anchor: start }
.phase { fill: #ddf4ff; stroke: #54aeff }
.line { stroke: #d0d7de } .arrow { stroke: #57606a; fill: none; marker-end: url(#tip) }
.tip { fill: #57606a }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .phase { fill: #0c2d6b; stroke: #388bfd } .line { stroke: #30363d }
  .arrow { stroke: #8d96a0 } .tip { fill: #8d96a0 }
}
"""


def _family(name: str, table: Mapping[Any, Mapping[str, Any]], top: int) -> Iterator[str]:
    phases = list(table)
    places = {phase: COLUMN // 2 + number * COLUMN for number, phase in enumerate(phases)}
    bottom = top + HEAD + ROW * sum(map(len, table.values())) + 10
    yield f'<text class="name" x="8" y="{top + 14}">{escape(name)}</text>'
    for phase, x in places.items():
        yield f'<path class="line" d="M{x} {top + 50}V{bottom}"/>'
        yield f'<rect class="phase" x="{x - 71}" y="{top + 26}" width="142" height="24" rx="6"/>'
        yield f'<text x="{x}" y="{top + 42}">{escape(phase.value)}</text>'
    y = top + HEAD + 14
    for phase, row in table.items():
        for label, following in row.items():
            begin, end = places[phase], places[following]
            if begin == end:
                yield f'<path class="arrow" d="M{begin} {y - 5}h{LOOP}v8h{2 - LOOP}"/>'
                yield f'<text style="text-anchor:start" x="{begin + LOOP + 6}" y="{y + 3}">{escape(label)}</text>'
            else:
                yield f'<path class="arrow" d="M{begin} {y}H{end - (2 if end > begin else -2)}"/>'
                yield f'<text x="{(begin + end) // 2}" y="{y - 4}">{escape(label)}</text>'
            y += ROW


def drawing() -> str:
    """All tables, one below the other."""
    top, drawn, width = 10, list[str](), 0
    for name, table in (
        ("The stream", grammar_tables.STREAM),
        ("A step", grammar_tables.STEP),
        ("A text", grammar_tables.TEXT),
        ("A reasoning", grammar_tables.REASONING),
        ("A tool call", grammar_tables.TOOL),
    ):
        drawn.extend(_family(name, table, top))
        width = max(width, COLUMN * len(table))
        top += HEAD + ROW * sum(map(len, table.values())) + GAP
    tip = '<marker id="tip" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" width="{width}" height="{top}">',
            f"<style>{STYLE}</style>",
            f'<defs>{tip}<path class="tip" d="M0 0L6 3L0 6z"/></marker></defs>',
            *drawn,
            "</svg>",
            "",
        )
    )
