"""Messages of LangChain and LangGraph ⇄ messages of ours.

Read are all ways in which these messages stand in JSON: as LangGraph's servers say them (`{"type": "human", "content":
…}`), with a role in the place of a type, as `messages_to_dict` writes them (`{"type": …, "data": {…}}`) and as `dumpd`
does (`{"lc": 1, …}`). What no field of ours says is kept with the message, the step or the result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, TypeGuard, assert_never

from msgspec import structs

from rejoinder.convert.javascript import kind_of
from rejoinder.convert.langchain_blocks import VENDOR, content_of, parts_of
from rejoinder.convert.provider_messages import ProviderStep, provider_steps
from rejoinder.convert.provider_values import object_in, options_of, output_text
from rejoinder.convert.transcript import Transcript
from rejoinder.errors import InvalidJson, InvalidMessage
from rejoinder.messages import Custom, Json, JsonObject, Message, Opaque, Part, Reasoning, Text, ToolCall
from rejoinder.messages.provider_message import (
    ProviderContentPart,
    ProviderMessage,
    ProviderToolCallPart,
    ProviderToolResultPart,
)
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

_TYPES: Final = {
    "human": "human",
    "user": "human",
    "ai": "ai",
    "assistant": "ai",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "function",
    "chat": "chat",
    "remove": "remove",
}
_SAID: Final = frozenset({"content", "type", "role", "tool_calls", "invalid_tool_calls", "tool_call_chunks"})
_SAID_OF_RESULT: Final = frozenset({"content", "type", "role", "tool_call_id", "name", "status"})
_THOUGHT: Final = "reasoning_content"
_INVALID: Final = "invalid"


def from_langchain(items: Sequence[Json]) -> tuple[Message, ...]:
    """Read a history. An answer and its tools' results become one message; one without an id is called after its place.

    Raises `InvalidMessage`, naming the place, for what is no such message.
    """
    transcript = Transcript()
    for place, item in enumerate(items):
        path = f"messages[{place}]"
        kind, body = _flat(item, path)
        id = body.get("id")
        named = id if isinstance(id, str) else None
        match kind:
            case "human" | "system" | "chat":
                said = ["system" if kind == "system" else "user", body.get("role")]
                role = "system" if "system" in said else "assistant" if "assistant" in said else "user"
                spoken = _SAID - {"role"} if kind == "chat" else _SAID
                kept = _rest(body, spoken if named is None else spoken | {"id"})
                if kind == "chat":
                    kept["type"] = kind
                parts = _spoken(body)
                if role == "assistant":
                    transcript.step(parts, id=named, extra=_extra(kept))
                else:
                    transcript.said(
                        "system" if role == "system" else "user", parts, id=named, extra=_extra(kept)
                    )
            case "ai":
                transcript.step(_answer(body, path), id=named, extra=_extra(_rest(body, _SAID)))
                _hosted_results(transcript, body)
            case "tool" | "function":
                _result(transcript, body)
            case _:
                # It says that a message of a thread is to go, and is none itself.
                transcript.said("system", [Opaque(body={**body, "type": kind})], id=None)
    return transcript.messages()


def _extra(kept: JsonObject) -> JsonObject | None:
    return {VENDOR: kept} if kept else None


def _rest(body: JsonObject, said: Collection[str]) -> JsonObject:
    """What has no place of its own: an empty field says nothing."""
    return {key: value for key, value in body.items() if key not in said and value not in (None, {}, [], "")}


def _flat(item: Json, path: str) -> tuple[str, JsonObject]:
    """What kind of message it is, and its fields, however it is wrapped."""
    if not is_object(item):
        raise InvalidMessage(f"{path}: a message is an object, this is {kind_of(item)}.")
    body = item
    kind = item.get("type", item.get("role"))
    if item.get("lc") is not None and is_object(item.get("kwargs")):
        body = item["kwargs"]
        names = item.get("id")
        kind = body.get("type") or (names[-1] if is_array(names) and names else None)
    elif is_object(item.get("data")) and "content" not in item:
        body = item["data"]
    name = str(kind).removesuffix("MessageChunk").removesuffix("Message").lower()
    found = _TYPES.get(name)
    if found is None:
        raise InvalidMessage(f"{path}: human, ai, system, tool or another type of LangChain's, not {kind!r}.")
    return found, body


def _spoken(body: JsonObject) -> list[Part]:
    return [*parts_of(body.get("content"), {})] or [Text(text="")] * (body.get("content") == "")


def _answer(body: JsonObject, path: str) -> Iterator[Part]:
    more = body.get("additional_kwargs")
    extra: JsonObject = more if is_object(more) else {}
    thought = extra.get(_THOUGHT)
    if isinstance(thought, str) and thought:
        yield Reasoning(text=thought, provider_metadata={VENDOR: {"field": _THOUGHT}})
    calls = {call.call_id: call for call in _calls(body, extra, path)}
    if body.get("content") == "" and not calls and not thought:
        yield Text(text="")
    for part in parts_of(body.get("content"), calls):
        if not (isinstance(part, Custom) and part.kind == f"{VENDOR}.server_tool_result"):
            yield part


def _calls(body: JsonObject, extra: JsonObject, path: str) -> Iterator[ToolCall]:
    listed, invalid = body.get("tool_calls"), body.get("invalid_tool_calls")
    if not listed and not invalid:
        listed = extra.get("tool_calls")
    for place, call in enumerate(listed if is_array(listed) else []):
        match call:
            case {"name": str(name), **rest}:
                given = rest.get("args", {})
                yield _call(rest.get("id"), name, given, f"{path}-{place}")
            case {"function": {"name": str(name), "arguments": str(text)}, **rest}:
                yield _call(rest.get("id"), name, _arguments(text), f"{path}-{place}")
            case _:
                raise InvalidMessage(f"{path}.tool_calls[{place}]: a name and args are needed.")
    for place, broken in enumerate(invalid if is_array(invalid) else []):
        if is_object(broken):
            asked, error = broken.get("name"), broken.get("error")
            about = {VENDOR: {_INVALID: True, **({} if error is None else {"error": error})}}
            called = asked if isinstance(asked, str) else ""
            made = _call(broken.get("id"), called, broken.get("args"), f"{path}-x{place}")
            yield structs.replace(made, call_provider_metadata=about)


def _call(id: Json, name: str, given: Json, otherwise: str) -> ToolCall:
    called = id if isinstance(id, str) and id else otherwise
    return ToolCall(name=name, call_id=called, state="input-available", input=given)


def _arguments(text: str) -> Json:
    try:
        return json.decode(text) if text.strip() else {}
    except InvalidJson:
        return text


def _hosted_results(transcript: Transcript, body: JsonObject) -> None:
    content = body.get("content")
    for block in content if is_array(content) else []:
        match block:
            case {"type": "server_tool_result", "tool_call_id": str(id)}:
                output, failed = block.get("output"), block.get("status") == "error"
                transcript.result(id, "tool", output_text(output) if failed else output, failed=failed)
            case _:
                pass  # It stands in the step.


def _result(transcript: Transcript, body: JsonObject) -> None:
    id, name, content = body.get("tool_call_id"), body.get("name"), body.get("content")
    called = name if isinstance(name, str) else "tool"
    kept = _rest(body, _SAID_OF_RESULT)
    if body.get("tool_call_id") is None:
        kept["type"] = "function"
    failed = body.get("status") == "error"
    output: Json = "" if content is None else content
    if failed and not isinstance(output, str):
        output = output_text(output)
    elif not isinstance(output, str):
        kept["blocks"] = True
    transcript.result(
        id if isinstance(id, str) else called, called, output, failed=failed, about=_extra(kept)
    )


# Writing


def to_langchain(messages: Sequence[Message]) -> list[JsonObject]:
    """Write a history as LangGraph's servers say it."""
    return [said for step in provider_steps(messages) for said in _whole(step)]


