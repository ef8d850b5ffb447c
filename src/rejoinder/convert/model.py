"""`Message` → model messages, by the rules of the AI SDK's `convertToModelMessages`, versions 5, 6 and 7.

The rules read UI JSON and not our structs: the SDK passes on whatever a field holds, and so do we, null and misfits
included. Its `undefined` is a missing key here, and where JavaScript would stumble (a part without a type), we raise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rejoinder.convert.javascript import kind_of, spread
from rejoinder.convert.model_parts import DataConverter, ModelTool, Speaker, Step, text
from rejoinder.convert.model_plain import plain_messages
from rejoinder.convert.model_repair import repaired
from rejoinder.convert.model_rules import RULES, Selection
from rejoinder.convert.ui import from_ui, to_ui
from rejoinder.errors import UnconvertibleMessage
from rejoinder.messages import ABSENT, Json, JsonObject, Message
from rejoinder.wire.javascript import joined, text_of
from rejoinder.wire.json import JsonArray, is_array, is_object

_TEXTS: Final = frozenset({str})


def to_model_messages(
    messages: Sequence[Message],
    *,
    sdk: int = 7,
    tools: Mapping[str, ModelTool] | None = None,
    ignore_incomplete_tool_calls: bool = False,
    convert_data_part: DataConverter | None = None,
    repair: bool = False,
) -> list[JsonObject]:
    """Say a history to a model, as the given version of the AI SDK would.

    The SDK lets calls without a result pass, and providers refuse such histories. With `repair`, which is ours,
    no call goes unanswered (see `model_repair`) and messages without content are left out.

    Raises `UnconvertibleMessage` for what the SDK throws on: an unknown role, a file whose URL is none (7).
    """
    settled = repaired(messages, approvals=RULES[sdk].approvals) if repair else messages
    converted = ui_to_model_messages(
        [to_ui(message) for message in settled],
        sdk=sdk,
        tools=tools,
        ignore_incomplete_tool_calls=ignore_incomplete_tool_calls,
        convert_data_part=convert_data_part,
    )
    return [message for message in converted if message["content"]] if repair else converted


def ui_to_model_messages(
    messages: Sequence[Json],
    *,
    sdk: int = 7,
    tools: Mapping[str, ModelTool] | None = None,
    ignore_incomplete_tool_calls: bool = False,
    convert_data_part: DataConverter | None = None,
    repair: bool = False,
) -> list[JsonObject]:
    """`to_model_messages` for messages that are UI JSON still, whatever shape they are in.

    With `repair` they are read as messages first, and `InvalidMessage` may come of that.
    """
    if repair:
        read = [from_ui(message, missing_id="") for message in messages]
        return to_model_messages(
            read,
            sdk=sdk,
            tools=tools,
            ignore_incomplete_tool_calls=ignore_incomplete_tool_calls,
            convert_data_part=convert_data_part,
            repair=True,
        )
    rules = RULES[sdk]
    speaker = Speaker(rules, tools, convert_data_part)
    last_user = _last_user(messages)
    filters = ignore_incomplete_tool_calls or (rules.denials_answer and last_user > 0)
    newest = Selection(complete_only=ignore_incomplete_tool_calls, superseded=False)
    earlier = newest._replace(superseded=rules.denials_answer)
    said: list[JsonObject] = []
    for index, message in enumerate(messages):
        # Tools may say their outputs in their own way: then no call is plain.
        plain = None if tools else plain_messages(message)
        if plain is not None:
            said += plain
            continue
        selection = earlier if index < last_user else newest
        _convert(message, index, speaker, selection, said, filters=filters)
    return said


def _last_user(messages: Sequence[Json]) -> int:
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if is_object(message) and message.get("role") == "user":
            return index
    return -1


def _convert(
    message: Json,
    index: int,
    speaker: Speaker,
    selection: Selection,
    said: list[JsonObject],
    *,
    filters: bool,
) -> None:
    if not is_object(message):
        raise UnconvertibleMessage(
            f"messages[{index}] is {kind_of(message)}. A message is an object: drop or mend it."
        )
    role = message.get("role", ABSENT)
    if role not in ("system", "user", "assistant"):
        raise UnconvertibleMessage(f"Unsupported role: {text_of(role)}")
    parts = message.get("parts", ABSENT)
    if not is_array(parts):
        if role == "assistant" and not filters and not speaker.rules.needs_parts and parts in (None, ABSENT):
            return
        raise UnconvertibleMessage(
            f"messages[{index}].parts is {kind_of(parts)}: send an array of part objects."
        )
    if role == "assistant":
        _assistant(parts, index, speaker, selection, said)
    elif role == "user":
        said.append({"role": "user", "content": _user_content(parts, index, speaker)})
    else:
        if filters:
            _types_of(parts, index)
        said.append(_system(parts, index))


def _system(parts: JsonArray, index: int) -> JsonObject:
    if None in parts:
        raise UnconvertibleMessage(f"messages[{index}].parts[{parts.index(None)}] is null: drop it.")
    texts = [part for part in parts if is_object(part) and part.get("type") == "text"]
    options: JsonObject = {}
    for part in texts:
        options.update(spread(part.get("providerMetadata")))
    said: JsonObject = {"role": "system", "content": joined([part.get("text") for part in texts], "")}
    if options:
        said["providerOptions"] = options
    return said


def _user_content(parts: JsonArray, index: int, speaker: Speaker) -> list[JsonObject]:
    content: list[JsonObject] = []
    for kind, part in zip(_types_of(parts, index), parts, strict=True):
        if kind == "text":
            content.append(text(part))
        elif kind == "file":
            content.append(speaker.file(part))
        elif kind.startswith("data-"):
            said = speaker.data(part)
            if said is not None:
                content.append(said)
    return content


def _assistant(
    parts: JsonArray, index: int, speaker: Speaker, selection: Selection, said: list[JsonObject]
) -> None:
    step = Step(speaker, selection)
    content = speaker.content
    for kind, part in zip(_types_of(parts, index), parts, strict=True):
        if kind in content:
            step.content.append(content[kind](part))
        elif kind == "step-start":
            step.end(said)
        elif kind == "steering-message" and speaker.rules.further_parts:
            step.end(said)
            said.append({"role": "user", "content": _steering_content(part, index, speaker)})
        else:
            step.add(kind, part)
    step.end(said)


def _steering_content(part: JsonObject, index: int, speaker: Speaker) -> list[JsonObject]:
    parts = part.get("parts", ABSENT)
    if not is_array(parts):
        raise UnconvertibleMessage(
            f"messages[{index}].parts: a steering message's parts is {kind_of(parts)}: send an array."
        )
    content: list[JsonObject] = []
    for place, item in enumerate(parts):
        if item is None:
            raise UnconvertibleMessage(
                f"messages[{index}].parts: parts[{place}] of a steering message is null: drop it."
            )
        body: JsonObject = item if is_object(item) else {}
        content.append(text(body) if body.get("type") == "text" else speaker.file(body))
    return content


def _types_of(parts: JsonArray, index: int) -> list[str]:
    """What each part calls itself. Raises `UnconvertibleMessage` for a part that does not."""
    try:
        kinds: list[Json] = [part["type"] for part in parts]
    except (TypeError, KeyError):
        kinds = [part.get("type", ABSENT) if is_object(part) else ABSENT for part in parts]
    if set(map(type, kinds)) <= _TEXTS:
        return kinds
    for place, kind in enumerate(kinds):
        if not isinstance(kind, str):
            said = f"messages[{index}].parts[{place}] names no type (its type is {kind_of(kind)})"
            raise UnconvertibleMessage(f"{said}: drop or mend it.")
    return kinds
