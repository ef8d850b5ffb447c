"""Recorded runs, made as long as the answers that people get: their one delta of text, said hundreds of times.

What differs between two deltas of a recording (ids, counters) differs between ours, too; what is the same is the same.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from rejoinder.wire.json import is_array, is_object

ROOT: Final = Path(__file__).resolve().parent.parent
RECORDINGS: Final = ROOT / "tests" / "translate" / "events"
WORDS: Final = (ROOT / "docs" / "why.md").read_text("utf-8").split()

Place = tuple[str | int, ...]


class Vendor(NamedTuple):
    """A recording of a vendor, and where in an event the text of a delta stands."""

    name: str
    recording: str
    text: Place


VENDORS: Final = (
    Vendor("Claude Code", "claude_sdk_text", ("event", "delta", "text")),
    Vendor("OpenAI Responses", "openai_responses_toolcall", ("delta",)),
    Vendor("OpenAI Chat", "openai_chat_toolcall", ("choices", 0, "delta", "content")),
    Vendor("Anthropic", "anthropic_stream_toolcall_helper", ("delta", "text")),
    Vendor("LangGraph", "langgraph_tools", ("data", 0, "content")),
    Vendor("Pydantic AI", "pydantic_ai_tools", ("delta", "content_delta")),
    Vendor("OpenAI Agents", "openai_agents_tools", ("data", "delta")),
    Vendor("AI SDK stream", "ai_sdk_stream_tools_7", ("text",)),
    Vendor("AI SDK UI", "ai_sdk_ui_tools_7", ("delta",)),
    Vendor("AG-UI", "ag_ui_tools", ("delta",)),
    Vendor("Open Harness", "open_harness_flow", ("content",)),
)


def recorded(name: str) -> list[bytes]:
    """The events of a recording, in the compact form in which agents' events are stored."""
    lines = (RECORDINGS / f"{name}.jsonl").read_bytes().splitlines()
    return [_compact(json.loads(line)) for line in lines]


def answer(vendor: Vendor, deltas: int, *, seed: int = 0) -> list[bytes]:
    """The recording with so many deltas of text."""
    chance = random.Random(seed)
    events = [json.loads(line) for line in recorded(vendor.recording)]
    shapes: dict[tuple[Place, ...], list[int]] = {}
    for place, event in enumerate(events):
        if _text(event, vendor.text):
            shapes.setdefault(tuple(path for path, _ in _leaves(event)), []).append(place)
    places = max(shapes.values(), key=len)
    first, second = (events[place] for place in (places * 2)[:2])
    then = dict(_leaves(second))
    varying = [(path, value) for path, value in _leaves(first) if value != then[path] and path != vendor.text]
    said: list[bytes] = []
    for number in range(deltas):
        _put(first, vendor.text, f" {WORDS[(seed * deltas + number) % len(WORDS)]}")
        for path, value in varying:
            _put(first, path, _another(value, number, chance))
        said.append(_compact(first))
    before, behind = events[: places[0]], events[places[-1] + 1 :]
    return [*map(_compact, before), *said, *map(_compact, behind)]


def _compact(event: Any) -> bytes:
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()


def _leaves(value: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    if is_object(value):
        for key, inside in value.items():
            yield from _leaves(inside, (*path, key))
    elif is_array(value):
        for number, inside in enumerate(value):
            yield from _leaves(inside, (*path, number))
    else:
        yield path, value


def _text(value: Any, path: Place) -> str | None:
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return None
    return value if isinstance(value, str) else None


def _put(value: Any, path: Place, leaf: Any) -> None:
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = leaf


def _another(value: Any, number: int, chance: random.Random) -> Any:
    """Another value of the kind: a counter goes on, an id has other letters."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value + number
    if not isinstance(value, str):
        return value
    hexadecimal = not set(value) - set("0123456789abcdef-")
    letters = "0123456789abcdef" if hexadecimal else "abcdefghijklmnopqrstuvwxyz0123456789"
    return "".join(chance.choice(letters) if each.isalnum() else each for each in value)