def to_langchain_dicts(messages: Sequence[Message]) -> list[JsonObject]:
    """Write a history as `messages_to_dict` does, for `messages_from_dict`."""
    return [
        {"type": said["type"], "data": {"additional_kwargs": {}, "response_metadata": {}, **said}}
        for said in to_langchain(messages)
    ]


def langchain_messages(
    messages: Sequence[ProviderMessage], *, but: Collection[str] = (), whole: bool = False
) -> list[JsonObject]:
    """What a provider is told, in LangChain's messages; `but` are calls whose results are left out."""
    said: list[JsonObject] = []
    for message in messages:
        match message.role:
            case "system":
                said.append({"type": "system", "content": message.text})
            case "user":
                said.append({"type": "human", "content": content_of(message.content, whole=whole)})
            case "assistant":
                content = content_of(message.content, whole=whole)
                said.append({"type": "ai", "content": content, **_told_calls(message.content, whole=whole)})
            case "tool":
                said += _told_results(message.content, but)
            case _:
                assert_never(message.role)
    return said


def _told_calls(parts: Sequence[ProviderContentPart], *, whole: bool) -> JsonObject:
    calls: list[JsonObject] = []
    invalid: list[JsonObject] = []
    for part in parts:
        if not isinstance(part, ProviderToolCallPart) or part.provider_executed:
            continue
        about = options_of(part, VENDOR)
        if whole and about.get(_INVALID) is True:
            call = {
                "type": "invalid_tool_call",
                "id": part.call_id,
                "name": part.name,
                "args": part.arguments,
            }
            invalid.append({**call, "error": about.get("error")})
        else:
            given = object_in(part.arguments)
            calls.append({"type": "tool_call", "id": part.call_id, "name": part.name, "args": given})
    return {"tool_calls": calls, **({"invalid_tool_calls": invalid} if invalid else {})}


