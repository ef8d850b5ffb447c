"""`rejoinder tail`: what is being said now, of one conversation or of all, until somebody ends it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rejoinder.cli.database import DEFAULT_SCHEMA, Database, Schema
from rejoinder.cli.offline import DEFAULT_TENANT, Tenant, opened, run
from rejoinder.cli.streams import write_line

if TYPE_CHECKING:
    from rejoinder.messages import Turn
    from rejoinder.ports.store import ConversationStore

LOOK_SECONDS: Final = 0.5
"""Between two looks for turns that have begun."""

NEWEST: Final = 50
"""So many conversations are looked at: those that change come first in the list."""


def tail(
    conversation: Annotated[str | None, typer.Argument(help="Which conversation; all, if not given.")] = None,
    *,
    events: Annotated[
        bool, typer.Option("--events", help="What agents say, in their own words, in place of the frames.")
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="End when nothing is live (any more).")] = False,
    tenant: Tenant = DEFAULT_TENANT,
    database: Database = None,
    schema: Schema = DEFAULT_SCHEMA,
) -> None:
    """Follow what is being said, as JSON lines: a frame, or an event, a line, with its conversation and turn.

    Example: rejoinder tail --events
    """
    run(_tail(conversation, tenant, database, schema, events=events, once=once))


async def _tail(
    conversation: str | None, tenant: str, database: str | None, schema: str, *, events: bool, once: bool
) -> None:
    async with opened(database, schema) as store, asyncio.TaskGroup() as following:
        known: set[str] = set()
        while True:
            tasks: list[asyncio.Task[None]] = []
            async for turn in _live(store, conversation, tenant):
                if turn.id not in known:
                    known.add(turn.id)
                    tasks.append(following.create_task(_follow(store, turn, tenant, events=events)))
            if once:
                await asyncio.gather(*tasks)
                if not tasks:
                    return
            await asyncio.sleep(LOOK_SECONDS)


async def _live(store: ConversationStore, conversation: str | None, tenant: str) -> AsyncIterator[Turn]:
    if conversation is not None:
        ids = [conversation]
    else:
        ids = [found.id for found in await store.list_conversations(limit=NEWEST, tenant=tenant)]
    for id in ids:
        turn = await store.live_turn(id, tenant=tenant)
        if turn is not None:
            yield turn


async def _follow(store: ConversationStore, turn: Turn, tenant: str, *, events: bool) -> None:
    from rejoinder.wire import json

    place = {"conversation": turn.conversation_id, "turn": turn.id}
    async for page in store.follow(turn.id, events=events, tenant=tenant):
        if events:
            for event in page.events:
                write_line(json.encode({**place, "before": event.before, "event": _text(event.body)}))
        else:
            for number, frame in enumerate(filter(None, page.frames.split(b"\n\n"))):
                chunk = json.decode(frame.removeprefix(b"data: "))
                write_line(json.encode({**place, "seq": page.first_seq + number, "chunk": chunk}))
    ended = await store.get_turn(turn.id, tenant=tenant)
    told: dict[str, str | None] = {**place, "ended": None if ended is None else ended.status}
    if ended is not None and isinstance(ended.finished_at, datetime):
        told["at"] = ended.finished_at.isoformat()
    write_line(json.encode(told))


def _text(body: bytes) -> str:
    return body.decode("utf-8", "backslashreplace")
