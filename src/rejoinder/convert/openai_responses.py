"""The items of OpenAI Responses, and of the sessions of the OpenAI Agents SDK → messages of ours.

Items of an answer become parts as the translator of its events makes them, so an answer that was imported is told as
one that was streamed. Items that nobody knows are kept whole, and go back as they came.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from msgspec import structs

from rejoinder.convert.javascript import kind_of
from rejoinder.convert.provider_values import inline_of
from rejoinder.convert.transcript import Transcript
from rejoinder.errors import InvalidMessage
from rejoinder.messages import (
    ABSENT,
    Approval,
    Custom,
    File,
    Json,
    JsonObject,
    Message,
    Opaque,
    Part,
    Reasoning,
    SourceUrl,
    Text,
    ToolCall,
)
from rejoinder.wire.json import is_array, is_object
from rejoinder.wire.openai_tool_items import (
    TOOL_ITEMS,
    arguments_of,
    error_of,
    input_of,
    output_of,
    runs_here,
)

VENDOR: Final = "openai"

FAKE_ID: Final = "__fake_id__"
"""What the Agents SDK calls every item of a model that gives none of its items an id."""

_ROLES: Final = ("user", "system", "developer", "assistant")
_AUDIO: Final = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_ANSWERS: Final = "_output"
_FAILURES: Final = ("failed", "incomplete")


def from_openai_responses(items: Sequence[Json]) -> tuple[Message, ...]:
    """Read a history. What came between two questions becomes one message, and messages are called after places.

    Raises `InvalidMessage`, naming the place, for what is no such item.
    """
    return _Reader().messages(items)


def transcript_of(body: JsonObject) -> tuple[Message, ...]:
    """Read a request (`instructions`, `input`), a response (`output`), both in one, or a session (`items`)."""
    items: list[Json] = []
    if isinstance(body.get("instructions"), str) and body["instructions"]:
        items.append({"role": "system", "content": body["instructions"]})
    for key in ("input", "items", "data", "output"):
        value = body.get(key)
        if isinstance(value, str):
            items.append({"role": "user", "content": value})
        elif is_array(value):
            items += value
    return from_openai_responses(items)


class _Reader:
    """Items as they are read: those of one answer are gathered, until somebody else says something."""

    def __init__(self) -> None:
        self._transcript = Transcript()
        self._step: list[Part] = []
        self._hosted: list[tuple[str, JsonObject, JsonObject]] = []
        self._sources: set[str] = set()

    def messages(self, items: Sequence[Json]) -> tuple[Message, ...]:
        for place, item in enumerate(items):
            path = f"items[{place}]"
            if not is_object(item):
                raise InvalidMessage(f"{path}: an item is an object, this is {kind_of(item)}.")
            role, kind = item.get("role"), item.get("type") or "message"
            if kind == "message":
                self._message(item, role, path)
            elif not isinstance(kind, str):
                raise InvalidMessage(f"{path}.type: a text names the kind of an item, not {kind!r}.")
            elif kind.endswith(_ANSWERS) and kind.removesuffix(_ANSWERS).endswith("_call"):
                self._end()
                self._output(item, kind)
            elif kind == "mcp_approval_response":
                self._end()
                self._decision(item)
            else:
                self._step += self._parts(item, kind, place)
        self._end()
        return self._transcript.messages()

    def _message(self, item: JsonObject, role: Json, path: str) -> None:
        if role not in _ROLES:
            raise InvalidMessage(f"{path}.role: user, assistant, system or developer, not {role!r}.")
        content = item.get("content")
        if not (content is None or isinstance(content, str) or is_array(content)):
            raise InvalidMessage(f"{path}.content: a text or an array, this is {kind_of(content)}.")
        if role == "assistant":
            self._step += self._said(item, content)
            return
        self._end()
        shown = (
            [Text(text=content)] if isinstance(content, str) else [_shown(block) for block in content or []]
        )
        self._transcript.said("user" if role == "user" else "system", shown)

    def _end(self) -> None:
        """The model is done for now: what came so far is one call of it."""
        if self._step:
            self._transcript.step(self._step)
            self._step = []
        for id, item, about in self._hosted:
            name = str(item.get("type")).removesuffix("_call")
            self._transcript.answer(id, name, partial(_answered, item, about))
        self._hosted = []

    # What the model said

    def _said(self, item: JsonObject, content: Json) -> Iterator[Part]:
        if isinstance(content, str):
            yield Text(text=content, provider_metadata=_about(item, phase=item.get("phase")))
        for block in content if is_array(content) else []:
            match block:
                case {"type": "output_text" | "input_text" | "text", "text": str(text)}:
                    noted = block.get("annotations")
                    about = _about(item, phase=item.get("phase"), annotations=noted)
                    yield Text(text=text, provider_metadata=about)
                    yield from self._cited(noted)
                case {"type": "refusal", "refusal": str(text)}:
                    yield Text(
                        text=text, provider_metadata=_about(item, phase=item.get("phase"), refusal=True)
                    )
                case _:
                    yield Opaque(body=block) if is_object(block) else Text(text=str(block))

    def _cited(self, annotations: Json) -> Iterator[Part]:
        for cited in annotations if is_array(annotations) else []:
            url = cited.get("url") if is_object(cited) else None
            if isinstance(url, str) and url not in self._sources:
                self._sources.add(url)
                title = cited.get("title")
                yield SourceUrl(source_id=url, url=url, title=title if isinstance(title, str) else None)

    def _parts(self, item: JsonObject, kind: str, place: int) -> Iterator[Part]:
        tool = TOOL_ITEMS.get(kind)
        if kind == "reasoning":
            yield from _thoughts(item)
        elif kind == "function_call" and isinstance(item.get("name"), str):
            about = _about(item, namespace=item.get("namespace"), caller=item.get("caller"))
            yield _call(item, item["name"], arguments_of(item.get("arguments")), about, place)
        elif kind == "custom_tool_call" and isinstance(item.get("name"), str):
            about = _about(item, type=kind, namespace=item.get("namespace"), caller=item.get("caller"))
            yield _call(item, item["name"], item.get("input"), about, place)
        elif kind == "mcp_approval_request":
            yield _question(item, place)
        elif kind == "mcp_call":
            yield from self._mcp(item, place)
        elif tool is not None:
            about = _about(item, type=kind)
            call = _call(item, tool.name, input_of(item, tool), about, place)
            if runs_here(item, tool):
                yield call
            else:
                self._hosted.append((call.call_id, item, about or {}))
                yield structs.replace(call, provider_executed=True)
        else:
            whole = {VENDOR: {**(_about(item) or {}).get(VENDOR, {}), "item": item}}
            yield Custom(kind=f"{VENDOR}.{kind}", provider_metadata=whole)

    def _mcp(self, item: JsonObject, place: int) -> Iterator[Part]:
        asked = item.get("approval_request_id")
        server = item.get("server_label")
        about = _about(item, type="mcp_call", serverLabel=server, approvalRequestId=asked)
        name = f"mcp.{item.get('name')}"
        if isinstance(asked, str) and self._asked(asked):
            self._hosted.append((asked, item, about or {}))
            return
        call = _call(item, name, arguments_of(item.get("arguments")), about, place)
        self._hosted.append((call.call_id, item, about or {}))
        yield structs.replace(
            call, dynamic=True, provider_executed=True, title=server if isinstance(server, str) else None
        )

    def _asked(self, id: str) -> bool:
        """Whether there was a question of that id: its call is the one that was made when it was allowed."""
        here = any(isinstance(part, ToolCall) and part.call_id == id for part in self._step)
        return here or self._transcript.change(lambda call: call.call_id == id, lambda call: call)

    # What was answered

    def _output(self, item: JsonObject, kind: str) -> None:
        id = item.get("call_id", item.get("id"))
        name = item.get("name")
        output = item.get("output")
        if is_array(output) and all(is_object(each) and isinstance(each.get("text"), str) for each in output):
            output = "\n".join(each["text"] for each in output)
        failed = kind == "apply_patch_call_output" and item.get("status") in _FAILURES
        called = name if isinstance(name, str) else "tool"
        said: Json = "" if output is None else output
        if failed and not isinstance(said, str):
            said = "The patch was not applied."
        self._transcript.result(id if isinstance(id, str) else called, called, said, failed=failed)

    def _decision(self, item: JsonObject) -> None:
        asked, approve, reason = (
            item.get("approval_request_id"),
            item.get("approve") is True,
            item.get("reason"),
        )

        def decided(call: ToolCall) -> ToolCall:
            approval = structs.replace(
                call.approval or Approval(id=call.call_id),
                approved=approve,
                reason=reason if isinstance(reason, str) else None,
            )
            return structs.replace(call, state="approval-responded", approval=approval)

        if not self._transcript.change(
            lambda call: call.call_id == asked and call.state == "approval-requested", decided
        ):
            self._transcript.add(
                Custom(kind=f"{VENDOR}.{item['type']}", provider_metadata={VENDOR: {"item": item}})
            )


def _about(item: JsonObject, **more: Json) -> JsonObject | None:
    """The item's id, and what else is to be known when it goes back: as the translator says it."""
    said = {name: value for name, value in more.items() if value not in (None, "", [], False)}
    id = item.get("id")
    if isinstance(id, str) and id and id != FAKE_ID:
        said = {"itemId": id, **said}
    return {VENDOR: said} if said else None