def _told_results(parts: Sequence[ProviderContentPart], but: Collection[str]) -> Iterator[JsonObject]:
    for part in parts:
        if isinstance(part, ProviderToolResultPart) and part.call_id not in but:
            yield {
                "type": "tool",
                "content": output_text(part.result),
                "tool_call_id": part.call_id,
                "name": part.name,
                "status": "error" if part.is_error else "success",
            }


def _whole(step: ProviderStep) -> Iterator[JsonObject]:
    """The messages of a step, with what was kept of them."""
    kept = step.kept(VENDOR)
    named: JsonObject = {"id": step.message.id} if step.first else {}
    if not step.told:
        yield from (dict(part.body) for part in step.parts if _is_removal(part))
    for said in langchain_messages(step.told, whole=True):
        if said["type"] == "tool":
            yield _whole_result(said, step.call(said["tool_call_id"]))
            continue
        content = _with_blocks(said["content"], step) if said["type"] == "human" else said["content"]
        yield {**said, "content": content, **named, **kept}
        kept, named = {}, {}


def _is_removal(part: Part) -> TypeGuard[Opaque]:
    return isinstance(part, Opaque) and part.kind == "remove"


def _with_blocks(content: Json, step: ProviderStep) -> Json:
    """What a user said, with blocks that a model is not shown by others than LangChain."""
    options = [part.provider_metadata or {} for part in step.parts if isinstance(part, Custom)]
    blocks = [about["block"] for each in options if is_object(about := each.get(VENDOR)) and "block" in about]
    if not blocks:
        return content
    texts = [{"type": "text", "text": content}] if isinstance(content, str) and content else content
    return [*(texts or []), *blocks]


def _whole_result(said: JsonObject, call: ToolCall | None) -> JsonObject:
    about = (call.result_provider_metadata or {}).get(VENDOR) if call is not None else None
    kept: JsonObject = dict(about) if is_object(about) else {}
    if kept.pop("blocks", False) is True and call is not None and is_array(call.output):
        said = {**said, "content": call.output}
    if kept.get("type") == "function":
        said = {key: value for key, value in said.items() if key not in ("tool_call_id", "status")}
    return {**said, **kept}
