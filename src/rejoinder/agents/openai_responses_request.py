"""What OpenAI Responses is asked: items, as it gave them where they came from it.

Items go back whole, and not as references to what OpenAI has stored: so a conversation can be edited, forked and
cut, and works for accounts for which nothing is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, assert_never

from rejoinder.agents.requests import NO_INPUT, chosen_tool, is_strict, reasons
from rejoinder.convert.openai_responses import FAKE_ID
from rejoinder.convert.provider_values import (
    hosted_results,
    inline_of,
    object_in,
    object_text,
    options_of,
    output_text,
)
from rejoinder.messages import Json, JsonObject
from rejoinder.messages.provider_message import (
    ProviderApprovalPart,
    ProviderContentPart,
    ProviderCustomPart,
    ProviderFilePart,
    ProviderMessage,
    ProviderReasoningFilePart,
    ProviderReasoningPart,
    ProviderTextPart,
    ProviderToolCallPart,
    ProviderToolResultPart,
)
from rejoinder.ports.providers import ProviderCallParams, ProviderToolDefinition
from rejoinder.wire.json import is_object

_INCLUDES: Final[Mapping[str, str]] = {
    "code_interpreter": "code_interpreter_call.outputs",
    "file_search": "file_search_call.results",
    "web_search": "web_search_call.action.sources",
}
"""What OpenAI leaves out of the items of its own tools, unless it is asked for it."""

_AUDIO: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}

_QUESTION: Final = "mcp_approval_request"
"""How OpenAI asks whether it may call a tool of somebody's MCP server."""

_OUTPUTS: Final[Mapping[str, str]] = {
    "apply_patch_call": "apply_patch_call_output",
    "computer_call": "computer_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
}


def responses_request(params: ProviderCallParams, model: str, provider: str) -> JsonObject:
    """The body of a request."""
    tools = params.tools or ()
    request: JsonObject = {
        "model": model,
        "input": [*_Conversation(model, provider).items(params.messages)],
        "include": [
            *(["reasoning.encrypted_content"] if reasons(model) else []),
            *(_INCLUDES[kind] for kind in _INCLUDES if any(_kind(tool).startswith(kind) for tool in tools)),
        ]
        or None,
        "max_output_tokens": params.max_tokens,
        "tools": [_tool(tool) for tool in tools] or None,
        "tool_choice": _choice(params.tool_choice, tools) if tools else None,
    }
    if params.output_schema is not None:
        schema = params.output_schema
        form = {"type": "json_schema", "name": "answer", "schema": schema, "strict": is_strict(schema)}
        request["text"] = {"format": form}
    return request


def response_items(
    messages: Sequence[ProviderMessage], *, provider: str = "openai", whole: bool = False
) -> list[JsonObject]:
    """A history as the items of the Responses API: for whoever builds the rest of the request.

    With `whole` also what OpenAI would refuse to be told again, and what it need not be told: for keeping.
    """
    return [*_Conversation("", provider, whole=whole).items(messages)]


def _kind(tool: ProviderToolDefinition) -> str:
    kind = (tool.provider_tool or {}).get("type")
    return kind if isinstance(kind, str) else ""


def _tool(tool: ProviderToolDefinition) -> JsonObject:
    if tool.provider_tool is not None:
        return tool.provider_tool
    said: JsonObject = {
        "type": "function",
        "name": tool.name,
        "parameters": tool.schema or NO_INPUT,
        # Left out, it would be as if it were true, and schemas that are not strict would be refused.
        "strict": tool.strict is True,
    }
    return said if tool.description is None else {**said, "description": tool.description}


def _choice(choice: Json, tools: Sequence[ProviderToolDefinition]) -> Json:
    tool = chosen_tool(choice, tools)
    if tool is None:
        return choice
    return {"type": "function", "name": tool.name} if tool.provider_tool is None else {"type": _kind(tool)}