def _call(item: JsonObject, name: str, given: Json, about: JsonObject | None, place: int) -> ToolCall:
    id = item.get("call_id") or item.get("id")
    return ToolCall(
        name=name,
        call_id=id if isinstance(id, str) and id != FAKE_ID else f"call-{place}",
        state="input-available",
        input=ABSENT if given is None else given,
        call_provider_metadata=about,
    )


def _question(item: JsonObject, place: int) -> ToolCall:
    server = item.get("server_label")
    about = _about(item, type=item["type"], serverLabel=server)
    call = _call(item, f"mcp.{item.get('name')}", arguments_of(item.get("arguments")), about, place)
    return structs.replace(
        call,
        dynamic=True,
        provider_executed=True,
        title=server if isinstance(server, str) else None,
        state="approval-requested",
        approval=Approval(id=call.call_id),
    )


def _answered(item: JsonObject, about: JsonObject, call: ToolCall) -> ToolCall:
    """A call that OpenAI ran, with what came of it: both are in one item."""
    tool = TOOL_ITEMS.get(str(item.get("type")))
    error = error_of(item, call.name)
    call = structs.replace(call, result_provider_metadata=about or None)
    if error is not None:
        return structs.replace(call, state="output-error", error_text=error)
    output = item.get("output") if tool is None else output_of(item, tool)
    return structs.replace(call, state="output-available", output=output)


