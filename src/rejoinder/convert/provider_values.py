"""Values as vendors want them told: files and what they hold inline, arguments, outputs, a vendor's own options."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from rejoinder.messages import Json, JsonObject
from rejoinder.messages.provider_message import ProviderContentPart, ProviderMessage, ProviderToolResultPart
from rejoinder.wire import json
from rejoinder.wire.json import is_object

_TEXTS: Final = ("application/json", "application/xml", "application/x-yaml", "application/yaml")
_PERCENT: Final = re.compile(rb"%([0-9a-fA-F]{2})")


class Inline(Struct, frozen=True):
    """What a `data:` URL holds."""

    media_type: str
    base64: str

    @property
    def text(self) -> str:
        """The data as text."""
        try:
            return base64.b64decode(self.base64).decode("utf-8", "replace")
        except binascii.Error:
            return ""


def inline_of(url: str | None) -> Inline | None:
    """What a URL holds inline, if it does."""
    if url is None or not url.startswith("data:"):
        return None
    head, _, data = url[5:].partition(",")
    media_type, *flags = head.split(";")
    if "base64" not in flags:
        plain = _PERCENT.sub(lambda sign: bytes([int(sign[1], 16)]), data.encode("utf-8", "surrogatepass"))
        data = base64.b64encode(plain).decode()
    return Inline(media_type or "text/plain", data)


def is_text(media_type: str) -> bool:
    """Whether a file of that type can be shown to a model as text."""
    return media_type.startswith("text/") or media_type in _TEXTS


def options_of(part: ProviderContentPart | ProviderMessage, provider: str) -> JsonObject:
    """What this vendor said of the part, and wants back."""
    options = (part.provider_options or {}).get(provider)
    return options if is_object(options) else {}


def object_text(arguments: Json) -> str:
    """The arguments of a call as the text of a JSON object, which is all that vendors take."""
    return json.encode(object_in(arguments)).decode()


def object_in(arguments: Json) -> JsonObject:
    """The arguments of a call as an object. What is none was no valid input, and was told as an error."""
    if is_object(arguments):
        return arguments
    return {} if arguments is None or arguments == "" else {"input": arguments}


def output_text(result: Json) -> str:
    """What a tool answered, as text."""
    return result if isinstance(result, str) else json.encode(result).decode()


def hosted_results(parts: Sequence[ProviderContentPart]) -> Mapping[str, ProviderToolResultPart]:
    """The results of calls that the vendor ran: they stand in the assistant's message, too."""
    return {part.call_id: part for part in parts if isinstance(part, ProviderToolResultPart)}
