"""An agent that shows everything a page can be shown, and goes on when the test says so."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Final

from rejoinder import Agent, Call, Emitter
from rejoinder.messages import Cost, Json, JsonObject, ToolCall, Usage, is_absent
from rejoinder.translate import CallEnded, CallStarted
from rejoinder.wire.chunks import Chunk

PICTURE: Final = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAIAAAAmkwkpAAAAEUlEQVR4nGNgyP6PhkjhAwDdFBXBdPFlCQAAAABJRU5ErkJggg=="
)

ANSWER: Final = (Path(__file__).parent / "answer.md").read_text("utf-8")

THOUGHT: Final = "The user wants to see all of it. I shall look up the weather first, then write."

INJECTION: Final = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked=1'>\"'`}}{{7*7}}${window.hacked=1}"
)
"""What would run if it ever reached a parser."""

LINKS: Final = (
    "[a](javascript:window.hacked=1) [b](data:text/html,<script>window.hacked=1</script>) "
    "[c](vbscript:x) <javascript:window.hacked=1> [d](\x01javascript:window.hacked=1) "
    "![e](http://elsewhere.example/pixel.png) [fine](https://example.com/fine)"
)
"""Addresses that must lead nowhere, a picture that must not be fetched, and one that is fine."""


class Pace:
    """Lets agents go on word by word. A test sets how far, from its own thread; nobody sleeps."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._limits: dict[str, int] = {}
        self._waiting: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}

    def let(self, conversation: str, words: int) -> None:
        """So many words may be said in that conversation from now on."""
        with self._lock:
            self._limits[conversation] = words
            loop, event = self._waiting.get(conversation, (None, None))
        if loop is not None and event is not None and not loop.is_closed():
            loop.call_soon_threadsafe(event.set)

    def finish(self) -> None:
        """Whoever waits may say everything."""
        with self._lock:
            waiting = tuple(self._waiting)
        for conversation in waiting:
            self.let(conversation, sys.maxsize)

    async def reached(self, conversation: str, words: int) -> None:
        """Come back when so many may be said."""
        while True:
            with self._lock:
                if self._limits.get(conversation, 0) >= words:
                    return
                event = asyncio.Event()
                self._waiting[conversation] = (asyncio.get_running_loop(), event)
            await event.wait()


PACE: Final = Pace()


async def run(call: Call) -> AsyncIterator[JsonObject]:
    """What the newest message asks for, or what follows from the answers of the person at the page."""
    yield {"type": "call", "id": f"call-of-{call.turn.id}", "model": "gpt-5-mini"}
    if call.continues is not None:
        for part in call.continues.parts:
            if isinstance(part, ToolCall):
                yield {"type": "answered", "id": part.call_id, "state": part.state, "output": _output(part)}
    else:
        async for event in _asked(call):
            yield event
    yield {"type": "usage", "id": f"call-of-{call.turn.id}", "input": 1200, "output": 340}


def _output(part: ToolCall) -> Json:
    if part.approval is not None:
        return part.approval.approved
    return None if is_absent(part.output) else part.output


async def _asked(call: Call) -> AsyncIterator[JsonObject]:
    prompt = call.prompt
    match prompt.split():
        case ["paced", count, *_]:
            for number in range(int(count)):
                await PACE.reached(call.conversation.id, number + 1)
                yield {"type": "text", "text": f"w{number} "}
        case ["tool", "and", count, *_]:
            for event in _call("sum-1", "add", {"numbers": [2, 3]}, {"type": "output", "output": 5}):
                yield event
            for number in range(int(count)):
                await PACE.reached(call.conversation.id, number + 1)
                yield {"type": "text", "text": f"w{number} "}
        case ["paragraphs", count, *_]:
            for number in range(int(count)):
                await PACE.reached(call.conversation.id, number + 1)
                yield {"type": "text", "text": f"Paragraph {number}.\n\n"}
        case ["wait", *_]:
            yield {"type": "text", "text": "Waiting"}
            await call.stop.wait()
        case ["fail", *_]:
            yield {"type": "text", "text": "So far so "}
            raise RuntimeError("secret-canary at /etc/passwd")
        case ["long", count, *_]:
            for number in range(int(count)):
                yield {"type": "text", "text": f"Word {number} of a long answer, and *on*. "}
                await asyncio.sleep(0)
        case words:
            for event in SCRIPTS.get(" ".join(words).lower(), ()):
                yield event
                await asyncio.sleep(0)
            if " ".join(words).lower() not in SCRIPTS:
                yield {"type": "text", "text": f"You said: {prompt}"}


def _pieces(text: str, size: int = 24) -> list[JsonObject]:
    return [{"type": "text", "text": text[at : at + size]} for at in range(0, len(text), size)]


def _call(id: str, name: str, input: Json, *more: JsonObject) -> list[JsonObject]:
    return [{"type": "tool", "id": id, "name": name, "input": input}, *({**each, "id": id} for each in more)]