def _thoughts(item: JsonObject) -> Iterator[Part]:
    """A reasoning: each of its summaries a part, the encrypted thought with the last."""
    found = [
        (block["text"], full)
        for key, full in (("summary", False), ("content", True))
        for block in _listed(item.get(key))
        if is_object(block) and isinstance(block.get("text"), str)
    ]
    encrypted = item.get("encrypted_content")
    for number, (text, full) in enumerate(found, 1):
        sealed = encrypted if number == len(found) else None
        yield Reasoning(
            text=text, provider_metadata=_about(item, fullReasoning=full, reasoningEncryptedContent=sealed)
        )
    about = _about(item, reasoningEncryptedContent=encrypted)
    if not found and about is not None:
        yield Reasoning(text="", provider_metadata=about)


def _listed(value: Json) -> Sequence[Json]:
    return value if is_array(value) else ()


def _shown(block: Json) -> Part:
    """What a user says and shows."""
    match block:
        case {"type": "input_text" | "output_text" | "text", "text": str(text)}:
            return Text(text=text)
        case {"type": "input_image", "image_url": str(url)}:
            return _file(url, "image/*", None, _detail(block))
        case {"type": "input_image", "file_id": str(id)}:
            about = _detail(block)
            return File(
                media_type="image/*", url="", provider_reference={VENDOR: id}, provider_metadata=about
            )
        case {"type": "input_file", "file_data": str(url), **rest}:
            return _file(url, "application/octet-stream", rest.get("filename"), None)
        case {"type": "input_file", "file_url": str(url), **rest}:
            return _file(url, "application/octet-stream", rest.get("filename"), None)
        case {"type": "input_file", "file_id": str(id)}:
            return File(media_type="application/octet-stream", url="", provider_reference={VENDOR: id})
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(form)}} | {
            "type": "input_audio",
            "data": str(data),
            "format": str(form),
        }:
            media_type = _AUDIO.get(form, f"audio/{form}")
            return File(media_type=media_type, url=f"data:{media_type};base64,{data}")
        case _:
            return Opaque(body=block) if is_object(block) else Text(text=str(block))


def _detail(image: Json) -> JsonObject | None:
    detail = image.get("detail") or "auto"
    return None if detail == "auto" else {VENDOR: {"imageDetail": detail}}


def _file(url: str, otherwise: str, name: Json, about: JsonObject | None) -> File:
    if ":" not in url:
        url = f"data:{otherwise};base64,{url}"
    inline = inline_of(url)
    family = otherwise.removesuffix("*") if otherwise.endswith("*") else ""
    return File(
        media_type=otherwise
        if inline is None or not inline.media_type.startswith(family)
        else inline.media_type,
        url=url,
        filename=name if isinstance(name, str) else None,
        provider_metadata=about,
    )
