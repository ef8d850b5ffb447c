"""The tables of the page about operation: every figure at `/metrics`, and every line that the log may have."""

from __future__ import annotations

import ast
import re
from collections.abc import AsyncIterator, Iterator
from typing import Final

from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from rejoinder import Agent, Call, Chat, Emitter
from rejoinder.messages import Json, Usage
from rejoinder.translate import CallEnded, CallStarted
from rejoinder.wire.chunks import Chunk
from scripts.docs_source import PACKAGE

LEVELS: Final = {"info": "INFO", "warning": "WARNING", "error": "ERROR", "exception": "ERROR"}


def log_rows() -> Iterator[tuple[str, str, str]]:
    """Logger, level and words of each line; what varies is a `…`."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        lines = {
            (LEVELS[node.func.attr], _words(node.args[0]))
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id in ("_log", "log")
            and node.func.attr in LEVELS
        }
        for level, words in sorted(lines):
            yield f"`rejoinder.{'.'.join(parts)}`", level, words


def _words(said: ast.expr) -> str:
    text = str(said.value) if isinstance(said, ast.Constant) else "%s"
    return re.sub(r"%[-\d.]*[a-z]", "…", text)


async def _run(call: Call) -> AsyncIterator[Json]:
    for event in ("begins", call.prompt, "ends"):
        yield event


def _translate(say: Emitter, event: Json) -> Iterator[Chunk]:
    if event == "begins":
        say.note(CallStarted(id="call", provider="acme", model="acme-1"))
    elif event == "ends":
        say.note(CallEnded(id="call", usage=Usage(input_tokens=7, output_tokens=3)))
    else:
        yield from say.text(str(event))


def figures() -> str:
    """What `/metrics` says after one answer."""
    question = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}
    with TestClient(Chat(Agent("echo", _run, _translate), store="memory", metrics=True).app) as client:
        client.post("/api/chat", json={"id": "c1", "message": question}).raise_for_status()
        return client.get("/api/metrics").raise_for_status().text


def metric_rows() -> Iterator[tuple[str, str, str, str]]:
    """Name, kind, labels and meaning of each figure."""
    for family in text_string_to_metric_families(figures()):
        if family.name.endswith("_created"):
            continue  # when a counter began, which Prometheus wants to know and nobody else
        labels = sorted({label for sample in family.samples for label in sample.labels} - {"le"})
        name = f"{family.name}_total" if family.type == "counter" else family.name
        yield f"`{name}`", family.type, ", ".join(f"`{label}`" for label in labels), family.documentation
