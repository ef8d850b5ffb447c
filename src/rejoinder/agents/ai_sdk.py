"""Another server of the AI SDK as an agent: what it says passes through. The extra is `ai-sdk`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping
from typing import Literal, TypeAlias

from rejoinder.agents.frameworks import relayed
from rejoinder.agents.provider import IDLE_SECONDS
from rejoinder.agents.sse_events import events_from
from rejoinder.convert.ui import to_ui
from rejoinder.messages import Json, JsonObject
from rejoinder.ports.agents import Call, Run
from rejoinder.translate import Translator
from rejoinder.translate.ai_sdk import ChunkStream, ModelStream

Source: TypeAlias = str | Callable[[Call], AsyncIterable[Json]]
"""The address of a server's chat route, or a function that yields chunks or parts, as JSON or as its bytes."""


class AiSdk:
    """Sends a conversation to another server of the AI SDK and streams what it says.

    The server gets what `useChat` would send: `id`, `trigger` and the messages, with `body` beside them.
    `speaks` is `chunks` for the UI message stream, `parts` for the `fullStream` of `streamText`, a part a line.
    """

    def __init__(
        self,
        source: Source,
        *,
        speaks: Literal["chunks", "parts"] = "chunks",
        name: str = "ai-sdk",
        headers: Mapping[str, str] | None = None,
        body: JsonObject | None = None,
    ) -> None:
        self._source = source
        self._translate: Translator = ChunkStream if speaks == "chunks" else ModelStream
        self._name = name
        self.idle_seconds: float = IDLE_SECONDS
        self._headers = dict(headers or {})
        self._body = dict(body or {})

    @property
    def name(self) -> str:
        """Under which name its turns are recorded."""
        return self._name

    @property
    def run(self) -> Run:
        """Asks the server."""
        return self._run

    @property
    def translate(self) -> Translator:
        """What it says means what it says."""
        return self._translate

    def _run(self, call: Call) -> AsyncGenerator[Json, None]:
        return relayed(lambda: self._events(call), call.stop)

    def _events(self, call: Call) -> AsyncIterable[Json]:
        if not isinstance(self._source, str):
            return self._source(call)
        messages = call.history if call.continues is None else (*call.history, call.continues)
        body: JsonObject = {
            **self._body,
            "id": call.conversation.id,
            "trigger": "submit-message",
            "messages": [to_ui(message) for message in messages],
        }
        return events_from(self._source, body, headers=self._headers, provider=self._name, extra="ai-sdk")
