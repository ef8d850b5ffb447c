"""Claude Code as an agent: `Chat(ClaudeCode(cwd="project"))`.

A turn is a run of the program in the session of the conversation. When the program asks whether a tool may run, the
turn ends and waits for the user, and the program is kept, waiting too; the turn that brings the answer goes on with
it. Should the program be gone by then (the process of the server ended, another worker got the answer, the user took
his time), its session is resumed, the program is told what the user decided, and a call that he allowed may be made
again without another question. A call never runs twice for that: one that waits has not run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from claude_agent_sdk import ClaudeAgentOptions

from rejoinder.agents.claude_course import Question
from rejoinder.agents.claude_program import ClaudeCodeFailed, Program
from rejoinder.agents.claude_prompts import (
    conversation_retold,
    decision_of,
    decisions_retold,
    prompt_of,
    refused,
)
from rejoinder.agents.claude_sessions import Sessions
from rejoinder.agents.provider import IDLE_SECONDS
from rejoinder.messages import Json, JsonObject, ToolCall
from rejoinder.ports.agents import Call, Run
from rejoinder.ports.clock import Clock, SystemClock
from rejoinder.ports.store import ConversationStore
from rejoinder.ports.transcripts import TranscriptStore
from rejoinder.translate import Translator
from rejoinder.translate.claude_code import OWN
from rejoinder.translate.claude_code import ClaudeCode as Meaning
from rejoinder.translate.fields import text_or_none
from rejoinder.wire import json

WAITING_SECONDS: Final = 600.0
"""So long a program is kept that waits for the user: it takes some 300 MB, and its session can be resumed."""

WAITING_MAX: Final = 16
"""So many are kept at most; the one that has waited longest goes first."""

ASKING_SECONDS: Final = 0.3
"""Calls that a model makes together are asked about together: the turn ends when no more has come for so long."""

Configure: TypeAlias = Callable[[Call], ClaudeAgentOptions]
"""The options for the call at hand: another folder for each user, say."""

_Key: TypeAlias = tuple[str, str]

_log: Final = logging.getLogger(__name__)


class _Waiting(NamedTuple):
    """A program that waits for the user, with the message in which he was asked, and what will end its waiting."""

    program: Program
    message_id: str | None
    expiry: asyncio.Task[None]


class ClaudeCode:
    """An agent that is Claude Code.

    `options` are the SDK's, or a function that gives them for a call; `cwd` is the folder in which the program works,
    if the options name none. Sessions are copied into the chat's store, and resumed from there on any host, unless
    the options name a session store of their own. A `can_use_tool` in the options decides by itself; without one, the
    program's questions are approvals, and the web client answers them. Partial messages are always on: what nobody
    can see growing is no answer in a chat.
    """

    def __init__(
        self,
        options: ClaudeAgentOptions | Configure | None = None,
        *,
        cwd: str | Path | None = None,
        name: str = "claude-code",
        waiting_seconds: float = WAITING_SECONDS,
        waiting_max: int = WAITING_MAX,
        clock: Clock | None = None,
    ) -> None:
        self._options = options or ClaudeAgentOptions()
        self._cwd = cwd
        self._name = name
        self.idle_seconds: float = IDLE_SECONDS
        self._waiting_seconds = waiting_seconds
        self._waiting_max = waiting_max
        self._clock: Clock = SystemClock() if clock is None else clock
        self._transcripts: TranscriptStore | None = None
        self._waiting: dict[_Key, _Waiting] = {}
        self._endings: set[asyncio.Task[None]] = set()

    @property
    def name(self) -> str:
        """Under which name its turns are recorded."""
        return self._name

    @property
    def run(self) -> Run:
        """Runs the program."""
        return self._run

    @property
    def translate(self) -> Translator:
        """What its messages mean."""
        return Meaning

    @asynccontextmanager
    async def residing(self, store: ConversationStore) -> AsyncGenerator[None]:
        """A chat runs over this store: keep sessions there; at its end, end the programs that still wait."""
        self._transcripts = store if isinstance(store, TranscriptStore) else None
        try:
            yield
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """End the programs that wait for users. Their sessions can be resumed."""
        for key in [*self._waiting]:
            self._leave(key)
        if self._endings:
            await asyncio.wait(self._endings)

    async def _run(self, call: Call) -> AsyncGenerator[JsonObject, None]:
        decided = _decided(call)
        program = await self._resumed(call, decided)
        before: list[JsonObject] = []
        asked = program is not None
        if program is None:
            program, before = await self._begun(call, decided)
        ended = False
        try:
            for event in before:
                yield event
            async for event in self._listen(program, call, decided, asked=asked):
                yield event
            ended = True
        finally:
            if ended and program.alive and program.course.waiting and not call.stop.pressed:
                self._keep(call, program)
            else:
                await program.close(at_once=not ended)

    async def _resumed(self, call: Call, decided: Sequence[ToolCall]) -> Program | None:
        """The program that waits for what the user has decided, if there is one. One that waits in vain is ended."""
        waiting = self._waiting.pop(_key(call), None)
        if waiting is None:
            return None
        waiting.expiry.cancel()
        program = waiting.program
        if waiting.message_id == call.turn.message_id and decided and program.alive:
            return program
        await program.close(at_once=True)
        return None

    async def _begun(self, call: Call, decided: Sequence[ToolCall]) -> tuple[Program, list[JsonObject]]:
        """A program that has been told what there is to say, and what is to be said of that beforehand."""
        lost: list[JsonObject] = [_lost_question(part) for part in decided]
        options = self._for_call(call)
        session = text_or_none(call.memory, "sessionId")
        said = decisions_retold(decided) if decided else prompt_of(call.message)
        if session is not None:
            at = text_or_none(call.memory, "lastMessage")
            try:
                resumed = replace(options, resume=session, resume_session_at=at)
                return await self._started(resumed, said), lost
            except ClaudeCodeFailed as error:
                _log.warning("session %s of Claude Code cannot be resumed: %s", session, error)
                lost.insert(0, {"type": OWN, "subtype": "session_lost", "session_id": session})
        retold = conversation_retold(call.history)
        return await self._started(options, [*retold, *said] if decided else retold), lost

    async def _started(self, options: ClaudeAgentOptions, content: Sequence[JsonObject]) -> Program:
        program = Program(options)
        try:
            await program.start()
            await program.say(content)
        except BaseException:
            await program.close(at_once=True)
            raise
        return program

    async def _listen(
        self, program: Program, call: Call, decided: Sequence[ToolCall], *, asked: bool
    ) -> AsyncGenerator[JsonObject, None]:
        """What the program says, until its answer is over, or it waits for the user."""
        # Who has asked about these calls is answered by their ids. Another program makes them again, under others.
        if asked:
            program.forbidden.update(refused(decided))
        decisions = {part.call_id if asked else _same(part.name, part.input): part for part in decided}
        interrupting = asyncio.create_task(_interrupt(program, call))
        try:
            while not program.course.over:
                for question in [*program.course.questions.values()]:
                    name = question.call_id if asked else _same(question.tool, question.input)
                    part = decisions.pop(name, None)
                    if part is not None:
                        decision = decision_of(part, input=question.input)
                        yield await program.answer(question.request_id, decision)
                try:
                    async with asyncio.timeout(ASKING_SECONDS if program.course.waiting else None):
                        event = await program.next()
                except TimeoutError:
                    if not program.course.waiting:
                        continue
                    for queued in program.course.queued:
                        # A client answers all questions of an answer at once: what would be asked next is asked now.
                        yield _early_question(queued)
                    return
                if event is None:
                    return
                if event.get("sdk_host_only") is not True:
                    yield event
        finally:
            interrupting.cancel()
            await asyncio.wait({interrupting})

    def _for_call(self, call: Call) -> ClaudeAgentOptions:
        options = self._options(call) if callable(self._options) else self._options
        options = replace(options, include_partial_messages=True)
        if options.cwd is None and self._cwd is not None:
            options = replace(options, cwd=self._cwd)
        if options.session_store is None and self._transcripts is not None:
            store = Sessions(self._transcripts, tenant=call.tenant, conversation_id=call.conversation.id)
            options = replace(options, session_store=store, session_store_flush="eager")
        return options

    # Programs that wait

    def _keep(self, call: Call, program: Program) -> None:
        while len(self._waiting) >= self._waiting_max:
            self._leave(next(iter(self._waiting)))
        key = _key(call)
        expiry = asyncio.create_task(self._expire(key))
        self._waiting[key] = _Waiting(program, call.turn.message_id, expiry)

    async def _expire(self, key: _Key) -> None:
        await self._clock.sleep(self._waiting_seconds)
        waiting = self._waiting.pop(key)
        await waiting.program.close(at_once=True)

    def _leave(self, key: _Key) -> None:
        """End a program without waiting for its end."""
        waiting = self._waiting.pop(key)
        waiting.expiry.cancel()
        ending = asyncio.create_task(waiting.program.close(at_once=True))
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)


def _key(call: Call) -> _Key:
    return call.tenant, call.conversation.id


def _same(tool: str, input: Json) -> str:
    """What makes two calls the same."""
    return json.encode([tool, input]).decode()


def _decided(call: Call) -> list[ToolCall]:
    """The calls of which the user has said whether they may run, and that have no result yet."""
    parts = call.continues.parts if call.continues is not None else ()
    return [part for part in parts if isinstance(part, ToolCall) and part.state == "approval-responded"]


def _early_question(call: Question) -> JsonObject:
    return {
        "type": OWN,
        "subtype": "question",
        "tool_use_id": call.call_id,
        "tool_name": call.tool,
        "input": call.input,
    }


def _lost_question(part: ToolCall) -> JsonObject:
    approved = part.approval is not None and part.approval.approved is True
    return {"type": OWN, "subtype": "question_lost", "tool_use_id": part.call_id, "approved": approved}


async def _interrupt(program: Program, call: Call) -> None:
    await call.stop.wait()
    try:
        await program.interrupt()
    except ClaudeCodeFailed as error:
        _log.warning("turn %s: Claude Code cannot be interrupted: %s", call.turn.id, error)
