"""`OpenHarnessChatTransport`: the AI SDK's chat transport over a runtime, and the same as an agent.

A run belongs to the transport and not to whoever reads it: a reader that leaves ends nothing but its own reading,
and `reconnect_to_stream` reads the run again from its start. What ends it is the abort signal, or the runtime.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Final, Self

from rejoinder.agents.open_harness.runtime import Runtime, StartableRuntime, switchboard_of
from rejoinder.convert.ui import from_ui
from rejoinder.errors import InvalidJson
from rejoinder.messages import Json, JsonObject, Message, Text, TurnError
from rejoinder.ports.agents import AgentError, Call, Run, Stop
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore
from rejoinder.translate import Problem, Translation, Translator
from rejoinder.translate.open_harness import OpenHarness, OpenHarnessOptions, RunEnd
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.codec import decode_chunk

ABORT_SECONDS: Final = 5.0
"""So long a runtime may take to say that it has aborted; then the stream ends without its word."""

ABORTED_TEXT: Final = "The run was aborted."
FAILED_TEXT: Final = "The agent failed."
IDLE_TEXT: Final = "The agent is not running."

_log: Final = logging.getLogger(__name__)


def _random_id() -> str:
    return str(uuid.uuid4())


class TransportOptions(OpenHarnessOptions, frozen=True, kw_only=True):
    """What of a run a client is told, and how messages are called.

    `send_reasoning`: thoughts. `send_step_markers`: a step for each node. `send_flow_metadata`: what becomes of the
    flow, as `data-flow-status`. `send_node_outputs`: what nodes give, as `data-node-output`. `generate_message_id`:
    the ids of messages that the transport makes itself; as an agent in a `Chat`, the chat makes them.
    """

    generate_message_id: Callable[[], str] = _random_id


class OpenHarnessChatTransport:
    """Sends messages to a runtime, and gives what it says as chunks. It is also an agent: `Chat(transport)`.

    With the `store` of a chat, `reconnect_to_stream` reads the chat's journal, in whichever process the turn runs.
    Leave it with `async with`, or `aclose`, so that no run outlives it.
    """

    def __init__(
        self,
        runtime: Runtime,
        options: TransportOptions | None = None,
        *,
        name: str = "open-harness",
        store: ConversationStore | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> None:
        told = TransportOptions() if options is None else options
        self.runtime: Final = runtime
        self.options: Final = told
        self._name = name
        self._store = store
        self._tenant = tenant
        self._live: dict[str, _LiveRun] = {}
        self._tasks: set[asyncio.Task[None]] = set()

        class Told(OpenHarness):
            def __init__(self) -> None:
                super().__init__(told)

        self._translate: Translator = Told

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Let go of the runs that are under way."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # As an agent

    @property
    def name(self) -> str:
        """Under which name its turns are recorded."""
        return self._name

    @property
    def run(self) -> Run:
        """Sends the prompt and yields what the runtime says."""
        return self._run

    @property
    def translate(self) -> Translator:
        """What its events mean."""
        return self._translate

    def _run(self, call: Call) -> AsyncGenerator[Json, None]:
        return self._events(call.prompt, call.turn.id, call.stop)

    # As a transport

    async def send_messages(
        self,
        *,
        chat_id: str,
        messages: Sequence[Message | JsonObject],
        abort_signal: Stop | None = None,
        trigger: str = "submit-message",
        message_id: str | None = None,
    ) -> AsyncGenerator[Chunk, None]:
        """Send the last message of the user; what is answered is the stream of the answer.

        `trigger` and `message_id` are what the AI SDK says of a regeneration: it is a run like any other.
        """
        live = _LiveRun(self.options.generate_message_id())
        self._live[chat_id] = live
        stop = Stop() if abort_signal is None else abort_signal
        task = asyncio.create_task(self._answer(live, _last_words(messages), stop))
        self._tasks.add(task)

        def forget(done: asyncio.Task[None]) -> None:
            self._tasks.discard(done)
            live.end()
            if self._live.get(chat_id) is live:
                del self._live[chat_id]

        task.add_done_callback(forget)
        return live.read()

    async def reconnect_to_stream(self, *, chat_id: str) -> AsyncGenerator[Chunk, None] | None:
        """The stream of the answer that is being made, from its start; None if none is."""
        live = self._live.get(chat_id)
        if live is not None:
            return live.read()
        if self._store is None:
            return None
        turn = await self._store.live_turn(chat_id, tenant=self._tenant)
        return None if turn is None else self._journal(turn.id, self._store)

    async def _journal(self, turn_id: str, store: ConversationStore) -> AsyncGenerator[Chunk, None]:
        pages = store.follow(turn_id, tenant=self._tenant)
        async for page in pages:
            for frame in page.frames.split(b"\n\n"):
                if frame:
                    yield decode_chunk(frame.removeprefix(b"data: "))

    async def _answer(self, live: _LiveRun, text: str, stop: Stop) -> None:
        translation = Translation(self._translate, message_id=live.message_id)
        live.say(translation.begin())
        try:
            async with aclosing(self._events(text, _random_id(), stop)) as events:
                async for event in events:
                    live.say(translation.event(_read(event)))
                    for note in translation.take_notes():
                        if isinstance(note, Problem):
                            _log.warning("%s", note.text)
        except AgentError as error:
            _log.warning("a run of Open Harness failed", exc_info=error)
            live.say(translation.fail(_error(str(error)), error.user_text))
        except Exception as error:  # noqa: BLE001  # whatever it raises, the stream has an end
            _log.exception("a run of Open Harness failed")
            live.say(translation.fail(_error(f"{type(error).__name__}: {error}"), FAILED_TEXT))
        else:
            if stop.pressed and translation.ending is None:
                reason = stop.reason or ABORTED_TEXT
                live.say(translation.fail(_error(reason), reason))
            else:
                live.say(translation.end())

    # What both have in common

    async def _events(self, text: str, run_id: str, stop: Stop) -> AsyncGenerator[Json, None]:
        """The events of one run, as the runtime gives them."""
        board, end = switchboard_of(self.runtime), RunEnd()
        route = board.open(run_id)
        run: asyncio.Task[None] | None = None
        aborting: asyncio.Task[None] | None = None
        try:
            run = await self._begin(text, run_id)
            while True:
                for event in route.take():
                    end.hear(_read(event))
                    yield event
                    if end.over:
                        return
                if end.agent_ended and self.runtime.status != "running":
                    return
                if route.ended or (run is not None and run.done() and not route.changed.is_set()):
                    break
                if stop.pressed and aborting is None:
                    await self._abort(run_id, stop.reason)
                    aborting = asyncio.create_task(asyncio.sleep(ABORT_SECONDS))
                if aborting is not None and aborting.done():
                    return
                await _first(route.changed, None if aborting is not None else stop, run, aborting)
            if run is not None and run.done():
                # What it raised is why nothing more comes.
                await run
        finally:
            board.close(route)
            for task in (aborting, run):
                if task is not None and not task.done():
                    task.cancel()
                    await asyncio.wait({task})

    async def _begin(self, text: str, run_id: str) -> asyncio.Task[None] | None:
        """Have the runtime begin; the task in which it runs, if it has to be run."""
        runtime, status = self.runtime, self.runtime.status
        if status == "running":
            await runtime.dispatch({"type": "send", "message": text, "runId": run_id})
        elif status == "paused":
            await runtime.dispatch({"type": "resume", "message": text, "runId": run_id})
        elif isinstance(runtime, StartableRuntime):
            return asyncio.create_task(_run_of(runtime, text, run_id))
        else:
            raise AgentError(
                f"the runtime is {status}: start it before a message is sent to it",
                user_text=IDLE_TEXT,
                provider="open-harness",
            )
        return None

    async def _abort(self, run_id: str, reason: str | None) -> None:
        command: JsonObject = {"type": "abort", "resumable": False, "runId": run_id}
        try:
            await self.runtime.dispatch(command if reason is None else {**command, "reason": reason})
        except Exception:  # noqa: BLE001  # it aborts or it does not: the stream ends in any case
            _log.exception("a runtime of Open Harness cannot be told to abort")


class _LiveRun:
    """What was said of a run so far: whoever reads it begins with the first chunk."""

    def __init__(self, message_id: str) -> None:
        self.message_id = message_id
        self._chunks: list[Chunk] = []
        self._ended = False
        self._changed = asyncio.Event()

    def say(self, chunks: Iterable[Chunk]) -> None:
        for chunk in chunks:
            self._chunks.append(chunk)
            self._wake()

    def end(self) -> None:
        self._ended = True
        self._wake()

    async def read(self) -> AsyncGenerator[Chunk, None]:
        place = 0
        while True:
            changed = self._changed
            while place < len(self._chunks):
                yield self._chunks[place]
                place += 1
            if self._ended:
                return
            await changed.wait()

    def _wake(self) -> None:
        # Each waiting reader holds the event that it waits for; the next one waits for another.
        woken, self._changed = self._changed, asyncio.Event()
        woken.set()


async def _run_of(runtime: StartableRuntime, text: str, run_id: str) -> None:
    await runtime.run(text, run_id)


async def _first(changed: asyncio.Event, stop: Stop | None, *tasks: asyncio.Task[None] | None) -> None:
    """Come back when something has changed, when the stop is pressed, or when one of the tasks is done."""
    ours: set[asyncio.Task[object]] = {asyncio.create_task(changed.wait())}
    if stop is not None:
        ours.add(asyncio.create_task(stop.wait()))
    running = {task for task in tasks if task is not None and not task.done()}
    try:
        await asyncio.wait({*ours, *running}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in ours:
            task.cancel()
        await asyncio.wait(ours)


def _last_words(messages: Sequence[Message | JsonObject]) -> str:
    """The text of the last message of the user."""
    for value in reversed(messages):
        message = value if isinstance(value, Message) else from_ui(value, missing_id="")
        if message.role == "user":
            return "\n".join(part.text for part in message.parts if isinstance(part, Text))
    return ""


def _read(event: Json) -> Json:
    if not isinstance(event, bytes):
        return event
    try:
        return json.decode(event)
    except InvalidJson:
        return event.decode("utf-8", "replace")


def _error(message: str) -> TurnError:
    return TurnError(message=message, provider="open-harness")
