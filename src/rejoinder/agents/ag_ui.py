"""An agent that speaks AG-UI: a server, or a function in this process. The extra is `ag-ui`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from typing import Any, TypeAlias, assert_never

from rejoinder.agents.frameworks import as_json, decisions, relayed, shown
from rejoinder.agents.provider import IDLE_SECONDS
from rejoinder.agents.sse_events import events_from
from rejoinder.convert.provider_values import inline_of, object_text, output_text
from rejoinder.messages import Json, JsonObject
from rejoinder.messages.provider_message import (
    ProviderContentPart,
    ProviderFilePart,
    ProviderMessage,
    ProviderTextPart,
    ProviderToolCallPart,
    ProviderToolResultPart,
)
from rejoinder.ports.agents import Call, Run
from rejoinder.translate import Translator
from rejoinder.translate.ag_ui import AgUi as AgUiTranslator

Source: TypeAlias = str | Callable[[Any], AsyncIterable[Any]]
"""The address of a server, or a function from the input of a run to its events."""


class AgUi:
    """Asks for a run and streams what it says.

    A function is given a `RunAgentInput` and yields events of the protocol, or their JSON, or the bytes of it.
    `tools` are those of the client, in the protocol's words; `forwarded` is what the agent is told beside all else.
    The state that a run ends with is the one that the next begins with.
    """

    def __init__(
        self,
        source: Source,
        *,
        name: str = "ag-ui",
        headers: Mapping[str, str] | None = None,
        tools: Sequence[JsonObject] = (),
        forwarded: Json = None,
    ) -> None:
        self._source = source
        self._name = name
        self.idle_seconds: float = IDLE_SECONDS
        self._headers = dict(headers or {})
        self._tools = [*tools]
        self._forwarded = forwarded

    @property
    def name(self) -> str:
        """Under which name its turns are recorded."""
        return self._name

    @property
    def run(self) -> Run:
        """Asks for the run."""
        return self._run

    @property
    def translate(self) -> Translator:
        """What its events mean."""
        return AgUiTranslator

    def _run(self, call: Call) -> AsyncGenerator[Json, None]:
        return relayed(lambda: self._events(call), call.stop)

    def _events(self, call: Call) -> AsyncIterable[Json]:
        given = self._input(call)
        if isinstance(self._source, str):
            return events_from(self._source, given, headers=self._headers, provider=self._name, extra="ag-ui")
        return self._in_process(self._source, given)

    async def _in_process(
        self, source: Callable[[Any], AsyncIterable[Any]], given: JsonObject
    ) -> AsyncIterator[Json]:
        from ag_ui.core import RunAgentInput

        async for event in source(RunAgentInput.model_validate(given)):
            if hasattr(event, "model_dump"):
                yield as_json(event.model_dump(mode="json", by_alias=True, exclude_none=True))
            else:
                yield event

    def _input(self, call: Call) -> JsonObject:
        answers = decisions(call)
        said: JsonObject = {
            "threadId": call.conversation.id,
            "runId": call.turn.id,
            "state": call.memory,
            "messages": _messages(shown(call), call, but=answers),
            "tools": self._tools,
            "context": [],
            "forwardedProps": self._forwarded,
        }
        if answers:
            said["resume"] = [
                {
                    "interruptId": "" if answer.call.approval is None else answer.call.approval.id,
                    "status": "resolved",
                    "payload": {"approved": answer.approved}
                    | ({} if answer.reason is None else {"reason": answer.reason}),
                }
                for answer in answers.values()
            ]
        return said


def _messages(
    messages: Sequence[ProviderMessage], call: Call, *, but: Mapping[str, object]
) -> list[JsonObject]:
    said: list[JsonObject] = []
    for number, message in enumerate(messages):
        id = f"{call.conversation.id}:{number}"
        match message.role:
            case "system":
                said.append({"id": id, "role": "system", "content": message.text})
            case "user":
                said.append({"id": id, "role": "user", "content": _content(message.content)})
            case "assistant":
                calls = [_call(part) for part in message.content if isinstance(part, ProviderToolCallPart)]
                text: JsonObject = {"content": message.text} if message.text else {}
                said.append(
                    {"id": id, "role": "assistant", **text, **({"toolCalls": calls} if calls else {})}
                )
            case "tool":
                for part in message.content:
                    if isinstance(part, ProviderToolResultPart) and part.call_id not in but:
                        told = {"toolCallId": part.call_id, "content": output_text(part.result)}
                        said.append({"id": f"{id}:{part.call_id}", "role": "tool", **told})
            case _:
                assert_never(message.role)
    return said


def _call(part: ProviderToolCallPart) -> JsonObject:
    function = {"name": part.name, "arguments": object_text(part.arguments)}
    return {"id": part.call_id, "type": "function", "function": function}


def _content(parts: Sequence[ProviderContentPart]) -> str | list[JsonObject]:
    if all(isinstance(part, ProviderTextPart) for part in parts):
        return "\n".join(part.text for part in parts if isinstance(part, ProviderTextPart))
    said: list[JsonObject] = []
    for part in parts:
        if isinstance(part, ProviderTextPart):
            said.append({"type": "text", "text": part.text})
        elif isinstance(part, ProviderFilePart) and part.url is not None:
            family = part.media_type.partition("/")[0]
            inline = inline_of(part.url)
            source = (
                {"type": "url", "value": part.url, "mimeType": part.media_type}
                if inline is None
                else {"type": "data", "value": inline.base64, "mimeType": part.media_type}
            )
            kind = family if family in ("image", "audio", "video") else "document"
            said.append({"type": kind, "source": source})
    return said
