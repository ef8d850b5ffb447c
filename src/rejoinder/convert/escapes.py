"""Text and JSON as PostgreSQL can hold them, and back: `load_text(store_text(t)) == t`, and so for JSON.

A text column holds neither NUL nor half a character; jsonb neither, and it remakes numbers: it forgets the sign of
-0.0, writes 1e22 out as a whole number and has no infinity. What would change is written as an escape that begins
with U+241B (the picture of an escape key, which hardly anybody types). Everything else is stored as it is, so that
it can be searched, indexed and read by anybody.

    ␛0   NUL                 ␛d83d       half a character, by its four hexadecimal digits
    ␛␛   U+241B itself       "␛#-0.0"    in JSON: a string that stands for this number
"""

from __future__ import annotations

import json as python_json
import re
from typing import Final

import msgspec

from rejoinder.errors import InvalidJson
from rejoinder.messages import ABSENT, Json, Maybe, is_absent
from rejoinder.wire import json

ESCAPE: Final = "\u241b"

_STRING: Final = r'"(?:[^"\\]*(?:\\.[^"\\]*)*)"'
_SUSPECT: Final = re.compile("[\u241b\ud800-\udfff]|" + r"\\u0000|[0-9][eE][+0-9]|-0\.0|Infinity|NaN")
"""JSON text without any of these is stored as it is."""

_STORED_TOKEN: Final = re.compile(
    _STRING + r"|(?P<number>-?[0-9]+(?:\.[0-9]+)?[eE]\+?[0-9]+|-0\.0(?![0-9])|-?Infinity|NaN)", re.DOTALL
)
"""A string (numbers in it are none), or a number that jsonb would remake."""

_LOADED_TOKEN: Final = re.compile(rf'"{ESCAPE}#(?P<number>[^"]*)"|' + _STRING, re.DOTALL)
_UNSTORABLE: Final = re.compile("[\x00\u241b\ud800-\udfff]")
_UNSTORABLE_IN_STRING: Final = re.compile(
    r"(?<!\\)(?P<backslashes>(?:\\\\)*)\\u0000" + "|[\u241b\ud800-\udfff]"
)
"""An escaped NUL, which an even number of backslashes may stand in front of; or a character as it is."""

_ESCAPED: Final = re.compile(f"{ESCAPE}({ESCAPE}|0|d[0-9a-f]{{3}})")


def store_text(text: str) -> str:
    """Write a text so that a text column can hold it."""
    if "\x00" not in text and ESCAPE not in text and not json.has_surrogate(text):
        return text
    return _UNSTORABLE.sub(lambda match: _escape(match[0]), text)


def load_text(stored: str) -> str:
    """Undo `store_text`."""
    if ESCAPE not in stored:
        return stored
    return _ESCAPED.sub(lambda match: _unescape(match[1], nul="\x00"), stored)


def store_json(value: Maybe) -> str | None:
    """Write a value as JSON text for a jsonb column. None, for SQL's NULL, is a value that is absent.

    JSON's null is the text `null`: read the column as text (`column::text`), most drivers make one None of both.
    """
    if is_absent(value):
        return None
    text = _json_text(value)
    return text if _SUSPECT.search(text) is None else _STORED_TOKEN.sub(_store_token, text)


def load_json(stored: str | bytes | None) -> Maybe:
    """Undo `store_json`, whatever jsonb did to spaces, order and digits in between."""
    if stored is None:
        return ABSENT
    text = stored if isinstance(stored, str) else stored.decode()
    if ESCAPE not in text:
        return json.decode(text)
    try:
        # Python's reader takes halves of characters, Infinity and NaN; only an escape can have said them.
        return python_json.loads(_LOADED_TOKEN.sub(_load_token, text))
    except ValueError as error:
        raise InvalidJson(f"stored JSON that was changed by hand: {error}") from None
    except RecursionError:
        raise InvalidJson("JSON nested too deep to read") from None


def _json_text(value: Json) -> str:
    try:
        try:
            text = msgspec.json.encode(value)
            # Infinity is written as null, so null is worth a second look.
            if b"null" not in text or _finite(value):
                return text.decode()
        except UnicodeEncodeError:
            pass
        # Python's writer keeps halves of characters as they are, and says Infinity.
        return python_json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise InvalidJson("a value nested too deep to store: make it flatter, or a string") from None


def _finite(value: Json) -> bool:
    try:
        python_json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _store_token(match: re.Match[str]) -> str:
    if match["number"] is not None:
        return f'"{ESCAPE}#{match["number"]}"'
    return _UNSTORABLE_IN_STRING.sub(_store_in_string, match[0])


def _store_in_string(match: re.Match[str]) -> str:
    backslashes = match["backslashes"]
    return _escape(match[0]) if backslashes is None else f"{backslashes}{ESCAPE}0"


def _load_token(match: re.Match[str]) -> str:
    if match["number"] is not None:
        return match["number"]
    return _ESCAPED.sub(lambda inner: _unescape(inner[1], nul="\\u0000"), match[0])


def _escape(character: str) -> str:
    if character == "\x00":
        return f"{ESCAPE}0"
    return ESCAPE * 2 if character == ESCAPE else f"{ESCAPE}{ord(character):x}"


def _unescape(escaped: str, *, nul: str) -> str:
    if escaped == "0":
        return nul
    return ESCAPE if escaped == ESCAPE else chr(int(escaped, 16))
