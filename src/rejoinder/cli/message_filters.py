"""The filters over messages: convert, validate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Final, NamedTuple, TypeAlias

import msgspec
import typer

from rejoinder.cli.chunk_filters import Batch, Sdk, generation_of
from rejoinder.cli.forms import WRITERS as DOCUMENTS
from rejoinder.cli.streams import (
    Problems,
    answer_batch,
    misuse,
    read_all,
    read_json_file,
    read_lines,
    write_line,
)
from rejoinder.convert.canonical import from_canonical, to_canonical
from rejoinder.convert.core_content import ConversationMessage, from_core, to_core
from rejoinder.convert.documents import FORMS, documents
from rejoinder.convert.javascript import stringified
from rejoinder.convert.model import ui_to_model_messages
from rejoinder.convert.rows import from_rows, to_rows
from rejoinder.convert.stored_rows import rows_from_json, rows_to_json
from rejoinder.convert.ui import from_ui, to_ui
from rejoinder.convert.validate import screen_ui_messages, validate_ui_messages
from rejoinder.convert.validate_tools import ToolSchemas
from rejoinder.errors import InvalidJson, InvalidMessage, RejoinderError
from rejoinder.messages import Data, Json, JsonObject, Message, is_absent
from rejoinder.wire import json
from rejoinder.wire.json import JsonArray, is_array, is_object

Messages: TypeAlias = list[Message]


def _from_core_json(values: JsonArray) -> Messages:
    try:
        return list(from_core(json.read_as(values, list[ConversationMessage])))
    except msgspec.ValidationError as error:
        raise InvalidMessage(f"no messages of the conversation core: {error}") from None


def _to_core_json(messages: Messages, thread: str) -> JsonArray:
    said: JsonArray = msgspec.to_builtins(
        [item for each in messages for item in to_core(each, conversation_id=thread)]
    )
    return said


READERS: Final[dict[str, Callable[[JsonArray], Messages]]] = {
    "ui": lambda values: [from_ui(value) for value in values],
    "canonical": lambda values: [from_canonical(value) for value in values],
    "rows": lambda values: [from_rows(rows_from_json(value)) for value in values],
    "core": _from_core_json,
}

WRITERS: Final[dict[str, Callable[[Messages, str], JsonArray]]] = {
    "ui": lambda messages, _: [to_ui(message) for message in messages],
    "canonical": lambda messages, thread: [to_canonical(message, thread_id=thread) for message in messages],
    "rows": lambda messages, _: [rows_to_json(to_rows(message)) for message in messages],
    "core": _to_core_json,
}

MODEL: Final = "model"

SOURCES: Final = (*READERS, *(form for form in FORMS if form not in READERS))
TARGETS: Final = (*WRITERS, *(form for form in DOCUMENTS if form not in WRITERS))

From = Annotated[str, typer.Option("--from", help=f"What comes in: {', '.join(SOURCES)}.")]
To = Annotated[str, typer.Option("--to", help=f"What goes out: {', '.join(TARGETS)}.")]
SchemaFile = Annotated[Path | None, typer.Option(help="A JSON file.")]


def convert(
    *,
    to: To = "ui",
    source: From = "ui",
    sdk: Sdk = "7",
    thread: Annotated[
        str, typer.Option(help="The threadId of canonical messages, the conversationId of core ones.")
    ] = "",
    ignore_incomplete_tool_calls: Annotated[
        bool, typer.Option("--ignore-incomplete-tool-calls", help="Leave calls out that have no outcome.")
    ] = False,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Answer calls that nobody answered, so that a provider takes the history."
        ),
    ] = False,
    data_as_text: Annotated[
        bool, typer.Option("--data-as-text", help="Show data parts to the model, as JSON text.")
    ] = False,
    batch: Batch = False,
) -> None:
    """Messages in one form in, in another form out.

    What comes in is a JSON array, an object that holds one, or JSON lines; an array or an object comes out as an array,
    lines come out as lines. A request to Anthropic comes out as an object, because its system prompt stands beside the
    messages.

    Examples: rejoinder convert --to model --sdk 6 < messages.json;
    rejoinder convert --from langchain --to ui < thread.json

    A batch line is an array of messages, its result {"messages": […]} or {"error": text}.
    """
    if to not in TARGETS or source not in SOURCES:
        misuse(f"convert knows --from {', '.join(SOURCES)} and --to {', '.join(TARGETS)}")
    to_model = partial(
        ui_to_model_messages,
        sdk=generation_of(sdk),
        ignore_incomplete_tool_calls=ignore_incomplete_tool_calls,
        convert_data_part=_data_as_text if data_as_text else None,
        repair=repair,
    )

    def converted(body: JsonObject) -> Json:
        values: JsonArray = body.get("messages", [])
        if to == MODEL and source == "ui":
            # Straight from the JSON if it is UI JSON: what is odd in it is odd to the SDK in its own way.
            return json.as_javascript(to_model(values))
        read = READERS[source](values) if source in READERS else list(FORMS[source].read(body))
        if to == MODEL:
            return json.as_javascript(to_model([to_ui(message) for message in read]))
        return WRITERS[to](read, thread) if to in WRITERS else _document(to, thread, read)

    if batch:
        answer_batch(_message_cases(), lambda case: _as_object(converted(_case(case, source))))
        return
    for body, is_whole in _bodies(source):
        _write_messages(converted(body), is_whole=is_whole)


def _bodies(source: str) -> Iterator[tuple[JsonObject, bool]]:
    """What came in, as objects that hold the messages, and whether each came whole (else one message a line)."""
    if source in READERS:
        values, is_whole = _read_messages()
        yield {"messages": values}, is_whole
        return
    for document in documents(_some(read_all()), FORMS[source]):
        yield document.body, not document.in_lines


def _document(to: str, thread: str, messages: Messages) -> Json:
    """The array of a form that is one, and of any other the object."""
    body = DOCUMENTS[to](thread, messages)
    arrays = [value for value in body.values() if is_array(value)]
    return body if to == "anthropic" else arrays[0]


def _as_object(value: Json) -> JsonObject:
    return value if is_object(value) else {"messages": value}


def _case(case: Json, source: str) -> JsonObject:
    if source in READERS or not is_object(case):
        return {FORMS[source].keys[0] if source not in READERS else "messages": _messages_of(case)}
    return case


def _some(text: bytes) -> bytes:
    if not text.strip():
        raise InvalidJson("no messages on standard input: send a JSON array, or one message a line")
    return text


def validate(
    *,
    sdk: Sdk = "7",
    tools: SchemaFile = None,
    data_schemas: SchemaFile = None,
    metadata_schema: SchemaFile = None,
    tolerant: Annotated[
        bool, typer.Option("--tolerant", help="Pass the messages that are right, and name the others.")
    ] = False,
    batch: Batch = False,
) -> None:
    """UIMessages in, the same as that SDK keeps them out; a line on standard error for what it would refuse.

    The files hold JSON schemas: {"TOOL": {"inputSchema": …, "outputSchema": …}}, {"NAME": …}, and one schema.

    Example: rejoinder validate --sdk 7 < messages.json

    A batch line is an array of messages, or {"messages": […], "tools": …, "dataSchemas": …, "metadataSchema": …};
    its result is {"messages": […]} or {"error": text}.
    """
    schemas = Schemas(
        tools=None if tools is None else _tool_schemas(read_json_file(tools)),
        data=None if data_schemas is None else _data_schemas(read_json_file(data_schemas)),
        metadata=None if metadata_schema is None else read_json_file(metadata_schema),
    )
    generation = generation_of(sdk)
    if batch:
        answer_batch(
            _message_cases(),
            lambda case: {"messages": json.as_javascript(_validated_case(case, generation, schemas))},
        )
        return
    problems = Problems()
    values, is_whole = _read_messages()
    if tolerant:
        screening = screen_ui_messages(
            values,
            sdk=generation,
            tools=schemas.tools,
            data_schemas=schemas.data,
            metadata_schema=schemas.metadata,
        )
        for problem in screening.problems:
            path = f".{problem.path}" if problem.path else ""
            problems.tell(f"messages[{problem.index}]{path}", problem.reason)
        kept = screening.messages
    else:
        kept = _validated(values, generation, schemas)
    _write_messages(json.as_javascript(kept), is_whole=is_whole)
    problems.exit()


class Schemas(NamedTuple):
    """The schemas that the application holds messages against."""

    tools: Mapping[str, ToolSchemas] | None
    data: Mapping[str, JsonObject] | None
    metadata: JsonObject | None


def _validated(values: Json, sdk: int, schemas: Schemas) -> list[JsonObject]:
    return validate_ui_messages(
        values, sdk=sdk, tools=schemas.tools, data_schemas=schemas.data, metadata_schema=schemas.metadata
    )


def _validated_case(case: Json, sdk: int, schemas: Schemas) -> list[JsonObject]:
    if not is_object(case):
        return _validated(case, sdk, schemas)
    tools, data, metadata = (case.get(name) for name in ("tools", "dataSchemas", "metadataSchema"))
    own = Schemas(
        tools=schemas.tools if tools is None else _tool_schemas(tools),
        data=schemas.data if data is None else _data_schemas(data),
        metadata=schemas.metadata if metadata is None else metadata,
    )
    return _validated(case.get("messages"), sdk, own)


def _tool_schemas(value: Json) -> dict[str, ToolSchemas]:
    if not is_object(value) or not all(is_object(tool) for tool in value.values()):
        raise InvalidMessage('tools are an object: {"NAME": {"inputSchema": …, "outputSchema": …}}')
    return {
        name: ToolSchemas(input=tool.get("inputSchema"), output=tool.get("outputSchema"))
        for name, tool in value.items()
    }


def _data_schemas(value: Json) -> JsonObject:
    if not is_object(value):
        raise InvalidMessage('data schemas are an object: {"NAME": …}')
    return value


def _data_as_text(part: Data) -> JsonObject:
    # Without data there is no text: so does `JSON.stringify(undefined)` say it.
    return {"type": "text"} if is_absent(part.data) else {"type": "text", "text": stringified(part.data)}


def _message_cases() -> Iterator[Json]:
    for _, text in read_lines():
        try:
            yield json.decode(text)
        except RejoinderError as error:
            yield error


def _messages_of(case: Json) -> JsonArray:
    values = case.get("messages") if is_object(case) else case
    if not is_array(values):
        raise InvalidMessage("messages come as an array")
    return values


def _read_messages() -> tuple[JsonArray, bool]:
    """What came in, and whether it came as one array, or in an object (else one message a line)."""
    text = _some(read_all())
    if text.lstrip()[:1] == b"[":
        return _messages_of(json.decode(text)), True
    if text.lstrip()[:1] == b"{" and b'"messages"' in text:
        with suppress(InvalidJson):
            whole = json.decode(text)
            if is_array(whole.get("messages")):
                return whole["messages"], True
    values: JsonArray = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                values.append(json.decode(line))
            except InvalidJson as error:
                raise InvalidJson(f"line {number}: {error}") from None
    return values, False


def _write_messages(values: Json, *, is_whole: bool) -> None:
    if is_whole or not is_array(values):
        write_line(json.encode(values))
        return
    for value in values:
        write_line(json.encode(value))
