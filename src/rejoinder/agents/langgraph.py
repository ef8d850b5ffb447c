"""A graph of LangGraph as an agent: `Chat(LangGraph(create_agent(model, tools)))`. The extra is `langgraph`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rejoinder.agents.frameworks import bytes_of, decisions, relayed, shown
from rejoinder.agents.langchain_messages import langchain_messages
from rejoinder.agents.provider import IDLE_SECONDS
from rejoinder.messages import Json, JsonObject
from rejoinder.messages.provider_message import ProviderMessage
from rejoinder.ports.agents import Call, Run
from rejoinder.translate import Translator
from rejoinder.translate.fields import text_of
from rejoinder.translate.langgraph import LangGraph as LangGraphTranslator

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langgraph.pregel import Pregel  # pyright: ignore[reportMissingTypeStubs]  # it has its types in its source

MODES: Final = ("messages", "updates", "custom")
"""What is streamed if nobody says otherwise: tokens, what nodes return, and what they write themselves."""

Given = Callable[[list["BaseMessage"], Call], Any]


def _messages(messages: list[BaseMessage], call: Call) -> Any:
    return {"messages": messages}


class LangGraph:
    """Runs a compiled graph and streams what it says.

    `given` makes the graph's input of the messages: by default `{"messages": messages}`. A graph without a
    checkpointer is given the whole history in every turn. One that has one remembers by itself: it is given what is
    new, in the thread that has the conversation's id, from the checkpoint that the answer before ended with; so an
    edit or a regeneration goes on from where it should. A graph that was interrupted is resumed: with the answers to
    its questions about tools, or with the user's next message.
    """

    def __init__(
        self,
        graph: Pregel[Any, Any, Any, Any],
        *,
        name: str = "langgraph",
        modes: Sequence[str] = MODES,
        subgraphs: bool = True,
        given: Given = _messages,
        config: Mapping[str, Any] | None = None,
        context: Any = None,
    ) -> None:
        self.graph: Final[Any] = graph
        self._name = name
        self.idle_seconds: float = IDLE_SECONDS
        self._modes = [*modes]
        self._subgraphs = subgraphs
        self._given = given
        self._config = dict(config or {})
        self._context = context

    @property
    def name(self) -> str:
        """Under which name its turns are recorded."""
        return self._name

    @property
    def run(self) -> Run:
        """Runs the graph."""
        return self._run

    @property
    def translate(self) -> Translator:
        """What its events mean."""
        return LangGraphTranslator

    def _run(self, call: Call) -> AsyncGenerator[bytes, None]:
        return bytes_of(relayed(lambda: self._stream(call), call.stop))

    async def _stream(self, call: Call) -> AsyncIterator[Json]:
        remembers = bool(getattr(self.graph, "checkpointer", None))
        place = {"thread_id": call.conversation.id} if remembers else {}
        checkpoint = text_of(call.memory, "checkpoint_id")
        if remembers and checkpoint:
            place["checkpoint_id"] = checkpoint
        config = self._config_for(place)
        given = await self._input(call, config, remembers=remembers)
        async for event in self.graph.astream(
            given,
            config,
            context=self._context,
            stream_mode=self._modes,
            subgraphs=self._subgraphs,
            version="v2",
        ):
            yield event
        if remembers:
            state = await self.graph.aget_state(self._config_for({"thread_id": call.conversation.id}))
            yield {
                "type": "remember",
                "data": {"checkpoint_id": state.config["configurable"]["checkpoint_id"]},
            }

    def _config_for(self, place: Mapping[str, str]) -> dict[str, Any]:
        return {**self._config, "configurable": {**self._config.get("configurable", {}), **place}}

    async def _input(self, call: Call, config: dict[str, Any], *, remembers: bool) -> Any:
        from langgraph.types import Command

        messages = shown(call)
        if not remembers:
            return self._given(langchain_messages(messages), call)
        interrupts = (await self.graph.aget_state(config)).interrupts
        if interrupts:
            return Command(resume=_answers(call, [interrupt.id for interrupt in interrupts]))
        new = messages if call.memory is None else _newest(messages)
        return self._given(langchain_messages(new), call)


def _newest(messages: Sequence[ProviderMessage]) -> Sequence[ProviderMessage]:
    """What the user has said since the model spoke last."""
    spoke = max(
        (at for at, message in enumerate(messages) if message.role in ("assistant", "tool")), default=-1
    )
    return messages[spoke + 1 :]


def _answers(call: Call, interrupts: Sequence[str]) -> JsonObject:
    """What each interrupt is answered: the decisions about its tools, or what the user has said."""
    decided: dict[str, list[tuple[int, JsonObject]]] = {}
    for decision in decisions(call).values():
        asked = "" if decision.call.approval is None else decision.call.approval.id
        interrupt, _, number = asked.rpartition(":")
        said: JsonObject = {"type": "approve"}
        if not decision.approved:
            said = (
                {"type": "reject"}
                if decision.reason is None
                else {"type": "reject", "message": decision.reason}
            )
        decided.setdefault(interrupt, []).append((int(number) if number.isdigit() else 0, said))
    return {
        interrupt: {"decisions": [said for _, said in sorted(decided[interrupt], key=lambda pair: pair[0])]}
        if interrupt in decided
        else call.prompt
        for interrupt in interrupts
    }
