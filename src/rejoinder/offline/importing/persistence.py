"""Rows of the persistence specification's own tables: agents (or chats), messages, parts.

They have no turns, so there is no journal to be made of them. Their order is a time, and rows that were written
together have the same: such rows come in the order in which they lie, and the report says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Final, NamedTuple

from rejoinder.convert.spec_rows import from_spec_rows
from rejoinder.errors import InvalidMessage
from rejoinder.messages import Json, JsonObject, Message, Opaque
from rejoinder.offline.importing.report import Progress, Report, nobody
from rejoinder.offline.importing.sources import Row, Source, SourceUnreadable
from rejoinder.offline.importing.target import Target
from rejoinder.ports.journal import StoreError
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore
from rejoinder.wire import json

BATCH_MESSAGES: Final = 100
"""So many messages are written in one transaction, and their parts fetched with one query."""

PARENTS: Final = (("agents", "agentId"), ("chats", "chatId"))
"""What the specification calls its conversations, and what the demo calls them that it was made after."""

KEPT_WHOLE: Final = "imported-row"
"""The type of a part that holds a row which could not be read."""


class Read(NamedTuple):
    """A row and its columns."""

    row: Row
    columns: JsonObject

    def get(self, column: str) -> Json:
        """What stands in a column; None if there is no such column."""
        return self.columns.get(column)


async def import_persistence(
    source: Source,
    store: ConversationStore,
    *,
    tenant: str = DEFAULT_TENANT,
    progress: Progress = nobody,
) -> Report:
    """Import all rows of these tables. Raises `SourceUnreadable` if they are not there."""
    for table in ("messages", "parts"):
        if not source.columns(table):
            raise SourceUnreadable(
                f"the source has no table {table!r}: it needs agents (or chats), messages and parts"
            )
    known = source.columns("messages")
    parents, link = next((pair for pair in PARENTS if pair[1] in known), PARENTS[0])
    work = _Import(source, store, tenant)
    if source.columns(parents):
        for agent in _read(source.rows(parents, by=("createdAt",))):
            await work.agent(agent)
    done, total = 0, source.count("messages")
    for agent_id, messages in groupby(_read(source.rows("messages", by=(link, "createdAt"))), _column(link)):
        last: str | None = None
        for batch in _batches(messages):
            if agent_id is None:
                await work.homeless(batch)
            else:
                last = await work.messages(str(agent_id), batch, after=last)
            done += len(batch)
            progress(done, total)
    await work.orphans()
    return work.finished()


class _Import:
    """One import under way."""

    def __init__(self, source: Source, store: ConversationStore, tenant: str) -> None:
        self._source = source
        self._report = Report()
        self._target = Target(store, self._report, tenant=tenant)
        self._agents: set[str] = set()
        self._seen: set[str] = set()
        self._ties = 0
        self._time: Json = None

    async def agent(self, agent: Read) -> None:
        """A conversation, with what the specification does not name in its metadata."""
        id = agent.get("id")
        if id is None:
            await self._target.keep(agent.row.where, agent.row.text, "it has no id")
            return
        rest = {name: value for name, value in agent.columns.items() if name not in {"id", "title"}}
        title = agent.get("title")
        await self._conversation(str(id), title if isinstance(title, str) else None, rest, agent.row.where)

    async def messages(self, agent_id: str, batch: Sequence[Read], *, after: str | None) -> str | None:
        """Messages of one agent with their parts, behind `after`. Answers the last one's id."""
        if agent_id not in self._agents:
            self._report.notes.append(f"agent {agent_id!r} has messages and no row: it has been made up")
            await self._conversation(agent_id, None, {}, f"agent {agent_id!r}")
        ids = [message.get("id") for message in batch]
        parts: defaultdict[Json, list[Read]] = defaultdict(list)
        for part in _read(self._source.rows("parts", by=("order",), where=("messageId", ids))):
            parts[part.get("messageId")].append(part)
        made: list[Message] = []
        for message in batch:
            read = self._message(message, parts[message.get("id")])
            if read is None:
                await self._target.keep(message.row.where, message.row.text, "it has no id")
            else:
                made.append(read)
            self._ties += self._time is not None and self._time == (agent_id, message.get("createdAt"))
            self._time = (agent_id, message.get("createdAt"))
        self._seen.update(message.id for message in made)
        rows = [message.row.where for message in batch if isinstance(message.get("id"), str)]
        return await self._target.messages(agent_id, made, after=after, where=rows)

    async def homeless(self, batch: Sequence[Read]) -> None:
        """Messages that name no agent, or are none."""
        for message in batch:
            await self._target.keep(message.row.where, message.row.text, "it names no agent")

    async def orphans(self) -> None:
        """Parts whose message is not there."""
        for part in _read(self._source.rows("parts", by=())):
            if part.get("messageId") not in self._seen:
                await self._target.keep(part.row.where, part.row.text, "its message is not there")

    def finished(self) -> Report:
        """What was done."""
        if self._ties:
            self._report.notes.append(
                f"{self._ties} messages have the time of the one before them: they are in the order in which they lay"
            )
        return self._report

    async def _conversation(self, id: str, title: str | None, rest: JsonObject, where: str) -> None:
        self._agents.add(id)
        try:
            await self._target.conversation(id, title=title, origin={"from": "persistence", **rest})
        except StoreError as error:
            self._report.left_out(where, error)

    def _message(self, row: Read, parts: Sequence[Read]) -> Message | None:
        """What the rows say; whole as they are, if they cannot be read; None for a row without an id."""
        id = row.get("id")
        if not isinstance(id, str):
            return None
        try:
            message = from_spec_rows(row.columns, [part.columns for part in parts])
        except InvalidMessage as error:
            self._report.kept_raw(row.row.where, error)
            whole = {"type": KEPT_WHOLE, "message": row.columns, "parts": [part.columns for part in parts]}
            return Message(id=id, role="assistant", parts=(Opaque(body=whole),))
        for part, read in zip(sorted(parts, key=_place), message.parts, strict=True):
            if isinstance(read, Opaque):
                self._report.kept_raw(
                    part.row.where, f"a part {part.get('type')!r} is not known, or lacks what it needs"
                )
        return message


def _read(rows: Iterable[Row]) -> Iterator[Read]:
    return (Read(row, json.decode(row.text)) for row in rows)


def _column(name: str) -> Callable[[Read], Json]:
    return lambda row: row.get(name)


def _place(part: Read) -> Json:
    return part.columns.get("order", 0)


def _batches(rows: Iterable[Read]) -> Iterator[list[Read]]:
    rest = iter(rows)
    while batch := list(islice(rest, BATCH_MESSAGES)):
        yield batch
