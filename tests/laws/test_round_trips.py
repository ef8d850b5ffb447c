"""Laws: no conversion to another format, and back, changes a message."""

from __future__ import annotations

from itertools import pairwise

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rejoinder.convert.canonical import from_canonical, to_canonical
from rejoinder.convert.core_content import ConversationMessage, from_core, to_core
from rejoinder.convert.escapes import load_json, load_text, store_json, store_text
from rejoinder.convert.rows import MessageRow, PartRow, Rows, from_rows, to_rows
from rejoinder.convert.spec_rows import from_spec_rows, to_spec_rows
from rejoinder.convert.stored_rows import (
    JSON_COLUMNS,
    Row,
    Stored,
    loaded_row,
    rows_from_json,
    rows_to_json,
    stored_row,
)
from rejoinder.messages import Message
from rejoinder.wire import json
from tests.laws.jsonb import as_jsonb, as_text
from tests.laws.messages import ODD_NUMBERS, exactly, json_values, messages, texts
from tests.scale import scale

many = settings(max_examples=scale(150, 5_000), deadline=None)
ODD_VALUES = json_values(odd_numbers=True)
anything = messages(ODD_VALUES, stored=True)


@many
@given(anything)
def test_canonical_messages_lose_nothing(message: Message) -> None:
    assert exactly(from_canonical(to_canonical(message, thread_id="t"))) == exactly(message)


@many
@given(messages(stored=True))
def test_canonical_messages_lose_nothing_as_text(message: Message) -> None:
    text = json.encode(to_canonical(message, thread_id="t"))
    assert exactly(from_canonical(json.decode(text))) == exactly(message)


@many
@given(anything)
def test_canonical_parts_are_of_the_six_shapes_and_one_key_more(message: Message) -> None:
    shapes = {
        "text": {"type", "text", "providerMetadata"},
        "reasoning": {"type", "reasoning", "details", "providerMetadata"},
        "tool-invocation": {"type", "toolCallId", "toolName", "args", "result", "state", "providerMetadata"},
        "file": {"type", "data", "mimeType"},
        "source": {"type", "id", "title", "url", "providerMetadata"},
        "data": {"type", "data"},
    }
    canonical = to_canonical(message, thread_id="t")
    assert len(canonical["content"]["parts"]) == len(message.parts)
    for part in canonical["content"]["parts"]:
        assert part.keys() <= shapes[part["type"]] | {"rejoinder"}


@many
@given(anything)
def test_rows_lose_nothing(message: Message) -> None:
    assert exactly(from_rows(to_rows(message))) == exactly(message)


@many
@given(anything)
def test_rows_lose_nothing_in_a_database(message: Message) -> None:
    rows = to_rows(message)
    kept = Rows(_kept(MessageRow, rows.message), tuple(_kept(PartRow, row) for row in reversed(rows.parts)))
    assert exactly(from_rows(kept)) == exactly(message)


@many
@given(anything)
def test_rows_lose_nothing_as_json_lines(message: Message) -> None:
    line = json.encode(rows_to_json(to_rows(message)))
    assert b"\n" not in line
    assert exactly(from_rows(rows_from_json(json.decode(line)))) == exactly(message)


@many
@given(anything)
def test_conversation_core_messages_lose_nothing(message: Message) -> None:
    assert exactly(from_core(to_core(message, conversation_id="c"))) == exactly([message])


@many
@given(st.lists(messages(stored=True, parts_max=2), max_size=3, unique_by=lambda message: message.id))
def test_a_history_of_conversation_core_messages_loses_nothing(history: list[Message]) -> None:
    core = [part for message in history for part in to_core(message, conversation_id="c")]
    read = msgspec.convert(json.decode(json.encode(core)), list[ConversationMessage])
    assert exactly(from_core(read)) == exactly(history)


@many
@given(anything)
def test_rows_of_the_persistence_specification_lose_nothing(message: Message) -> None:
    rows = to_spec_rows(message, agent_id="a")
    assert exactly(from_spec_rows(rows.message, rows.parts)) == exactly(message)


@many
@given(anything, st.booleans())
def test_rows_of_the_persistence_specification_lose_nothing_in_a_table(message: Message, few: bool) -> None:  # noqa: FBT001  hypothesis gives it by position
    held = {"text_text", "tool_toolCallId", "tool_state", "providerMetadata", "extra"}
    rows = to_spec_rows(message, agent_id="a", columns=held if few else None)
    columns = {name for row in rows.parts for name in row}
    table = [{name: row.get(name) for name in columns} for row in reversed(rows.parts)]
    assert exactly(from_spec_rows(rows.message, table)) == exactly(message)


@many
@given(texts())
def test_a_text_column_gives_back_any_text(text: str) -> None:
    assert load_text(as_text(store_text(text))) == text


@many
@given(ODD_VALUES)
@example([*ODD_NUMBERS])
@example({"␛#1e9": ["␛#1e9", "\\u0000", "\\\x00", '"\x00"', "\ud83d", -0.05, "-0.0", "1e22"]})
@example([float("inf"), "\udc00", "␛", "NaN"])
def test_a_jsonb_column_gives_back_any_json(value: object) -> None:
    stored = store_json(value)
    assert stored is not None
    assert exactly(load_json(as_jsonb(stored))) == exactly(value)


@many
@given(st.lists(texts(), min_size=2, max_size=4))
def test_texts_that_differ_are_stored_differently(some: list[str]) -> None:
    for one, other in pairwise(some):
        assert (store_text(one) == store_text(other)) == (one == other)
        assert (store_json(one) == store_json(other)) == (one == other)


def _kept(kind: type[Row], row: Row) -> Row:
    """Write the row to a table, and read it."""
    columns: dict[str, Stored | bytes] = {}
    for name, value in stored_row(row).items():
        if isinstance(value, str):
            columns[name] = as_jsonb(value) if name in JSON_COLUMNS else as_text(value)
        else:
            columns[name] = value
    return loaded_row(kind, columns)
