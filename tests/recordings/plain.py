"""Values of somebody's classes as JSON, field by field: what a recording holds of an event.

What JSON cannot hold is written as Python would show it. A class says its name in `__class__`, unless it is a model
of pydantic that vendors put on their wires, which is its JSON already.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from rejoinder.messages import Json
from rejoinder.wire import json
from rejoinder.wire.json import as_javascript

EVENTS: Final = Path(__file__).resolve().parent.parent / "translate" / "events"
"""Where recordings are kept."""

_NAMED: Final = ("langchain_core.", "langgraph.")
"""Whose models are told apart by the names of their classes."""


def plain(value: Any) -> Json:
    """The value as JSON."""
    kind: Any = value.__class__
    name = str(kind.__name__)
    if value is None or issubclass(kind, bool | int | float | str):
        return value
    if issubclass(kind, BaseModel):
        if not kind.__module__.startswith(_NAMED):
            return value.model_dump(mode="json", by_alias=True)
        return {
            "__class__": name,
            **{field: plain(getattr(value, field)) for field in kind.model_fields},
        }
    if dataclasses.is_dataclass(kind):
        fields = {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(kind)}
        return {"__class__": name, **fields}
    if issubclass(kind, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if issubclass(kind, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return repr(value)


def keep(name: str, events: Iterable[Json]) -> None:
    """Write a recording, one event a line."""
    text = "".join(json.encode(as_javascript(event)).decode() + "\n" for event in events)
    (EVENTS / f"{name}.jsonl").write_text(text, "utf-8")
    sys.stdout.write(f"{name}: {text.count(chr(10))} events\n")
