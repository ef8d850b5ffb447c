"""A chat model of LangChain as an agent: `Chat(LangChain(ChatOpenAI(model="gpt-5-mini")))`. Extra: `langgraph`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, Any, Final

from rejoinder.agents.frameworks import bytes_of, relayed, shown
from rejoinder.agents.langchain_messages import langchain_messages
from rejoinder.agents.provider import IDLE_SECONDS
from rejoinder.messages import Json
from rejoinder.ports.agents import Call, Run
from rejoinder.translate import Translator
from rejoinder.translate.langgraph import LangGraph as LangGraphTranslator

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import Runnable


class LangChain:
    """Asks a chat model of LangChain, or whatever else takes messages and gives one, and streams what it says.

    `instructions` are what the model is told before all else.
    """

    def __init__(
        self, model: Runnable[Any, BaseMessage], *, instructions: str | None = None, name: str = "langchain"
    ) -> None:
        self.model: Final = model
        self._instructions = instructions
        self._name = name
        self.idle_seconds: float = IDLE_SECONDS

    @property
    def name(self) -> str:
        """Under which name its turns are recorded."""
        return self._name

    @property
    def run(self) -> Run:
        """Asks the model."""
        return self._run

    @property
    def translate(self) -> Translator:
        """What its chunks mean."""
        return LangGraphTranslator

    def _run(self, call: Call) -> AsyncGenerator[bytes, None]:
        return bytes_of(relayed(lambda: self._stream(call), call.stop))

    async def _stream(self, call: Call) -> AsyncIterator[Json]:
        from langchain_core.messages import SystemMessage

        told = [] if self._instructions is None else [SystemMessage(self._instructions)]
        messages = [*told, *langchain_messages(shown(call))]
        async for piece in self.model.astream(messages):
            yield piece
