"""Files as vendors want them told: inline data, its type, and the text in it."""

from __future__ import annotations

import base64
import binascii
from typing import Final
from urllib.parse import unquote_to_bytes

from msgspec import Struct

_TEXTS: Final = ("application/json", "application/xml", "application/x-yaml", "application/yaml")


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
    encoded = data if "base64" in flags else base64.b64encode(unquote_to_bytes(data)).decode()
    return Inline(media_type or "text/plain", encoded)


def is_text(media_type: str) -> bool:
    """Whether a file of that type can be shown to a model as text."""
    return media_type.startswith("text/") or media_type in _TEXTS
