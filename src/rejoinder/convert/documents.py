"""Files of conversations, as other programs write them: whose conversation, and its messages in their own form.

A file is a JSON text, or one in each line: an array of messages; an object that holds such an array and perhaps an
`id`; or, a line each, the messages themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from rejoinder.convert.anthropic_history import from_anthropic
from rejoinder.convert.canonical import from_canonical
from rejoinder.convert.javascript import kind_of
from rejoinder.convert.langchain_history import from_langchain
from rejoinder.convert.model_history import from_model
from rejoinder.convert.openai_chat import from_openai_chat
from rejoinder.convert.openai_responses import transcript_of
from rejoinder.convert.pydantic_ai_history import from_pydantic_ai
from rejoinder.convert.results import join_results
from rejoinder.convert.ui import from_ui
from rejoinder.convert.ui_4 import from_ui_4
from rejoinder.errors import InvalidJson, InvalidMessage
from rejoinder.messages import Json, JsonObject, Message
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

_IDS: Final = ("id", "session_id", "thread_id", "conversation_id")
"""What objects call the conversation that they hold."""

Reader: TypeAlias = Callable[[JsonObject], Sequence[Message]]
"""Makes messages of ours of a document: an object with an array of messages."""


class Form(NamedTuple):
    """A form of documents: under which keys the array may stand, the usual one first, and who reads it."""

    keys: tuple[str, ...]
    read: Reader


class Document(NamedTuple):
    """One conversation of a file: where it is, for people, what it is called there, and its object.

    `in_lines` says that each of its messages came as a line.
    """

    where: str
    id: str | None
    title: str | None
    body: JsonObject
    in_lines: bool = False


def documents(text: bytes, form: Form) -> Iterator[Document]:
    """The conversations of a file. Raises `InvalidJson` or `InvalidMessage`, naming the line."""
    text = text.removeprefix(b"\xef\xbb\xbf")
    if not text.strip():
        raise InvalidMessage("there is nothing in it: a JSON array of messages is needed")
    try:
        whole = json.decode(text)
    except InvalidJson as error:
        if len(text.splitlines()) < 2:
            raise
        yield from _lines(text, form, error)
        return
    if is_object(whole) and _key(whole, form) is None and _is_message(whole):
        yield _document("the file", [whole], form)._replace(in_lines=True)
        return
    yield _document("the file", whole, form)


def items_of(body: JsonObject, form: Form) -> Sequence[Json]:
    """The array of messages in a document."""
    key = _key(body, form)
    return [] if key is None else body[key]


def _lines(text: bytes, form: Form, error: InvalidJson) -> Iterator[Document]:
    values: list[tuple[int, Json]] = []
    for number, line in enumerate(text.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            values.append((number, json.decode(line)))
        except InvalidJson as broken:
            # A text over several lines that is broken is no file of lines: its own error says more.
            raise (InvalidJson(f"line {number}: {broken}") if values else error) from None
    if all(is_object(value) and _key(value, form) is None for _, value in values):
        yield _document("the file", [value for _, value in values], form)._replace(in_lines=True)
        return
    for number, value in values:
        yield _document(f"line {number}", value, form)


def _document(where: str, value: Json, form: Form) -> Document:
    if is_array(value):
        return Document(where, _thread_of(value), None, {form.keys[0]: value})
    if is_object(value) and _key(value, form) is None and is_object(value.get("values")):
        # So LangGraph's servers say what a thread holds.
        value = {**value, **value["values"]}
    if not is_object(value) or _key(value, form) is None:
        wanted = " or ".join(form.keys)
        found = "this object has none" if is_object(value) else f"this is {kind_of(value)}"
        raise InvalidMessage(f"{where}: an array of messages, or an object with one in {wanted}: {found}")
    title = value.get("title")
    ids = [id for key in _IDS if isinstance(id := value.get(key), str) and id]
    return Document(
        where,
        ids[0] if ids else _thread_of(items_of(value, form)),
        title if isinstance(title, str) else None,
        value,
    )


def _thread_of(items: Sequence[Json]) -> str | None:
    """What canonical messages call their conversation, if they all name one."""
    threads = {item.get("threadId") if is_object(item) else None for item in items}
    named = [thread for thread in threads if isinstance(thread, str) and thread]
    return named[0] if len(threads) == 1 and named else None


def _key(body: JsonObject, form: Form) -> str | None:
    if form.keys[0] != "messages" and ("type" in body or "role" in body):
        return None  # An item of a history: what it holds under such a name is its own.
    return next((key for key in form.keys if is_array(body.get(key))), None)


def _is_message(body: JsonObject) -> bool:
    return "role" in body or "kind" in body or "type" in body


def _each(read: Callable[[Json, str], Message]) -> Reader:
    """A form whose messages are read one by one. One without an id is called after its place."""

    def messages(body: JsonObject) -> Sequence[Message]:
        found: list[Message] = []
        for number, item in enumerate(body["messages"], 1):
            try:
                found.append(read(item, f"message-{number}"))
            except InvalidMessage as error:
                raise InvalidMessage(f"messages[{number - 1}]: {error}") from None
        return join_results(found)

    return messages


def _all(read: Callable[[Sequence[Json]], Sequence[Message]]) -> Form:
    """A form whose messages are read together."""

    def messages(body: JsonObject) -> Sequence[Message]:
        return read(body["messages"])

    return Form(("messages",), messages)


_LANGCHAIN: Final = _all(from_langchain)
_ITEMS: Final = ("input", "items", "data", "output")


FORMS: Final[Mapping[str, Form]] = {
    "ui": Form(("messages",), _each(lambda item, place: from_ui(item, missing_id=place))),
    "ui-4": Form(("messages",), _each(lambda item, place: from_ui_4(item, missing_id=place))),
    "canonical": Form(("messages",), _each(lambda item, _: from_canonical(item))),
    "anthropic": Form(("messages",), from_anthropic),
    "openai-chat": _all(from_openai_chat),
    "openai-responses": Form(_ITEMS, transcript_of),
    "openai-agents": Form(("items", "input", "data", "output"), transcript_of),
    "pydantic-ai": _all(from_pydantic_ai),
    "langchain": _LANGCHAIN,
    "langgraph": _LANGCHAIN,
    "model": _all(from_model),
}
"""Every form of documents that is read, by its name."""
