"""One run of one tool: what it answers, as events. It ends in one outcome, whatever the tool does."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Final

import msgspec

from rejoinder.engine.tasks import dismiss
from rejoinder.engine.tool_threads import ToolThread, TooManyThreads
from rejoinder.messages import ToolCall
from rejoinder.ports.clock import SystemClock
from rejoinder.ports.tools import Tool, ToolContext, ToolError
from rejoinder.translate.model_events import ToolFailed, ToolReturned
from rejoinder.wire import json

FAILED: Final = "The tool failed."
"""What the model and the user are told of an exception that the tool did not mean for them."""

CLOSE_SECONDS: Final = 1.0
"""So long a tool may take to come back after it was cancelled; then it is left to itself."""

_END: Final = object()
_log: Final = logging.getLogger(__name__)
_left: Final[set[asyncio.Task[Any]]] = set()


async def run_tool(
    tool: Tool, asked: ToolCall, context: ToolContext
) -> AsyncGenerator[ToolReturned | ToolFailed, None]:
    """Run a tool on the input of a call. The last event, and only that one, is an outcome."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + tool.timeout_seconds
    values = _values(tool, asked, context)
    shown: ToolReturned | None = None
    task: asyncio.Task[Any] | None = None
    try:
        while True:
            task = asyncio.create_task(_next(values))
            await asyncio.wait({task}, timeout=max(deadline - loop.time(), 0))
            if not task.done():
                yield _timed_out(tool, asked)
                return
            value = task.result()
            if value is _END:
                break
            shown = _returned(tool, asked, value)
            yield shown
    except Exception as error:  # noqa: BLE001  # a tool is a user's: the turn outlives it
        yield _failed(tool, asked, error)
    else:
        final = shown or ToolReturned(call_id=asked.call_id)
        yield msgspec.structs.replace(final, preliminary=False)
    finally:
        await _let_go(values, task)


async def _next(values: AsyncGenerator[Any, None]) -> Any:
    return await anext(values, _END)


async def _values(tool: Tool, asked: ToolCall, context: ToolContext) -> AsyncGenerator[Any, None]:
    """What the tool answers: one value, or as many as it yields."""
    assert tool.run is not None, "tools of the client are not run here"
    if _is_async(tool.run):
        async with aclosing(_awaited(tool.run(asked.input, context))) as values:
            async for value in values:
                yield value
        return
    thread = ToolThread(tool.name)
    try:
        made = await thread.call(tool.run, asked.input, context)
        if inspect.isgenerator(made):
            while (value := await thread.call(next, made, _END)) is not _END:
                yield value
        else:
            async with aclosing(_awaited(made)) as values:
                async for value in values:
                    yield value
    finally:
        thread.end()


async def _awaited(made: Any) -> AsyncGenerator[Any, None]:
    """What comes of what a function gave: a generator of values, something to wait for, or the value itself."""
    if inspect.isasyncgen(made):
        async with aclosing(made):
            async for value in made:
                yield value
    elif isinstance(made, Awaitable):
        yield await made
    else:
        yield made


def _is_async(function: Callable[..., Any]) -> bool:
    inner = inspect.unwrap(function)
    called = inner if inspect.isroutine(inner) else getattr(inner, "__call__", inner)  # noqa: B004
    return inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called)


def _returned(tool: Tool, asked: ToolCall, value: Any) -> ToolReturned:
    """A value as an output: JSON, and not too much of it."""
    try:
        plain = msgspec.to_builtins(value, enc_hook=_plain)
        written = json.encode(plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise _Unfit(
            "invalid-output", f"The tool answered with something that JSON cannot hold: {error}."
        ) from error
    if len(written) > tool.output_bytes_max:
        raise _Unfit(
            "output-too-large",
            f"The tool answered with {len(written):,} bytes, and at most {tool.output_bytes_max:,} are taken:"
            " ask for less.",
        )
    # What is told is what a reader of the log will read: NaN, say, is null there.
    return ToolReturned(call_id=asked.call_id, output=json.decode(written), preliminary=True)


def _plain(value: Any) -> Any:
    """What msgspec does not know: models of pydantic, by the method they have."""
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise TypeError(f"a {type(value).__name__}")
    return dump(mode="json")


class _Unfit(Exception):
    """An output that cannot be taken."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


def _failed(tool: Tool, asked: ToolCall, error: Exception) -> ToolFailed:
    match error:
        case _Unfit():
            text, code = str(error), error.code
        case ToolError():
            text, code = str(error), "failed"
        case TooManyThreads():
            text, code = "The tool did not run: too many others do. Try again later.", "busy"
        case _:
            text, code = FAILED, "failed"
    _log.warning("tool %s (call %s): %s", tool.name, asked.call_id, code, exc_info=error)
    return ToolFailed(call_id=asked.call_id, error=text, code=code)


def _timed_out(tool: Tool, asked: ToolCall) -> ToolFailed:
    _log.warning("tool %s (call %s) did not answer in time", tool.name, asked.call_id)
    text = f"The tool did not answer within {tool.timeout_seconds:g} seconds: whether it took effect is not known."
    return ToolFailed(call_id=asked.call_id, error=text, code="timed-out")


async def _let_go(values: AsyncGenerator[Any, None], task: asyncio.Task[Any] | None) -> None:
    """End what still runs, if it lets itself be ended."""
    if task is not None and not await _gone(task):
        return
    closing = asyncio.create_task(_close(values))
    try:
        await asyncio.wait({closing}, timeout=CLOSE_SECONDS)
    finally:
        await _gone(closing)


async def _close(values: AsyncGenerator[Any, None]) -> None:
    await values.aclose()


async def _gone(task: asyncio.Task[Any]) -> bool:
    """Whether a task has ended, after it was asked to. One that does not is left to itself."""
    try:
        return await dismiss(task, clock=SystemClock(), seconds=CLOSE_SECONDS)
    finally:
        if not task.done():
            _left.add(task)
            task.add_done_callback(_left.discard)