class _Conversation:
    """Messages → items. What kind of call each id was decides what its output is called."""

    def __init__(self, model: str, provider: str, *, whole: bool = False) -> None:
        self._provider = provider
        self._whole = whole
        self._system = "developer" if reasons(model) else "system"
        self._kinds: dict[str, str] = {}
        self._asked: set[str] = set()

    def items(self, messages: Sequence[ProviderMessage]) -> Iterator[JsonObject]:
        for message in messages:
            match message.role:
                case "system":
                    yield {"role": self._system, "content": message.text}
                case "user":
                    content = [said for part in message.content if (said := self._shown(part)) is not None]
                    yield {"role": "user", "content": content}
                case "assistant":
                    yield from self._assistant(message.content)
                case "tool":
                    for part in message.content:
                        if isinstance(part, ProviderToolResultPart):
                            yield self._output(part)
                        elif isinstance(part, ProviderApprovalPart) and part.approval_id in self._asked:
                            yield _decision(part)
                case _:
                    assert_never(message.role)

    def _shown(self, part: ProviderContentPart) -> JsonObject | None:
        match part:
            case ProviderTextPart():
                return {"type": "input_text", "text": part.text}
            case ProviderFilePart():
                return self._file(part)
            case _:
                return None  # A user says and shows; nothing else of theirs is for the model.

    def _file(self, part: ProviderFilePart) -> JsonObject:
        id = (part.reference or {}).get(self._provider)
        inline = inline_of(part.url)
        if part.media_type.startswith("image/"):
            detail = options_of(part, self._provider).get("imageDetail", "auto")
            place: JsonObject = {"image_url": part.url} if id is None else {"file_id": id}
            return {"type": "input_image", **place, "detail": detail}
        if inline is not None and part.media_type in _AUDIO:
            audio = {"data": inline.base64, "format": _AUDIO[part.media_type]}
            return {"type": "input_audio", "input_audio": audio}
        if id is not None:
            return {"type": "input_file", "file_id": id}
        if inline is None:
            return {"type": "input_file", "file_url": part.url}
        name = part.filename or f"file.{part.media_type.rpartition('/')[2]}"
        data = f"data:{inline.media_type};base64,{inline.base64}"
        return {"type": "input_file", "filename": name, "file_data": data}

    # What the model said

    def _assistant(self, parts: Sequence[ProviderContentPart]) -> Iterator[JsonObject]:
        """The items of one message, the pieces of an item put together again.

        OpenAI refuses a reasoning without the item that followed it, and an item by its id without its reasoning.
        So ids are said only behind a reasoning, and a reasoning at the very end, which nothing followed, is not.
        """
        said: list[JsonObject] = []
        results = hosted_results(parts)
        linked = self._whole
        for part in parts:
            item = self._item(part, results, linked=linked)
            if item is None or (said and _join(said[-1], item)):
                continue
            linked = linked or item.get("type") == "reasoning"
            said.append(item)
        while said and said[-1].get("type") == "reasoning" and not self._whole:
            said.pop()
        for item in said:
            item.pop("from", None)
        yield from said

    def _item(
        self, part: ProviderContentPart, results: Mapping[str, ProviderToolResultPart], *, linked: bool
    ) -> JsonObject | None:
        options = options_of(part, self._provider)
        id = options.get("itemId")
        named: JsonObject = {"id": id} if linked and id else {}
        match part:
            case ProviderTextPart():
                return self._text(part, options, named)
            case ProviderReasoningPart():
                return _reasoning(part, options) if id or (self._whole and part.text) else None
            case ProviderToolCallPart(provider_executed=True):
                return self._hosted(part, options, results.get(part.call_id))
            case ProviderToolCallPart():
                return {**self._call(part, options), **named}
            case ProviderCustomPart():
                item = options.get("item")
                return item if is_object(item) else None
            case ProviderFilePart() | ProviderReasoningFilePart() | ProviderToolResultPart():
                return None  # Pictures go back with the call that drew them, results with theirs.
            case ProviderApprovalPart():
                return None  # It is the user's.
            case _:
                assert_never(part)

    def _text(self, part: ProviderTextPart, options: JsonObject, named: JsonObject) -> JsonObject | None:
        if not part.text:
            return None
        refused = options.get("refusal") is True
        noted = options.get("annotations") if self._whole else None
        content = {"type": "refusal", "refusal": part.text} if refused else _output_text(part, noted)
        phase: JsonObject = {"phase": options["phase"]} if options.get("phase") else {}
        if self._whole and named:
            named["status"] = "completed"
        elif self._whole and not refused and not noted:
            return {"type": "message", "role": "assistant", "content": part.text, **phase}
        said = {"type": "message", "role": "assistant", "content": [content], **phase, **named}
        return {**said, "from": options.get("itemId")}

    def _call(self, part: ProviderToolCallPart, options: JsonObject) -> JsonObject:
        kind = options.get("type") or "function_call"
        self._kinds[part.call_id] = kind
        call: JsonObject = {"type": kind, "call_id": part.call_id}
        extra = {name: options[name] for name in ("namespace", "caller") if options.get(name)}
        if kind == "custom_tool_call":
            return {**call, "name": part.name, "input": output_text(part.arguments), **extra}
        if kind == "function_call":
            return {**call, "name": part.name, "arguments": object_text(part.arguments), **extra}
        asked = {_vendors(name): value for name, value in object_in(part.arguments).items()}
        return {**call, "status": "completed", **asked}

    def _hosted(
        self, part: ProviderToolCallPart, options: JsonObject, result: ProviderToolResultPart | None
    ) -> JsonObject | None:
        """A call that OpenAI ran, or asked whether it may."""
        if options.get("type") != _QUESTION:
            return _hosted(part, options, result)
        if result is not None:
            # It was allowed and made. The call says all of it: the question and its answer need not come again.
            return _hosted(part, options_of(result, self._provider), result)
        id = options.get("itemId")
        if not isinstance(id, str):
            return None
        self._asked.add(id)
        name = part.name.removeprefix("mcp.")
        asked = {"name": name, "arguments": object_text(part.arguments)}
        return {"type": _QUESTION, "id": id, "server_label": options.get("serverLabel"), **asked}

    def _output(self, part: ProviderToolResultPart) -> JsonObject:
        kind = self._kinds.get(part.call_id, "function_call")
        output: Json = output_text(part.result)
        if part.content:
            output = [shown for item in part.content if (shown := self._shown(item)) is not None]
        said: JsonObject = {"type": _OUTPUTS.get(kind, "function_call_output"), "call_id": part.call_id}
        match kind:
            case "computer_call" | "shell_call" if not part.is_error:
                result = part.result
                given = result.get("output", result) if is_object(result) else result
                return {**said, "output": given}
            case "apply_patch_call":
                return {**said, "status": "failed" if part.is_error else "completed", "output": output}
            case _:
                return {**said, "output": output}


