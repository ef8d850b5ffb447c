"""A function that yields strings is an agent: `Chat(Strings(answer))`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable
from typing import Final

from rejoinder.agents.frameworks import relayed
from rejoinder.messages import Json
from rejoinder.ports.agents import Call, Run
from rejoinder.translate import Emitter, Translator
from rejoinder.translate.fields import said_of
from rejoinder.wire.chunks import Chunk


class Strings:
    """Says what an async generator of strings yields. It is given the call: `call.prompt` is what the user said."""

    def __init__(self, function: Callable[[Call], AsyncIterable[str]], *, name: str | None = None) -> None:
        self.function: Final = function
        self._name = name or str(getattr(function, "__name__", "strings"))

    @property
    def name(self) -> str:
        """Under which name its turns are recorded."""
        return self._name

    @property
    def run(self) -> Run:
        """Runs the function."""
        return self._run

    @property
    def translate(self) -> Translator:
        """Every string is more of one text."""
        return _say

    def _run(self, call: Call) -> AsyncGenerator[Json, None]:
        return relayed(lambda: self.function(call), call.stop)


def _say(say: Emitter, event: Json) -> Iterable[Chunk]:
    return say.text(said_of(event))
