"""An agent that does what its prompt says, in the ways that clients have trouble with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

from rejoinder import Agent, Call, Emitter
from rejoinder.messages import Json, ToolCall
from rejoinder.wire.chunks import Chunk

WAIT_SECONDS = 0.01


async def run(call: Call) -> AsyncIterator[Json]:
    """What the newest message asks for; or what follows from the client's answers, if this goes on with an answer."""
    if call.continues is not None:
        for part in call.continues.parts:
            if isinstance(part, ToolCall):
                yield {"after": part.state, "id": part.call_id, "output": _output(part)}
        return
    words = call.prompt.split()
    match words:
        case ["tools", *_]:
            yield {"tool": "weather", "id": "call-1", "input": {"city": "Oslo"}, "output": {"degrees": 3}}
            yield {"tool": "weather", "id": "call-2", "input": {"city": "Rome"}, "output": {"degrees": 20}}
            yield {"say": "Cold there, warm here."}
        case ["client", "tool", *_]:
            yield {"say": "Where are you?"}
            yield {"tool": "locate", "id": "call-1", "input": {"precise": True}}
        case ["approval", *_]:
            yield {"tool": "delete", "id": "call-1", "input": {"file": "a.txt"}, "ask": "approval-1"}
        case ["fail", *_]:
            yield {"say": "So far so "}
            raise RuntimeError("secret-canary at /etc/passwd")
        case ["slow", count, *_]:
            for number in range(int(count)):
                yield {"say": f"{number} "}
                await asyncio.sleep(WAIT_SECONDS)
        case ["wait", *_]:
            yield {"say": "Waiting"}
            await call.stop.wait()
        case _:
            for word in words:
                yield {"say": word.upper() + " "}


def translate(say: Emitter, event: Json) -> Iterable[Chunk]:
    """What the events above mean."""
    match event:
        case {"say": text}:
            yield from say.text(text)
        case {"after": "approval-responded" | "output-denied", "id": id, "output": approved}:
            yield from say.tool_output(id, "deleted") if approved else say.tool_denied(id)
            yield from say.step()
            yield from say.text("Done." if approved else "Left alone.")
        case {"after": _, "output": output}:
            yield from say.step()
            yield from say.text(f"You are in {output}.")
        case {"tool": name, "id": id, "input": given}:
            yield from say.step()
            yield from say.tool_input_start(id, name)
            yield from say.tool_input(id, name, given)
            if "output" in event:
                yield from say.tool_output(id, event["output"])
            if "ask" in event:
                yield from say.approval_request(event["ask"], id)
        case _:
            raise ValueError(event)


def _output(part: ToolCall) -> Json:
    if part.state == "approval-responded":
        return part.approval is not None and part.approval.approved
    return part.output


AGENT = Agent("obedient", run, translate)