def _decision(part: ProviderApprovalPart) -> JsonObject:
    return {
        "type": "mcp_approval_response",
        "approval_request_id": part.approval_id,
        "approve": part.approved,
    }


def _output_text(part: ProviderTextPart, annotations: Json) -> JsonObject:
    return {"type": "output_text", "text": part.text, "annotations": annotations or []}


def _reasoning(part: ProviderReasoningPart, options: JsonObject) -> JsonObject:
    item: JsonObject = {"type": "reasoning", "id": options.get("itemId") or FAKE_ID, "summary": []}
    if options.get("reasoningEncryptedContent"):
        item["encrypted_content"] = options["reasoningEncryptedContent"]
    if part.text and options.get("fullReasoning") is True:
        item["content"] = [{"type": "reasoning_text", "text": part.text}]
    elif part.text:
        item["summary"] = [{"type": "summary_text", "text": part.text}]
    return item


def _hosted(
    part: ProviderToolCallPart, options: JsonObject, result: ProviderToolResultPart | None
) -> JsonObject | None:
    """A call that OpenAI ran: the input and the output are the item's own fields."""
    kind, id = options.get("type"), options.get("itemId")
    if result is None or not isinstance(kind, str) or not id:
        return None
    item: JsonObject = {"type": kind, "id": id}
    if kind == "mcp_call":
        item |= {"name": part.name.removeprefix("mcp."), "server_label": options.get("serverLabel")}
        item["arguments"] = object_text(part.arguments)
        return {**item, ("error" if result.is_error else "output"): output_text(result.result)}
    answered = result.result if is_object(result.result) else {}
    asked = {_vendors(name): value for name, value in object_in(part.arguments).items()}
    if kind == "web_search_call":
        asked = {"action": part.arguments}
    return {**item, "status": "failed" if result.is_error else "completed", **asked, **answered}


def _join(before: JsonObject, item: JsonObject) -> bool:
    """Put a further piece of the same item to the one before, if it is that."""
    if item.get("type") == "reasoning" and before.get("id") == item.get("id") != FAKE_ID:
        for name in ("summary", "content"):
            if item.get(name):
                before[name] = [*before.get(name, ()), *item[name]]
        if "encrypted_content" in item:
            before["encrypted_content"] = item["encrypted_content"]
        return True
    if item.get("type") == "message" and item.get("from") and before.get("from") == item["from"]:
        before["content"] = [*before["content"], *item["content"]]
        return True
    return False


def _vendors(name: str) -> str:
    """The name of a field as OpenAI writes it."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
