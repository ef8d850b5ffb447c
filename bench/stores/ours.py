"""Us, and the floor: the same rows into the same tables by the bare drivers, which check and convert nothing."""

from __future__ import annotations

from typing import Any, Final

import asyncpg
import msgspec
import psycopg

from bench.stores.turns import LAST, answer, plain, question
from rejoinder.convert.rows import to_rows
from rejoinder.convert.stored_rows import stored_row
from rejoinder.messages import Message
from rejoinder.ports.journal import NewTurn, Seal, TurnBegun
from rejoinder.stores.postgres import PostgresConversationStore, migrate
from rejoinder.stores.postgres.incoming import PART_COLUMNS

FILL_AT_ONCE: Final = 1000


class Ours:
    """Rejoinder."""

    name = "rejoinder"

    async def open(self, url: str) -> None:
        """Open a store as `Chat` does."""
        self.store = PostgresConversationStore(url, upgrade=True)
        await self.store.open()

    async def close(self) -> None:
        """Let go."""
        await self.store.close()

    async def fill(self, conversation: str, count: int) -> None:
        """Append in large batches."""
        await self.store.create_conversation(id=conversation)
        for begin in range(0, count, FILL_AT_ONCE):
            batch = [plain(number) for number in range(begin, min(begin + FILL_AT_ONCE, count))]
            await self.store.append_messages(conversation, batch)

    async def save(self, conversation: str, number: int) -> None:
        """One call, one transaction."""
        await self.store.append_messages(conversation, [question(number), answer(number)])

    async def load(self, conversation: str) -> int:
        """The last messages, as values."""
        return len(await self.store.list_messages(conversation, limit=LAST))

    async def turn(self, conversation: str, number: int) -> None:
        """Claim, keep, load in one transaction; seal in another."""
        begun = await self.store.begin_turn(
            NewTurn(
                id=f"{conversation}-{number}",
                conversation_id=conversation,
                assistant_message_id=f"a{number}",
                owner="bench",
                lease_seconds=10,
                tenant="default",
                messages=(question(number),),
                idempotency_key=f"u{number}",
                fingerprint="bench",
            )
        )
        assert isinstance(begun, TurnBegun)
        await self.store.end_turn(Seal(claim=begun.claim, status="succeeded", messages=(answer(number),)))


_BEGIN: Final = (
    "UPDATE floor.conversation SET next_seq = next_seq + $2::bigint, version = version + 1, "
    "updated_at = clock_timestamp() WHERE key = $1::bigint"
)
_END: Final = "UPDATE floor.conversation SET active_leaf = next_seq - 1 WHERE key = $1::bigint"
_MESSAGES: Final = (
    "INSERT INTO floor.message (conversation, seq, branch, parent, id, role) "
    "SELECT $1::bigint, c.next_seq - $4::bigint + i - 1, 0, nullif(c.next_seq - $4::bigint + i - 1, 0) - 1, "
    "m.id, m.role "
    "FROM floor.conversation AS c, unnest($2::text[], $3::text[]) WITH ORDINALITY AS m (id, role, i) "
    "WHERE c.key = $1::bigint"
)
_SET: Final = ("order", "type", *PART_COLUMNS)
_PART: Final = (
    f"INSERT INTO floor.part (conversation, message, {', '.join(chr(34) + name + chr(34) for name in _SET)}) "
    f"SELECT $1::bigint, m.seq, {', '.join(f'p.{chr(34)}{name}{chr(34)}' for name in _SET)} "
    "FROM json_populate_recordset(NULL::floor.part, $2::json) AS p "
    "JOIN floor.message AS m ON m.conversation = $1::bigint AND m.id = ($3::text[])[p.message + 1]"
)
_LOAD: Final = (
    "SELECT m.seq, m.id, m.role, m.status, m.created_at, m.turn_id, m.parent, m.metadata, m.extra, p.type, "
    + ", ".join(f'p."{name}"' for name in PART_COLUMNS)
    + " FROM (SELECT * FROM floor.message WHERE conversation = $1::bigint ORDER BY seq DESC LIMIT $2::bigint) AS m "
    'LEFT JOIN floor.part AS p ON p.conversation = m.conversation AND p.message = m.seq ORDER BY m.seq, p."order"'
)


class _Rows:
    """What a floor sends, made before the clock runs."""

    def __init__(self) -> None:
        self._made: dict[str, bytes] = {}

    def parts(self, *messages: Message) -> bytes:
        rows: list[dict[str, Any]] = []
        for place, message in enumerate(messages):
            for part in to_rows(message).parts:
                row = {name: value for name, value in stored_row(part).items() if value is not None}
                for name in ("tool_input", "tool_output"):
                    if name in row:
                        row[name] = msgspec.Raw(str(row[name]).encode())
                rows.append({"message": place, **row})
        return msgspec.json.encode(rows)


