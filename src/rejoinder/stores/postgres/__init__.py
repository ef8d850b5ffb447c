"""The PostgreSQL store: the system of record, on a server of the user's or on the embedded one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rejoinder.stores.postgres.store import PostgresConversationStore

__all__ = ["PostgresConversationStore"]


def __getattr__(name: str) -> object:
    # Imported when it is asked for: whoever only starts the embedded server needs neither driver nor migrations.
    if name == "PostgresConversationStore":
        from rejoinder.stores.postgres.store import PostgresConversationStore

        return PostgresConversationStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
