"""Messages on their way into the tables, as JSON that a statement reads as rows.

One parameter for any number of messages or parts: a parameter for each column of each part would be thousands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from rejoinder.convert.escapes import store_text
from rejoinder.convert.rows import MessageRow, PartRow, to_rows
from rejoinder.convert.stored_rows import Stored, stored_row
from rejoinder.messages import Message
from rejoinder.stores.postgres.values import JsonRows


class Outgoing:
    """Messages as the statements in `queries/messages.sql` take them."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._rows = [to_rows(message) for message in messages]

    @property
    def messages(self) -> JsonRows:
        """A row for each message."""
        return as_rows(
            {"place": place, "parts": len(each.parts), **_filled(each.message)}
            for place, each in enumerate(self._rows)
        )

    @property
    def parts(self) -> JsonRows:
        """A row for each part of all of them."""
        return as_rows(
            {"message": store_text(each.message.id), **_filled(part)}
            for each in self._rows
            for part in each.parts
        )


def as_rows(rows: Iterable[dict[str, Stored]]) -> JsonRows:
    """Rows of columns as one parameter."""
    return JsonRows(msgspec.json.encode(list(rows)))


def _filled(row: MessageRow | PartRow) -> dict[str, Stored]:
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in stored_row(row).items()
        if value is not None
    }
