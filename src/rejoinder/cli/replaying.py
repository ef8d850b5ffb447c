"""`rejoinder replay`: a turn as it streamed, and whether what is stored is what was streamed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rejoinder.cli.database import DEFAULT_SCHEMA, Database, Schema
from rejoinder.cli.offline import DEFAULT_TENANT, Agents, opened, progress, run, translators
from rejoinder.cli.streams import Problems, misuse, write_line

if TYPE_CHECKING:
    from rejoinder.messages import Turn
    from rejoinder.offline.checking import Check, Translators
    from rejoinder.offline.journals import Frame
    from rejoinder.ports.store import ConversationStore
    from rejoinder.wire.chunks import Chunk

SHOWN_CHARACTERS_MAX: Final = 200
"""So much of an input or output of a tool is shown on its line."""


def replay(
    conversation: Annotated[
        str | None, typer.Argument(help="Which conversation. With --check: all of them, if none is named.")
    ] = None,
    *,
    turn: Annotated[str | None, typer.Option(help="Which turn; all of the conversation, one by one.")] = None,
    speed: Annotated[
        str, typer.Option(help="real, a number of times as fast, step (Enter for each chunk), or max.")
    ] = "real",
    check: Annotated[
        bool, typer.Option("--check", help="Make each answer anew and compare it with what is stored.")
    ] = False,
    from_events: Annotated[
        bool, typer.Option("--from-events", help="Translate the agent's events anew, and show that.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Chunks as JSON lines, each with its place and time.")
    ] = False,
    agent: Agents = None,
    tenant: Annotated[
        str | None, typer.Option(help="Whose: default; with --check and no conversation everybody's.")
    ] = None,
    database: Database = None,
    schema: Schema = DEFAULT_SCHEMA,
) -> None:
    """Show a turn as it streamed, or check that the stored answers are what was streamed.

    `--check` folds the frames that clients were sent, translates the agent's events anew, and holds both against the
    stored message; exit 1 and the places where they differ, if they do. Without a conversation it goes through
    everything there is, or is of the tenant.

    Examples: rejoinder replay 3f2a --speed 4; rejoinder replay --check --agent my_agents:agent
    """
    if speed not in ("real", "step", "max") and not _is_factor(speed):
        misuse(f"--speed {speed}: say real, step, max, or a number such as 4")
    if conversation is None and not check:
        misuse("replay: name a conversation, or say --check to look at all of them")
    if conversation is None and turn is not None:
        misuse("--turn: name its conversation as well")
    known = translators(agent)
    if check:
        run(_check(conversation, turn, tenant, known, database, schema))
    else:
        assert conversation is not None
        shown = _Shown(as_json=as_json)
        run(
            _replay(
                conversation,
                turn,
                speed,
                tenant or DEFAULT_TENANT,
                known if from_events else None,
                shown,
                database,
                schema,
            )
        )


async def _check(
    conversation: str | None,
    turn_id: str | None,
    tenant: str | None,
    known: Translators,
    database: str | None,
    schema: str,
) -> None:
    from rejoinder.offline.checking import check_all, check_turn, count_turns

    problems = Problems()
    checked, left_out = 0, 0
    async with opened(database, schema) as store:
        with progress("Checking", "turns") as told:
            if conversation is not None:
                owner = tenant or DEFAULT_TENANT
                turns = await _turns(store, conversation, turn_id, owner)
                found: AsyncIterator[Check] = (
                    await check_turn(store, each, tenant=owner, translators=known) for each in turns
                )
                total: int | None = len(turns)
            else:
                tenants = await store.list_tenants()
                if tenant is not None and tenant not in tenants:
                    problems.tell("", f"there is no tenant {tenant!r}: nothing is kept under that name")
                    raise typer.Exit(1)
                tenants = tenants if tenant is None else [tenant]
                found = check_all(store, tenants=tenants, translators=known)
                total = await count_turns(store, tenants=tenants)
            async for each in found:
                checked += 1
                left_out += each.left_out is not None
                told(checked, total)
                if each.differences:
                    problems.tell("", each)
    summary = f"{checked} turns checked, {problems.count} differ"
    typer.echo(summary + (f", {left_out} could be checked in part or not at all" if left_out else ""))
    problems.exit()


async def _replay(
    conversation: str,
    turn_id: str | None,
    speed: str,
    tenant: str,
    known: Translators | None,
    shown: _Shown,
    database: str | None,
    schema: str,
) -> None:
    async with opened(database, schema) as store:
        for turn in await _turns(store, conversation, turn_id, tenant):
            shown.begin(turn)
            before: datetime | None = None
            async for frame in _frames(store, turn, tenant, known):
                await _wait(speed, before, frame.at)
                before = frame.at
                shown.frame(frame)
            shown.end(turn)


async def _turns(store: ConversationStore, conversation: str, turn_id: str | None, tenant: str) -> list[Turn]:
    turns = await store.list_turns(conversation, tenant=tenant)
    chosen = [turn for turn in turns if turn_id in (None, turn.id)]
    if not chosen:
        if await store.get_conversation(conversation, tenant=tenant) is None:
            Problems().tell("", f"there is no conversation {conversation!r} of tenant {tenant!r}")
            raise typer.Exit(1)
        what = f"turn {turn_id!r}" if turn_id is not None and turns else "turns"
        Problems().tell("", f"conversation {conversation!r} of tenant {tenant!r} has no {what}")
        raise typer.Exit(1)
    return chosen


async def _frames(
    store: ConversationStore, turn: Turn, tenant: str, known: Translators | None
) -> AsyncIterator[Frame]:
    from rejoinder.offline.checking import turns_of_message
    from rejoinder.offline.journals import Frame, pages_of, read_journal
    from rejoinder.offline.retelling import begun_with, retell

    if known is None:
        async for frames, _ in pages_of(store, turn.id, tenant=tenant):
            for frame in frames:
                yield frame
        return
    translator = known.get(turn.agent or "")
    if translator is None:
        misuse(f"--from-events: nobody here translates for {turn.agent!r}; name your agent with --agent")
    journal = await read_journal(store, turn.id, tenant=tenant)
    at = journal.frames[0].at if journal.frames else turn.created_at
    stored = None
    if turn.message_id is not None:
        stored = await store.get_message(turn.conversation_id, turn.message_id, tenant=tenant)
    earlier = [
        (await read_journal(store, each.id, tenant=tenant)).telling(each)
        for each in await turns_of_message(store, turn, tenant=tenant)
        if each.id != turn.id
    ]
    continues = begun_with(earlier, None if stored is None else stored.message)
    retold = retell(journal.telling(turn), translator, continues=continues)
    for seq, chunk in enumerate(retold.chunks):
        at = journal.frames[seq].at if seq < len(journal.frames) else at
        yield Frame(seq, at, chunk)


async def _wait(speed: str, before: datetime | None, at: datetime) -> None:
    if speed == "step":
        await asyncio.to_thread(sys.stdin.readline)
    elif speed != "max" and before is not None:
        await asyncio.sleep((at - before).total_seconds() / (1.0 if speed == "real" else float(speed)))


def _is_factor(speed: str) -> bool:
    try:
        return 0 < float(speed) < float("inf")
    except ValueError:
        return False


class _Shown:
    """What a person sees of a turn, or a program reads."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._in_line = False

    def begin(self, turn: Turn) -> None:
        if not self._as_json:
            self._line(f"── turn {turn.id}, {turn.agent or 'nobody'}, {turn.created_at:%Y-%m-%d %H:%M:%S}")

    def frame(self, frame: Frame) -> None:
        from rejoinder.wire import json
        from rejoinder.wire.codec import chunk_to_json

        if self._as_json:
            told = {"seq": frame.seq, "at": frame.at.isoformat(), "chunk": chunk_to_json(frame.chunk)}
            write_line(json.encode(told))
        else:
            self._chunk(frame.chunk)

    def end(self, turn: Turn) -> None:
        if not self._as_json:
            self._line(f"── {turn.status}")

    def _chunk(self, chunk: Chunk) -> None:
        from rejoinder.wire import chunks as wire

        match chunk:
            case wire.TextDelta(delta=delta):
                self._text(delta)
            case wire.ReasoningDelta(delta=delta):
                self._text(delta)
            case wire.TextStart() | wire.ReasoningStart() | wire.TextEnd() | wire.ReasoningEnd():
                self._line("… " if isinstance(chunk, wire.ReasoningStart) else None)
            case wire.ToolInputAvailable(tool_name=name, input=given):
                self._line(f"→ {name} {_short(given)}")
            case wire.ToolOutputAvailable(output=output):
                self._line(f"← {_short(output)}")
            case wire.ToolOutputError(error_text=text) | wire.ToolInputError(error_text=text):
                self._line(f"✗ {text}")
            case wire.ToolApprovalRequest(tool_call_id=call_id):
                self._line(f"? may {call_id} run")
            case wire.ToolOutputDenied():
                self._line("✗ denied")
            case wire.Error(error_text=text):
                self._line(f"! {text}")
            case _:
                pass  # nothing that one would see

    def _text(self, text: str) -> None:
        typer.echo(_printable([text]), nl=False)
        self._in_line = True

    def _line(self, text: str | None) -> None:
        if self._in_line:
            typer.echo()
            self._in_line = False
        if text is not None:
            typer.echo(_printable([text]))


def _printable(pieces: Iterable[str]) -> str:
    """Text that a terminal can show: no half characters, and no commands to it."""
    text = "".join(pieces).encode("utf-8", "replace").decode()
    return "".join(each if each.isprintable() or each in "\n\t" else "\ufffd" for each in text)


def _short(value: object) -> str:
    from rejoinder.wire import json

    text = json.encode(value).decode("utf-8", "replace")
    return text if len(text) <= SHOWN_CHARACTERS_MAX else text[: SHOWN_CHARACTERS_MAX - 1] + "…"