SCRIPTS: Final[dict[str, list[JsonObject]]] = {
    "show everything": [
        *({"type": "thought", "text": word + " "} for word in THOUGHT.split()),
        *_call(
            "weather-1",
            "get_weather",
            {"city": "Oslo", "days": 3, "units": "metric"},
            {"type": "progress", "output": {"station": "Blindern", "read": 1}},
            {"type": "progress", "output": {"station": "Blindern", "read": 2}},
            {"type": "output", "output": {"degrees": [3, 5, 4], "sky": "clear", "wind": {"knots": 12}}},
        ),
        *_pieces(ANSWER),
        {
            "type": "source",
            "url": "https://www.example.com/reverse-proxy",
            "title": "What a reverse proxy does",
        },
        {"type": "source", "url": "https://docs.example.org/tls", "title": "Where TLS ends"},
        {"type": "document", "title": "Operations handbook", "filename": "handbook.pdf"},
        {"type": "data", "name": "weather", "data": {"city": "Oslo", "degrees": 4, "sky": "clear"}},
        {"type": "picture"},
    ],
    "tools please": [
        *_call("sum-1", "add", {"numbers": [2, 3]}, {"type": "output", "output": 5}),
        *_call("bad-1", "divide", {"by": 0}, {"type": "error", "text": "Nobody can divide by zero."}),
        *_pieces("Five, and the other one failed."),
    ],
    "delete it": [
        *_pieces("I need your word for this."),
        *_call("delete-1", "delete_file", {"path": "notes.txt"}, {"type": "ask"}),
    ],
    "ask me": [
        *_pieces("One question."),
        *_call("ask-1", "choose", {"question": "Which city?", "options": ["Oslo", "Rome"]}),
    ],
    "where am i": _call("locate-1", "locate", {"precise": True}),
    "data please": [
        {"type": "data", "name": "progress", "id": "p", "data": {"percent": 10}},
        {"type": "data", "name": "progress", "id": "p", "data": {"percent": 100}},
        {"type": "data", "name": "tree", "data": {"deep": {"er": [1, 2, 3]}}},
        {"type": "custom", "kind": "acme.widget"},
        *_pieces("There."),
    ],
    "inject": [
        {"type": "thought", "text": INJECTION},
        *_call(
            "inject-1",
            "look_up",
            {INJECTION: INJECTION},
            {"type": "output", "output": {"html": INJECTION}},
        ),
        *_call("inject-2", "look_up", INJECTION, {"type": "error", "text": INJECTION}),
        {"type": "source", "url": "javascript:window.hacked=1", "title": INJECTION},
        {"type": "document", "title": INJECTION, "filename": INJECTION},
        *_call("inject-4", INJECTION, {}, {"type": "output", "output": [INJECTION]}),
        {"type": "data", "name": "thing", "data": {INJECTION: INJECTION}},
        {"type": "data", "name": INJECTION, "data": [INJECTION]},
        {"type": "file", "url": "http://elsewhere.example/pixel.png", "media": "image/png"},
        {"type": "file", "url": "data:text/html,<script>window.hacked=1</script>", "media": "text/html"},
        {
            "type": "file",
            "url": "data:image/svg+xml,<svg onload='window.hacked=1'/>",
            "media": "image/svg+xml",
        },
        *_pieces(
            f"{INJECTION}\n\n{LINKS}\n\n```html\n{INJECTION}\n```\n\n# {INJECTION}\n\n- {INJECTION}\n\n> {INJECTION}"
        ),
        *_call("inject-3", "choose", {"question": INJECTION, "options": [INJECTION]}),
    ],
}
"""What is said to exactly these words."""


def translate(say: Emitter, event: Json) -> Iterable[Chunk]:
    """What the events above mean."""
    match event:
        case {"type": "text", "text": text}:
            yield from say.text(text)
        case {"type": "thought", "text": text}:
            yield from say.reasoning(text)
        case {"type": "tool", "id": id, "name": name, "input": given}:
            yield from say.tool_input_start(id, name)
            yield from say.tool_input(id, name, given)
        case {"type": "progress", "id": id, "output": output}:
            yield from say.tool_output(id, output, preliminary=True)
        case {"type": "output", "id": id, "output": output}:
            yield from say.tool_output(id, output)
        case {"type": "error", "id": id, "text": text}:
            yield from say.tool_error(id, text)
        case {"type": "ask", "id": id}:
            yield from say.approval_request(f"approval-of-{id}", id)
        case {"type": "answered", "id": id, "state": state, "output": output}:
            yield from _after(say, id, state, output)
        case _:
            yield from _odds(say, event)


def _after(say: Emitter, id: str, state: str, output: Json) -> Iterable[Chunk]:
    if state == "approval-responded":
        yield from say.tool_output(id, {"deleted": True}) if output else say.tool_denied(id)
        yield from say.text("It is gone." if output else "Then I leave it alone.")
    elif state == "output-error":
        yield from say.text("Never mind.")
    else:
        yield from say.text(f"You answered {output}.")


def _odds(say: Emitter, event: Json) -> Iterable[Chunk]:
    match event:
        case {"type": "source", "url": url, "title": title}:
            yield from say.source_url(url, title)
        case {"type": "document", "title": title, "filename": filename}:
            yield from say.source_document(title, "application/pdf", filename=filename)
        case {"type": "data", "name": name, "data": data}:
            yield from say.data(name, data, id=event.get("id"))
        case {"type": "custom", "kind": kind}:
            yield from say.custom(kind)
        case {"type": "picture"}:
            yield from say.file(PICTURE, "image/png")
        case {"type": "file", "url": url, "media": media}:
            yield from say.file(url, media)
        case {"type": "call", "id": id, "model": model}:
            say.note(CallStarted(id=id, provider="openai", model=model))
        case {"type": "usage", "id": id, "input": given, "output": said}:
            usage = Usage(input_tokens=given, output_tokens=said, cache_read_tokens=800, reasoning_tokens=60)
            say.note(CallEnded(id=id, usage=usage, cost=Cost(amount=Decimal("0.00098"))))
        case _:
            raise ValueError(event)


ACTOR: Final = Agent("actor", run, translate)
