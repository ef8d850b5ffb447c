"""Claude Code as a running program: what it says, in order, and what can be said to it.

The SDK starts it, answers its hooks and runs the tools of its own MCP servers. What it says is taken where it comes
in, before the SDK makes objects of it: these drop fields that they do not know, and messages of kinds that they do
not know. Its questions whether a tool may run are taken there too, and go to the user instead of a callback.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    HookContext,
    HookInput,
    HookMatcher,
    MirrorErrorMessage,
    ProcessError,
)
from claude_agent_sdk._internal.session_resume import (
    MaterializedResume,
    apply_materialized_options,
    materialize_resume_session,
)
from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport
from claude_agent_sdk.types import HookEvent, SyncHookJSONOutput

from rejoinder.agents.claude_course import Course, is_question
from rejoinder.messages import Json, JsonObject
from rejoinder.ports.agents import AgentError
from rejoinder.translate.failures import without_secrets
from rejoinder.wire import json

EVENTS_AHEAD_MAX: Final = 1000
"""So many events are taken in before somebody wants them; then the program has to wait."""

STDERR_LINES_MAX: Final = 20
"""So much is remembered of what the program complains about: its last words are what explains its end."""

STDERR_CHARS_MAX: Final = 500

EXIT_SECONDS: Final = 4.0
"""So long the program has to write its session's last lines, once nothing more will be said to it."""

TERMINATE_SECONDS: Final = 2.0
"""So long the program has to end its own children before it is killed."""

_TO_THE_SDK: Final = ("control_request", "control_response", "control_cancel_request", "transcript_mirror")

_log: Final = logging.getLogger(__name__)


class ClaudeCodeFailed(AgentError):
    """Claude Code could not be started, died, or said something that is no message. The message has its last words."""

    code = "claude-code"

    def __init__(self, message: str) -> None:
        text = "The agent ended before its answer was complete."
        super().__init__(without_secrets(message), user_text=text, provider="anthropic")


