"""Session messages of the agent-messages specification: `{aiSDKChunks, rawAgentMessages, agentResult, agentType}`.

A row of that kind is a turn that is over. Its chunks become the frames, as they are if they are legal; else what can
be said of them is said again, by the same translator that speaks for live streams, and the row's content is kept
beside it whole. Its raw messages become the events, byte for byte. A row with plain content is a message.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Final, NamedTuple, get_args

import msgspec

from rejoinder.convert.moments import moment_of
from rejoinder.errors import InvalidJson, InvalidMessage, RejoinderError
from rejoinder.messages import ABSENT, Json, JsonObject, Maybe, Message, Opaque, Part, Role, Text
from rejoinder.offline.importing.pieces import elements, members
from rejoinder.offline.importing.report import Progress, Report, nobody
from rejoinder.offline.importing.sources import Row, Source, SourceUnreadable
from rejoinder.offline.importing.target import Target
from rejoinder.offline.importing.told import stored_id, told
from rejoinder.offline.importing.turns import Finished, write_turn
from rejoinder.ports.journal import StoreError
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

TABLE: Final = "session_messages"

UNKNOWN_CONTENT: Final = "imported-content"
"""The type of a part that holds content which is neither text nor chunks."""

PROBLEMS_SHOWN_MAX: Final = 3
"""Of one row, in the report: the whole row is kept, so whoever wants to know more can look."""

ROLES: Final[tuple[Role, ...]] = get_args(Role)
_OWN: Final = frozenset({"id", "session_id", "role", "content"})


class Content(NamedTuple):
    """A turn as that specification stores it, cut into the texts of its chunks and raw messages."""

    ai_sdk_chunks: list[bytes]
    raw_agent_messages: list[bytes]
    agent_result: bytes
    agent_type: str


class Item(NamedTuple):
    """A row: its columns, and its content as text, which may be JSON."""

    row: Row
    columns: JsonObject
    content: bytes

    @property
    def id(self) -> str:
        """What the row is called in its session."""
        return str(self.columns.get("id"))


async def import_session_messages(
    source: Source,
    store: ConversationStore,
    *,
    tenant: str = DEFAULT_TENANT,
    progress: Progress = nobody,
) -> Report:
    """Import all rows of `session_messages`. Raises `SourceUnreadable` if there are none."""
    if not source.columns(TABLE):
        raise SourceUnreadable(f"the source has no table {TABLE!r}")
    report = Report()
    work = _Import(source, Target(store, report, tenant=tenant), report)
    rows = map(_item, source.rows(TABLE, by=("session_id", "id")))
    done, total = 0, source.count(TABLE)
    for session, items in groupby(rows, lambda item: item.columns.get("session_id")):
        begun = False
        for item in items:
            if session is None:
                await work.keep(item, "it names no session")
            else:
                if not begun:
                    await work.session(str(session))
                    begun = True
                await work.item(str(session), item)
            done += 1
            progress(done, total)
    return report


class _Import:
    """One import under way. Of the session at hand it knows which message each row became."""

    def __init__(self, source: Source, target: Target, report: Report) -> None:
        self._source = source
        self._target = target
        self._report = report
        self._made: dict[str, str] = {}
        self._last: str | None = None

    async def session(self, id: str) -> None:
        """Begin a conversation."""
        self._made, self._last = {}, None
        columns: JsonObject = {}
        known = self._source.columns("sessions")
        if "id" in known:
            for row in self._source.rows("sessions", by=(), where=("id", [id])):
                columns = json.decode(row.text)
        title = next((said for name in ("title", "name") if isinstance(said := columns.get(name), str)), None)
        try:
            await self._target.conversation(id, title=title, origin={"from": "session-messages", **columns})
        except StoreError as error:
            self._report.left_out(f"session {id!r}", error)

    async def keep(self, item: Item, why: str) -> None:
        """Keep a row that belongs nowhere."""
        await self._target.keep(item.row.where, item.row.text, why)

    async def item(self, session: str, item: Item) -> None:
        """Import one row, whatever is in it."""
        parent = item.columns.get("parent_id")
        after = self._made.get(str(parent), self._last) if parent is not None else self._last
        try:
            id = await self._written(session, item, after)
        except RejoinderError as error:
            self._report.left_out(item.row.where, error)
            await self.keep(item, "kept beside")
            return
        self._made[item.id] = id
        self._last = id

    async def _written(self, session: str, item: Item, after: str | None) -> str:
        content = _content(item.content)
        if content is None or item.columns.get("role") != "assistant":
            message = self._message(item, content)
            await self._target.messages(session, [message], after=after, where=[item.row.where])
            return message.id
        chunks = content.ai_sdk_chunks
        named = stored_id(chunks)
        said = told(chunks, message_id=item.id if named is None or named in self._made.values() else named)
        origin = _origin(item)
        if content.agent_result != b"null":
            origin["agentResult"] = json.decode(content.agent_result)
        if said.problems:
            origin["original"] = await self._target.store.put_blob(
                item.content, media_type="application/json", tenant=self._target.tenant
            )
        message = said.message
        if message.metadata is ABSENT:
            message = msgspec.structs.replace(message, metadata=_metadata(item))
        is_new = await write_turn(
            self._target,
            Finished(
                conversation_id=session,
                key=item.id,
                told=said._replace(message=message),
                events=content.raw_agent_messages,
                agent=content.agent_type,
                origin=origin,
                after=after,
                created_at=self._moment(item, "created_at"),
                finished_at=self._moment(item, "updated_at"),
            ),
        )
        self._count(item, is_new=is_new, problems=said.problems)
        return message.id

    def _message(self, item: Item, content: Content | None) -> Message:
        """A row that is no turn."""
        role: Role | None = next((each for each in ROLES if each == item.columns.get("role")), None)
        if role is None:
            self._report.kept_raw(
                item.row.where, f"its role is {item.columns.get('role')!r}: it becomes assistant"
            )
        parts: tuple[Part, ...] = ()
        if content is not None:
            said = told(content.ai_sdk_chunks, message_id=item.id)
            parts = said.message.parts
        elif (value := _object(item.content)) is not None:
            self._report.kept_raw(item.row.where, "its content is neither text nor chunks")
            parts = (Opaque(body={"type": UNKNOWN_CONTENT, "content": value}),)
        elif item.columns.get("content") is not None:
            parts = (Text(text=item.content.decode("utf-8", "surrogatepass")),)
        return Message(
            id=item.id,
            role=role or "assistant",
            parts=parts,
            metadata=_metadata(item),
            created_at=self._moment(item, "created_at"),
        )

    def _moment(self, item: Item, column: str) -> datetime | None:
        try:
            return moment_of(item.columns.get(column), column)
        except InvalidMessage as error:
            self._report.notes.append(f"{item.row.where}: {error}")
            return None

    def _count(self, item: Item, *, is_new: bool, problems: Sequence[str]) -> None:
        if is_new:
            self._report.turns += 1
            self._report.messages += 1
        else:
            self._report.there += 1
        if problems:
            shown = "; ".join(problems[:PROBLEMS_SHOWN_MAX])
            more = len(problems) - PROBLEMS_SHOWN_MAX
            self._report.kept_raw(item.row.where, shown + (f"; and {more} more" if more > 0 else ""))


def _item(row: Row) -> Item:
    columns = json.decode(row.text)
    content = members(row.text).get("content", b"null")
    said = json.decode(content) if content.startswith(b'"') else None
    return Item(row, columns, content if said is None else said.encode("utf-8", "surrogatepass"))


def _content(text: bytes) -> Content | None:
    """The content, if it is a turn."""
    try:
        found = members(text)
        kind = json.decode(found.get("agentType", b'"unknown"'))
        return Content(
            ai_sdk_chunks=elements(found["aiSDKChunks"]),
            raw_agent_messages=elements(found.get("rawAgentMessages", b"[]")),
            agent_result=found.get("agentResult", b"null"),
            agent_type=kind if isinstance(kind, str) else "unknown",
        )
    except (KeyError, InvalidJson):
        return None


def _object(text: bytes) -> Json:
    """The JSON object or array that this text is, else None."""
    try:
        value = json.decode(text)
    except RejoinderError:
        return None
    return value if is_object(value) or is_array(value) else None


def _metadata(item: Item) -> Maybe:
    metadata = item.columns.get("metadata")
    return ABSENT if metadata is None else metadata


def _origin(item: Item) -> JsonObject:
    """Where the turn came from, with all columns that have no place of their own."""
    rest = {name: value for name, value in item.columns.items() if name not in _OWN and value is not None}
    return {"from": "session-messages", "id": item.columns.get("id"), **rest}
