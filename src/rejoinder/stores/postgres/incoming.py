"""What the statements answer, as values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import structs

from rejoinder.convert import formats
from rejoinder.convert.escapes import load_json, load_text
from rejoinder.convert.rows import FAMILIES, PartRow, from_part_row
from rejoinder.convert.stored_rows import JSON_COLUMNS, loaded_row
from rejoinder.messages import (
    AgentContext,
    Conversation,
    Cost,
    JsonObject,
    Message,
    Part,
    ProviderCall,
    Turn,
    TurnError,
    Usage,
    is_absent,
)
from rejoinder.ports.journal import Checkpoint, StoredMessage
from rejoinder.stores.postgres.database import Row

PART_COLUMNS: Final = tuple(
    field.name for field in structs.fields(PartRow) if field.name not in {"order", "type"}
)
"""The columns of the fragment `part_values`, in its order."""

_TYPE: Final = 9
_FIRST_COLUMN: Final = _TYPE + 1
"""Where the type of a part stands in a row of `whole_messages`, and where its columns begin."""


class _Plan(NamedTuple):
    """How a part is made of its columns: its attributes, their values in a row, and what undoes the escapes."""

    make: type[Part]
    attributes: tuple[str, ...]
    values: Callable[[Row], tuple[Any, ...]]
    loaders: tuple[Callable[[Any], Any] | None, ...]


def _plan(make: type[Part], columns: Mapping[str, str]) -> _Plan:
    places = [_FIRST_COLUMN + PART_COLUMNS.index(column) for column in columns.values()]
    return _Plan(make, tuple(columns), _getter(places), tuple(map(_loader, columns.values())))


def _getter(places: list[int]) -> Callable[[Row], tuple[Any, ...]]:
    # An itemgetter of one place would give no tuple.
    if len(places) > 1:
        return itemgetter(*places)
    return lambda row: tuple(row[place] for place in places)


def _loader(column: str) -> Callable[[Any], Any] | None:
    if column in JSON_COLUMNS:
        return load_json
    annotation = PartRow.__annotations__[column]
    return None if "bool" in annotation else load_text


_PLANS: Final = {type: _plan(family.make, family.columns) for type, family in FAMILIES.items()}
_APPROVAL: Final = _FIRST_COLUMN + PART_COLUMNS.index("tool_approval_id")


def stored_messages(rows: Iterable[Row], *, as_kept: bool = False) -> list[StoredMessage]:
    """Messages of rows of `whole_messages`: one for each part, or one for a message without any.

    They are as they would be stored today, unless they are wanted `as_kept`.
    """
    messages: list[StoredMessage] = []
    parts: list[Part] = []
    first: Row | None = None
    for row in rows:
        if first is None or row[0] != first[0]:
            if first is not None:
                messages.append(_stored_message(first, parts, as_kept=as_kept))
            first, parts = row, []
        if row[_TYPE] is not None:
            parts.append(_part(row))
    if first is not None:
        messages.append(_stored_message(first, parts, as_kept=as_kept))
    return messages


def _stored_message(row: Row, parts: list[Part], *, as_kept: bool) -> StoredMessage:
    seq, id, role, status, created_at, turn_id, parent_id, metadata, extra = row[:_TYPE]
    message = Message(
        id=load_text(id),
        role=role,
        parts=tuple(parts),
        metadata=load_json(metadata),
        created_at=created_at,
        status=status,
        extra=_value(extra),
    )
    return StoredMessage(
        seq=seq,
        message=message if as_kept else formats.read(message),
        parent_id=_text(parent_id),
        turn_id=_text(turn_id),
    )


def _part(row: Row) -> Part:
    type = row[_TYPE]
    if type == "steering-message" or row[_APPROVAL] is not None:
        named = dict(zip(PART_COLUMNS, row[_FIRST_COLUMN:], strict=True))
        return from_part_row(loaded_row(PartRow, {"order": 0, "type": type, **named}))
    plan = _PLANS[type]
    return plan.make(
        **{
            attribute: value if load is None else load(value)
            for attribute, value, load in zip(plan.attributes, plan.values(row), plan.loaders, strict=True)
            if value is not None
        }
    )


def placed(row: Row, message: Message) -> StoredMessage:
    """A message that was given, in the place that the store gave it: seq, id, created_at, turn, parent."""
    seq, _, created_at, turn_id, parent_id = row
    return StoredMessage(
        seq=seq,
        message=structs.replace(message, created_at=created_at),
        parent_id=_text(parent_id),
        turn_id=_text(turn_id),
    )


def conversation_of(row: Row) -> Conversation:
    """A `conversation_record`."""
    id, created_at, updated_at, title, metadata, parent_id = row
    return Conversation(
        id=load_text(id),
        created_at=created_at,
        updated_at=updated_at,
        title=_text(title),
        metadata=_value(metadata),
        parent_id=_text(parent_id),
    )


def turn_of(row: Row) -> Turn:
    """A `turn_record`."""
    id, conversation, status, created_at, trigger, message_id, agent, started_at, finished_at = row[:9]
    context, memory, metadata = row[9:12]
    message, code, provider, raw = row[21:25]
    return Turn(
        id=load_text(id),
        conversation_id=load_text(conversation),
        status=status,
        created_at=created_at,
        trigger=load_text(trigger),
        message_id=_text(message_id),
        agent=_text(agent),
        agent_context=None if context is None else msgspec.convert(load_json(context), AgentContext),
        agent_memory=_value(memory),
        usage=_usage(row[12:18]),
        cost=_cost(row[18:21]),
        error=None
        if message is None
        else TurnError(
            message=load_text(message), code=_text(code), provider=_text(provider), raw=load_json(raw)
        ),
        started_at=started_at,
        finished_at=finished_at,
        metadata=_value(metadata),
    )


def provider_call_of(row: Row) -> ProviderCall:
    """A row of `list_provider_calls`."""
    id, provider, model, operation, status, started_at, first_token_at, finished_at, extensions, raw = row[
        :10
    ]
    return ProviderCall(
        id=load_text(id),
        provider=load_text(provider),
        model=load_text(model),
        started_at=started_at,
        operation=operation,
        status=status,
        extensions=_value(extensions),
        usage=_usage(row[10:16]),
        cost=_cost(row[16:19]),
        first_token_at=first_token_at,
        finished_at=finished_at,
        raw=load_json(raw),
    )


def checkpoint_of(row: Row, conversation_id: str) -> Checkpoint:
    """A row of `list_checkpoints`."""
    id, through_seq, summary, strategy, created_at, undone_at, metadata = row
    return Checkpoint(
        id=load_text(id),
        conversation_id=conversation_id,
        through_seq=through_seq,
        summary=msgspec.convert(load_json(summary), Message),
        strategy=load_text(strategy),
        created_at=created_at,
        undone_at=undone_at,
        metadata=_value(metadata),
    )


def _text(stored: str | None) -> str | None:
    return None if stored is None else load_text(stored)


def _value(stored: str | None) -> JsonObject | None:
    value = load_json(stored)
    return None if is_absent(value) else value


def _usage(row: Row) -> Usage | None:
    if all(number is None for number in row):
        return None
    return Usage(**dict(zip(Usage.__struct_fields__, row, strict=True)))


def _cost(row: Row) -> Cost | None:
    amount, currency, prices = row
    return (
        None if amount is None else Cost(amount=amount, currency=load_text(currency), prices=_value(prices))
    )