class _Line(SubprocessCLITransport):
    """The process with its pipes."""

    def __init__(self, options: ClaudeAgentOptions, hear: Callable[[JsonObject], Any]) -> None:
        super().__init__(prompt="", options=options)
        self._hear = hear
        self._ended = False

    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        return self._heard(super().read_messages())

    async def _heard(self, messages: AsyncIterator[dict[str, Any]]) -> AsyncGenerator[dict[str, Any]]:
        try:
            async for message in messages:
                if message.get("type") in _TO_THE_SDK and not is_question(message):
                    yield message
                else:
                    await self._hear(message)
        except ProcessError:
            if not self._ended:
                raise

    async def leave(self) -> None:
        """Say nothing more, and let the process end by itself."""
        process = self._process
        await self.end_input()
        if process is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(EXIT_SECONDS):
                    await process.wait()

    async def end(self) -> None:
        """Have the process end now: it is asked first, because it may have children of its own."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        self._ended = True
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
            try:
                async with asyncio.timeout(TERMINATE_SECONDS):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return None if self._process is None else self._process.pid


class Program:
    """One run of the program, in one session. It is used by one turn at a time, and closed once."""

    def __init__(self, options: ClaudeAgentOptions) -> None:
        self.course = Course()
        self.forbidden: dict[str, str] = {}
        self._options = options
        self._events: asyncio.Queue[JsonObject | Exception | None] = asyncio.Queue(EVENTS_AHEAD_MAX)
        self._words: deque[str] = deque(maxlen=STDERR_LINES_MAX)
        self._line: _Line | None = None
        self._client: ClaudeSDKClient | None = None
        self._session_files: MaterializedResume | None = None
        self._listening: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._ended = False

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return None if self._line is None else self._line.pid

    async def start(self) -> None:
        """Start the program. Raises `ClaudeCodeFailed`."""
        try:
            await self._start()
        except (ClaudeSDKError, OSError, RuntimeError, TypeError, ValueError) as error:
            raise self._failed(f"Claude Code cannot be started: {error}") from error
        except Exception as error:
            # What the program answers to being initialized comes as a bare Exception.
            raise self._failed(f"Claude Code refused to begin: {error}") from error

    async def _start(self) -> None:
        options = replace(self._options, stderr=self._options.stderr or self._complain)
        options = replace(options, hooks=self._hooks(options))
        self._session_files = await materialize_resume_session(options)
        if self._session_files is not None:
            options = apply_materialized_options(options, self._session_files)
        asking = options if options.can_use_tool else replace(options, permission_prompt_tool_name="stdio")
        if options.can_use_tool or options.permission_prompt_tool_name is not None:
            asking = options
        self._line = _Line(asking, self._take)
        self._client = ClaudeSDKClient(options, transport=self._line)
        await self._client.connect()
        self._listening = asyncio.create_task(self._listen(self._client))

    def _hooks(self, options: ClaudeAgentOptions) -> dict[HookEvent, list[HookMatcher]]:
        """The hooks of the options, and one that sees each call before it runs."""
        hooks: dict[HookEvent, list[HookMatcher]] = {**(options.hooks or {})}
        hooks["PreToolUse"] = [*hooks.get("PreToolUse", ()), HookMatcher(hooks=[self._before])]
        return hooks

    async def _before(
        self, given: HookInput, call_id: str | None, context: HookContext
    ) -> SyncHookJSONOutput:
        self.course.began(call_id or "")
        reason = self.forbidden.pop(call_id or "", None)
        if reason is None:
            return {}
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }
        }

    async def say(self, content: Sequence[JsonObject]) -> None:
        """Say something as the user. Raises `ClaudeCodeFailed`."""

        async def messages() -> AsyncGenerator[JsonObject]:
            yield {
                "type": "user",
                "message": {"role": "user", "content": list(content)},
                "parent_tool_use_id": None,
            }

        assert self._client is not None, "the program has been started"
        self.course.begin()
        await self._try(self._client.query(messages()))

    async def answer(self, request_id: str, response: Mapping[str, Json]) -> JsonObject:
        """Answer a question of the program. Gives the answer as it was said. Raises `ClaudeCodeFailed`."""
        said: JsonObject = {
            "type": "control_response",
            "response": {"subtype": "success", "request_id": request_id, "response": dict(response)},
        }
        assert self._line is not None, "the program has been started"
        await self._try(self._line.write(json.encode(said).decode() + "\n"))
        self.course.answered(request_id)
        return said

    async def interrupt(self) -> None:
        """Have the program break off what it does: it says a result then, and stays."""
        assert self._client is not None, "the program has been started"
        await self._try(self._client.interrupt())

    async def next(self) -> JsonObject | None:
        """What the program says next; None once it has ended. Raises `ClaudeCodeFailed` if it ended badly."""
        if self._ended and self._events.empty():
            return None
        event = await self._events.get()
        if isinstance(event, Exception) and not self.course.told:
            raise self._failed(f"Claude Code broke off: {event}") from event
        if not isinstance(event, dict):
            return None
        self.course.heard(event)
        return event

    @property
    def alive(self) -> bool:
        """Whether it can still be talked to."""
        return self._client is not None and not self._ended and self._closing is None

    async def close(self, *, at_once: bool = False) -> None:
        """Let the program end by itself, or end it. It goes on if whoever waits here is cancelled."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(at_once=at_once))
        await asyncio.shield(self._closing)

    async def _close(self, *, at_once: bool) -> None:
        # The pipe is read to its end, or the program could wait for ever to be heard.
        unheard = asyncio.create_task(self._drain())
        try:
            if self._line is not None:
                if not at_once:
                    await self._line.leave()
                await self._line.end()
            if self._client is not None:
                with contextlib.suppress(ClaudeSDKError, OSError):
                    await self._client.disconnect()
        finally:
            unheard.cancel()
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait({self._listening})
        if self._session_files is not None:
            await self._session_files.cleanup()

    async def _listen(self, client: ClaudeSDKClient) -> None:
        """What the SDK itself has to say: that the copy of the session could not be kept; and the program's end."""
        try:
            async for message in client.receive_messages():
                if isinstance(message, MirrorErrorMessage):
                    _log.warning("a part of a session of Claude Code could not be kept: %s", message.error)
                    await self._events.put(message.data)
        except Exception as error:  # noqa: BLE001  # the SDK raises bare exceptions, and each is how the program ended
            await self._end(error)
        else:
            await self._end(None)

    async def _end(self, error: Exception | None) -> None:
        self._ended = True
        await self._events.put(error)

    async def _drain(self) -> None:
        while True:
            await self._events.get()

    async def _take(self, message: JsonObject) -> None:
        await self._events.put(message)

    async def _try(self, saying: Any) -> None:
        try:
            await saying
        except Exception as error:
            raise self._failed(f"Claude Code could not be told something: {error}") from error

    def _complain(self, line: str) -> None:
        self._words.append(line[:STDERR_CHARS_MAX])

    def _failed(self, text: str) -> ClaudeCodeFailed:
        words = "\n".join(self._words)
        return ClaudeCodeFailed(f"{text}\n{words}" if words else text)
