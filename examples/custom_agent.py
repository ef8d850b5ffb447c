"""An agent of one's own: it calls two tools at once, thinks aloud, counts its questions, and stops when told to.

rejoinder serve --agent custom_agent:agent
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

from rejoinder import Agent, Call, Emitter
from rejoinder.translate.notes import Finished, Remember
from rejoinder.wire.chunks import Chunk


async def search(place: str, words: str) -> dict[str, Any]:
    """Where your I/O is."""
    await asyncio.sleep(0)
    return {"place": place, "found": f"three pages about {words}"}


async def run(call: Call) -> AsyncIterator[Any]:
    """Do the work, and tell what happens in words of one's own. They are kept as they are."""
    count = (call.memory or 0) + 1
    yield {"think": f"This is question {count}."}
    for place in ("web", "wiki"):
        yield {"ask": place, "words": call.prompt}
    for answer in asyncio.as_completed([search(place, call.prompt) for place in ("web", "wiki")]):
        if call.stop.pressed:
            return
        yield await answer
    yield {"say": f"There are pages about {call.prompt}."}
    yield {"count": count}


def translate(say: Emitter, event: Any) -> Iterable[Chunk]:
    """Say what an event means. No I/O here: so an answer can be made anew from its events at any time."""
    match event:
        case {"think": text}:
            yield from say.reasoning(text)
        case {"ask": place, "words": words}:
            yield from say.tool_input(place, "search", {"words": words})
        case {"place": place, "found": found}:
            yield from say.tool_output(place, found)
        case {"say": text}:
            yield from say.text(text)
        case {"count": count}:
            say.note(Remember(memory=count))
            say.note(Finished(reason="stop"))
        case _:
            pass  # nothing else is said


agent = Agent("librarian", run, translate)
