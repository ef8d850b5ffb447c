"""The calls of one step of a model: which of them we make, which the user is asked about, which wait for the client.

Nothing runs before the intent to run it is durable, and nothing runs twice: who finds a call that was begun and has
no outcome says that it is not known.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Final

from rejoinder.convert.approvals import approval_id, sign, verified
from rejoinder.engine.streams import Streams
from rejoinder.engine.tool_runs import run_tool
from rejoinder.messages import Json, ToolCall, is_absent
from rejoinder.ports.agents import Call
from rejoinder.ports.tools import Tool, ToolContext
from rejoinder.translate.model_events import (
    ApprovalAsked,
    ModelEvent,
    ToolBegun,
    ToolDenied,
    ToolFailed,
    ToolReturned,
)

PARALLEL_MAX: Final = 16
"""So many calls of one answer run at the same time; the others wait until one is over."""

INVALID_APPROVAL: Final = "The approval does not belong to this call, which did not run."

_log: Final = logging.getLogger(__name__)


class ToolLoop:
    """Makes the calls of a model, with these tools.

    `secrets` sign what the user is asked, the first one; all of them are taken for the answers. With `leaves_unknown`
    a call of a tool that nobody has offered waits for an answer from outside, as in the conversation core.
    """

    def __init__(
        self, tools: Mapping[str, Tool], *, secrets: Sequence[str] = (), leaves_unknown: bool = False
    ) -> None:
        self._tools = tools
        self._leaves_unknown = leaves_unknown
        self._secrets = secrets

    async def asked(self, call: Call, asked: Sequence[ToolCall]) -> AsyncGenerator[ModelEvent, None]:
        """The model wants these calls made."""
        ready: list[ToolCall] = []
        for each in asked:
            tool = self._tools.get(each.name)
            refusal = self._refusal(tool, each)
            if refusal is not None:
                yield refusal
            elif tool is None or tool.run is None:
                continue  # the client answers it
            elif await _needs_approval(tool, each):
                yield self._question(call, each)
            else:
                ready.append(each)
        async with aclosing(self._made(call, ready)) as events:
            async for event in events:
                yield event

    async def decided(self, call: Call, decided: Sequence[ToolCall]) -> AsyncGenerator[ModelEvent, None]:
        """The user has said which of these calls may be made."""
        ready: list[ToolCall] = []
        for each in decided:
            refusal = self._refusal(self._tools.get(each.name), each)
            if each.approval is None or each.approval.approved is not True:
                yield ToolDenied(call_id=each.call_id)
            elif not self._is_genuine(each):
                _log.warning("call %s has an approval that is not ours", each.call_id)
                yield ToolFailed(call_id=each.call_id, error=INVALID_APPROVAL, code="approval-invalid")
            elif refusal is not None:
                yield refusal
            else:
                ready.append(each)
        async with aclosing(self._made(call, ready)) as events:
            async for event in events:
                yield event

    def _refusal(self, tool: Tool | None, asked: ToolCall) -> ToolFailed | None:
        """Why a call is not made at all, in words that help the model to make a better one."""
        if tool is None and self._leaves_unknown:
            return None
        if tool is None:
            names = ", ".join(sorted(self._tools)) or "none"
            text = f"There is no tool of this name. There are: {names}."
            return ToolFailed(call_id=asked.call_id, error=text, code="unknown-tool")
        input: Json = None if is_absent(asked.input) else asked.input
        complaint = tool.complaint(input)
        if complaint is None:
            return None
        text = f"The tool did not run, because its input is not valid: {complaint}"
        return ToolFailed(call_id=asked.call_id, error=text, code="invalid-input")

    def _question(self, call: Call, asked: ToolCall) -> ApprovalAsked:
        id = approval_id(call.turn.id, asked.call_id)
        signature = sign(asked, id, self._secrets[0]) if self._secrets else None
        return ApprovalAsked(approval_id=id, call_id=asked.call_id, signature=signature)

    def _is_genuine(self, decided: ToolCall) -> bool:
        return not self._secrets or any(verified(decided, secret) for secret in self._secrets)

    async def _made(self, call: Call, ready: Sequence[ToolCall]) -> AsyncGenerator[ModelEvent, None]:
        waiting = deque(ready)
        stopped = asyncio.create_task(call.stop.wait())
        running: Streams[ToolReturned | ToolFailed] = Streams()
        try:
            while waiting or running:
                starting = [waiting.popleft() for _ in range(min(len(waiting), PARALLEL_MAX - len(running)))]
                for each in starting:
                    yield ToolBegun(call_id=each.call_id, name=each.name, input=each.input)
                if starting:
                    await call.kept()
                if call.stop.pressed:
                    return
                for each in starting:
                    context = ToolContext(call=call, call_id=each.call_id, tool=each.name)
                    running.add(run_tool(self._tools[each.name], each, context))
                for event in await running.heard(stopped):
                    yield event
        finally:
            stopped.cancel()
            await running.aclose()


async def _needs_approval(tool: Tool, asked: ToolCall) -> bool:
    if isinstance(tool.needs_approval, bool):
        return tool.needs_approval
    try:
        told = tool.needs_approval(asked.input)
        needed = await told if inspect.isawaitable(told) else told
    except Exception:  # noqa: BLE001  # it is a user's, and whoever is asked once too often may say no
        _log.exception("tool %s cannot say whether it needs an approval: the user is asked", tool.name)
        return True
    return needed is not False
