"""`rejoinder tail`: what is being said now, of one conversation or of all, until somebody ends it."""

from __future__ import annotations

import asyncio
import select
import sys
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rejoinder.cli.database import DEFAULT_SCHEMA, Database, Schema
from rejoinder.cli.offline import DEFAULT_TENANT, Tenant, opened, run
from rejoinder.cli.streams import Problems, write_line

if TYPE_CHECKING:
    from rejoinder.messages import Turn
    from rejoinder.ports.store import ConversationStore

LOOK_SECONDS: Final = 0.5
"""Between two looks for turns that have begun."""

NEWEST: Final = 50
"""So many conversations are looked at: those that change come first in the list."""

TURNS: Final = 10
"""So many of the newest turns of each that has changed: more do not begin and end between two looks."""

KNOWN_MAX: Final = 10_000
"""So many turns are remembered as told: all that could still be among the newest."""

LIVE: Final = ("queued", "running")


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
    async with opened(database, schema) as store:
        if conversation is not None and await store.get_conversation(conversation, tenant=tenant) is None:
            missing = f"there is no conversation {conversation!r} of tenant {tenant!r}"
            if once:
                Problems().tell("", missing)
                raise typer.Exit(1)
            print(f"{missing} yet: waiting for it", file=sys.stderr)
        elif sys.stderr.isatty() and not once:
            print("waiting for what is said; Ctrl-C ends this", file=sys.stderr)
        looked = Looked(store, conversation, tenant)
        try:
            async with asyncio.TaskGroup() as following:
                while True:
                    turns = await looked.new_turns()
                    tasks = [
                        following.create_task(_follow(store, turn, tenant, events=events)) for turn in turns
                    ]
                    if once:
                        await asyncio.gather(*tasks)
                        if not tasks:
                            return
                    if _is_read_no_more():
                        raise BrokenPipeError
                    await asyncio.sleep(LOOK_SECONDS)
        except BaseExceptionGroup as group:
            # Whoever read us has gone, or the store has: one of those who noticed says it.
            raise group.exceptions[0] from None


def _is_read_no_more() -> bool:
    """Whether nobody will read what is written. While nothing is said, nothing is written, and no write can tell."""
    with suppress(OSError, ValueError):  # not a file of the system's
        looking = select.poll()
        looking.register(sys.stdout.fileno(), 0)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in looking.poll(0))
    return False


class Looked:
    """What was there at the last look, so that what is new is found, though it may be over by now."""

    def __init__(self, store: ConversationStore, conversation: str | None, tenant: str) -> None:
        self._store = store
        self._conversation = conversation
        self._tenant = tenant
        self._changed: dict[str, datetime] = {}
        self._known: dict[str, None] = {}
        self._first = True

    async def new_turns(self) -> list[Turn]:
        """Turns that have begun since; at the first look, those that are live."""
        found: list[Turn] = []
        changed = await self._conversations()
        for id, at in changed.items():
            if self._changed.get(id) == at:
                continue
            for turn in await self._store.list_turns(id, limit=TURNS, tenant=self._tenant):
                if turn.id not in self._known and not (self._first and turn.status not in LIVE):
                    found.append(turn)
                self._known[turn.id] = None
        for old in list(self._known)[:-KNOWN_MAX]:
            del self._known[old]
        self._changed, self._first = changed, False
        return found

    async def _conversations(self) -> dict[str, datetime]:
        if self._conversation is None:
            newest = await self._store.list_conversations(limit=NEWEST, tenant=self._tenant)
        else:
            found = await self._store.get_conversation(self._conversation, tenant=self._tenant)
            newest = [] if found is None else [found]
        return {each.id: each.updated_at for each in newest}


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
