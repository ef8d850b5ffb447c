"""Reading what a request brings: its body, its query and its ids, each within its bounds."""

from __future__ import annotations

import asyncio
import re
from typing import Final

from starlette.requests import ClientDisconnect, Request

from rejoinder.errors import InvalidRequest
from rejoinder.messages import Json, JsonObject
from rejoinder.server.problems import Problem
from rejoinder.wire.json import is_object
from rejoinder.wire.requests import checked_id
from rejoinder.wire.strict_json import decode_strict

BODY_BYTES_MAX: Final = 4 * 1_048_576
"""One request: a long history with a picture or two. Larger files are sent by their address."""

BODY_SECONDS_MAX: Final = 30.0
"""So long a body may take to arrive: a slow phone needs ten seconds for all of it."""

INLINE_BYTES_MAX: Final = 256 * 1024
"""A larger body is read in a thread, for it would hold up everybody else."""

QUERY_CHARS_MAX: Final = 4_096
"""No address of ours needs more."""

KEY_CHARS_MAX: Final = 255
"""The longest idempotency key, as the HTTP draft has it."""

_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_KEY: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


async def json_body(request: Request, *, bytes_max: int = BODY_BYTES_MAX) -> Json:
    """The decoded body. Raises `Problem` or `InvalidJson`."""
    _check_type(request)
    body = await _bytes(request, bytes_max)
    if len(body) > INLINE_BYTES_MAX:
        return await asyncio.to_thread(decode_strict, body)
    return decode_strict(body)


async def object_body(request: Request, *, bytes_max: int = BODY_BYTES_MAX) -> JsonObject:
    """The decoded body, which is an object."""
    value = await json_body(request, bytes_max=bytes_max)
    if not is_object(value):
        raise InvalidRequest("the body is no object: send one")
    return value


async def ignored_body(request: Request, *, bytes_max: int = BODY_BYTES_MAX) -> None:
    """See that nothing odd is sent where nothing needs to be."""
    if "content-type" in request.headers:
        _check_type(request)
    await _bytes(request, bytes_max)


def query(request: Request, *names: str) -> dict[str, str]:
    """The parameters of these names, each at most once. Others are not looked at."""
    if len(request.url.query) > QUERY_CHARS_MAX:
        raise InvalidRequest("the query is longer than any that we take")
    found: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in names:
            if name in found:
                raise InvalidRequest(f"the parameter {name!r} comes twice: send it once")
            found[name] = value
    return found


def number(value: str | None, name: str, *, low: int, high: int) -> int | None:
    """A whole number between bounds, written as numbers are."""
    if value is None:
        return None
    if _NUMBER.fullmatch(value) is None or not low <= int(value) <= high:
        raise InvalidRequest(f"{name!r} is no whole number from {low} to {high}")
    return int(value)


def path_id(request: Request, name: str) -> str:
    """An id out of the address."""
    return checked_id(request.path_params[name], f"{name} in the address")


def idempotency_key(request: Request) -> str | None:
    """The client's own key, if it sends one."""
    keys = request.headers.getlist("idempotency-key")
    if not keys:
        return None
    if len(keys) > 1:
        raise InvalidRequest("'Idempotency-Key' comes twice: send one")
    return checked_key(keys[0])


def checked_key(key: str) -> str:
    """A key that may be kept. Raises `InvalidRequest`."""
    if len(key) > KEY_CHARS_MAX or _KEY.fullmatch(key) is None:
        raise InvalidRequest(
            f"'Idempotency-Key' is none that we take: send one of 1 to {KEY_CHARS_MAX} visible characters"
        )
    return key


def _check_type(request: Request) -> None:
    encodings = [value.strip().lower() for value in request.headers.getlist("content-encoding")]
    if any(value not in ("", "identity") for value in encodings):
        raise Problem(415, "unsupported-media-type", "Compressed bodies are not taken: send it as it is.")
    types = request.headers.getlist("content-type")
    kind, _, parameters = (types[0] if types else "").partition(";")
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    if len(types) != 1 or kind.strip().lower() != "application/json" or charset not in ("", "utf-8", "utf8"):
        raise Problem(415, "unsupported-media-type", "Send the body as application/json in UTF-8.")


async def _bytes(request: Request, bytes_max: int) -> bytes:
    too_large = Problem(413, "body-too-large", f"The body has more than {bytes_max} bytes.")
    declared = request.headers.get("content-length", "0")
    if not (declared.isascii() and declared.isdigit()):
        raise InvalidRequest("'Content-Length' is no number")
    if len(declared) > 18 or int(declared) > bytes_max:
        raise too_large
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS_MAX):
            async for piece in request.stream():
                size += len(piece)
                if size > bytes_max:
                    raise too_large
                pieces.append(piece)
    except TimeoutError:
        raise Problem(408, "body-too-slow", "The body did not arrive in time.") from None
    except ClientDisconnect:
        raise InvalidRequest("the connection was closed before the body was complete") from None
    return b"".join(pieces)