def _make_tables(url: str) -> None:
    migrate.upgrade(url, schema="floor")


def _conversation(url: str, name: str, count: int) -> int:
    """A conversation of plain messages, by SQL."""
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(
            "INSERT INTO floor.conversation (tenant, id, next_seq) VALUES ('default', %s, %s) RETURNING key",
            [name, count],
        ).fetchone()
        assert found is not None
        connection.execute(
            "INSERT INTO floor.message (conversation, seq, branch, parent, id, role) SELECT %s, n, 0, "
            "nullif(n, 0) - 1, 'h' || n, CASE n %% 2 WHEN 0 THEN 'user' ELSE 'assistant' END "
            "FROM generate_series(0, %s) AS n",
            [found[0], count - 1],
        )
        connection.execute(
            'INSERT INTO floor.part (conversation, message, "order", type, text_text) SELECT %s, n, 0, '
            "'text', 'Message ' || n || repeat('. And so on', 12) FROM generate_series(0, %s) AS n",
            [found[0], count - 1],
        )
        key: int = found[0]
        return key


class RawPsycopg:
    """psycopg: one connection, prepared statements, a pipeline."""

    name = "raw psycopg"

    def __init__(self) -> None:
        self._keys: dict[str, int] = {}
        self._rows = _Rows()

    async def open(self, url: str) -> None:
        """Connect."""
        self._url = url
        _make_tables(url)
        self._connection = await psycopg.AsyncConnection.connect(
            url, autocommit=True, cursor_factory=psycopg.AsyncRawCursor, prepare_threshold=0
        )

    async def close(self) -> None:
        """Hang up."""
        await self._connection.close()

    async def fill(self, conversation: str, count: int) -> None:
        """By SQL."""
        self._keys[conversation] = _conversation(self._url, conversation, count)

    async def _keep(self, conversation: str, *messages: Message, load: bool = False) -> None:
        key, ids = self._keys[conversation], [message.id for message in messages]
        body = self._rows.parts(*messages).decode()
        roles = [message.role for message in messages]
        async with self._connection.pipeline():
            await self._connection.execute("BEGIN")
            await self._connection.execute(_BEGIN, [key, len(ids)])
            await self._connection.execute(_MESSAGES, [key, ids, roles, len(ids)])
            await self._connection.execute(_PART, [key, body, ids])
            await self._connection.execute(_END, [key])
            cursor = await self._connection.execute(_LOAD, [key, LAST], binary=True) if load else None
            await self._connection.execute("COMMIT")
        if cursor is not None:
            await cursor.fetchall()

    async def save(self, conversation: str, number: int) -> None:
        """One transaction, one round trip."""
        await self._keep(conversation, question(number), answer(number))

    async def load(self, conversation: str) -> int:
        """Rows as the driver gives them."""
        cursor = await self._connection.execute(_LOAD, [self._keys[conversation], LAST], binary=True)
        return len({row[0] for row in await cursor.fetchall()})

    async def turn(self, conversation: str, number: int) -> None:
        """Two transactions, two round trips."""
        await self._keep(conversation, question(number), load=True)
        await self._keep(conversation, answer(number))


class RawAsyncpg:
    """asyncpg: one connection, prepared statements, a round trip for each."""

    name = "raw asyncpg"

    def __init__(self) -> None:
        self._keys: dict[str, int] = {}
        self._rows = _Rows()

    async def open(self, url: str) -> None:
        """Connect."""
        self._url = url
        _make_tables(url)
        self._connection = await asyncpg.connect(url)

    async def close(self) -> None:
        """Hang up."""
        await self._connection.close()

    async def fill(self, conversation: str, count: int) -> None:
        """By SQL."""
        self._keys[conversation] = _conversation(self._url, f"{conversation} of asyncpg", count)

    async def _keep(self, conversation: str, *messages: Message, load: bool = False) -> None:
        key, ids = self._keys[conversation], [message.id for message in messages]
        body = self._rows.parts(*messages).decode()
        async with self._connection.transaction():
            await self._connection.execute(_BEGIN, key, len(ids))
            await self._connection.execute(
                _MESSAGES, key, ids, [message.role for message in messages], len(ids)
            )
            await self._connection.execute(_PART, key, body, ids)
            await self._connection.execute(_END, key)
            if load:
                await self._connection.fetch(_LOAD, key, LAST)

    async def save(self, conversation: str, number: int) -> None:
        """One transaction."""
        await self._keep(conversation, question(number), answer(number))

    async def load(self, conversation: str) -> int:
        """Rows as the driver gives them."""
        return len({row[0] for row in await self._connection.fetch(_LOAD, self._keys[conversation], LAST)})

    async def turn(self, conversation: str, number: int) -> None:
        """Two transactions."""
        await self._keep(conversation, question(number), load=True)
        await self._keep(conversation, answer(number))
