"""A message of the user as it came from a stranger: what of it is kept, and what is refused.

Text, files and declared data parts are the user's to send. Everything else in a message (what a model said or
thought, results of tools, what providers noted) is the server's, whoever sends it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from msgspec import Struct, structs

from rejoinder.convert.accepted_files import checked_file
from rejoinder.convert.javascript import kind_of
from rejoinder.convert.refusals import MessageTooLarge, UnacceptableMessage
from rejoinder.convert.ui import part_from_ui
from rejoinder.messages import Data, File, Json, JsonObject, Message, Opaque, Part, Text
from rejoinder.wire.javascript import text_of
from rejoinder.wire.json import is_array, is_object
from rejoinder.wire.requests import checked_id

TEXT_BYTES_MAX: Final = 1_048_576
"""One text part: a novel. What is longer is a file."""

PARTS_MAX: Final = 256
"""Parts of one message: nobody pastes more."""

FILES_MAX: Final = 32
"""Files of one message: more than any provider takes."""

SERVER_METADATA: Final = frozenset(
    {
        "cost",
        "createdAt",
        "finishReason",
        "interrupted",
        "model",
        "modelId",
        "provider",
        "status",
        "stopped",
        "turnId",
        "usage",
    }
)
"""Keys of a message's metadata that say what the server did; a client's word on that is left out."""


class Declared(Struct, frozen=True, kw_only=True):
    """What an application lets its users send beyond text and files: names of data parts."""

    data_parts: Collection[str] = ()


NOTHING_DECLARED: Final = Declared()


def user_message(body: JsonObject, *, declared: Declared = NOTHING_DECLARED) -> Message:
    """The message that is kept. Raises `Refused`, or `InvalidRequest` for an id that is none."""
    role = body.get("role")
    if role != "user":
        raise UnacceptableMessage(
            f"the new message's role is {text_of(role)[:40]!r}: a client sends messages of the role 'user'"
        )
    if "id" not in body:
        raise UnacceptableMessage("the new message has no id: give it one, so that a retry is known as such")
    id = checked_id(body["id"], "id of the message")
    listed = body.get("parts")
    if not is_array(listed) or not listed:
        raise UnacceptableMessage(
            f"message {id!r}: 'parts' is {kind_of(listed) if not is_array(listed) else 'empty'}: "
            "send an array of text and file parts"
        )
    if len(listed) > PARTS_MAX:
        raise MessageTooLarge(f"message {id!r} has {len(listed)} parts: send {PARTS_MAX} at most")
    parts = tuple(_part(part, place, declared) for place, part in enumerate(listed))
    if sum(isinstance(part, File) for part in parts) > FILES_MAX:
        raise MessageTooLarge(
            f"message {id!r} has more than {FILES_MAX} files: send them in several messages"
        )
    message = Message(id=id, role="user", parts=parts)
    if "metadata" not in body:
        return message
    return structs.replace(message, metadata=_metadata(body["metadata"]))


def _part(body: Json, place: int, declared: Declared) -> Part:
    where = f"parts[{place}]"
    if not is_object(body):
        raise UnacceptableMessage(f"{where} is {kind_of(body)}: a part is an object with a type")
    match part_from_ui(body):
        case Text() as text:
            if len(text.text.encode("utf-8", "surrogatepass")) > TEXT_BYTES_MAX:
                raise MessageTooLarge(
                    f"{where} has more than {TEXT_BYTES_MAX} bytes of text: send it as a file"
                )
            return Text(text=text.text)
        case File() as file:
            return checked_file(file, where)
        case Data() as data if data.name in declared.data_parts:
            return structs.replace(data, extra=None)
        case Opaque(body=opaque) if opaque.get("type") in ("text", "file"):
            needed = "'text' as a string" if opaque["type"] == "text" else "'url' and 'mediaType' as strings"
            raise UnacceptableMessage(
                f"{where} is a {opaque['type']} part without what it needs: send {needed}"
            )
        case _:
            kind = text_of(body.get("type"))[:60]
            raise UnacceptableMessage(f"{where} is of the type {kind!r}: a client sends text and file parts")


def _metadata(value: Json) -> Json:
    if not is_object(value):
        return value
    return {key: item for key, item in value.items() if key not in SERVER_METADATA}
