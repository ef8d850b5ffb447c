"""Who asks: the hook that an application gives, and two that are enough for most.

A hook gets the request and gives a `Principal`, or None for somebody unknown (401). It may raise `Forbidden` for
somebody who is known and may not. What a client says about itself elsewhere (a tenant in a header or a body) is
never looked at.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from starlette.requests import HTTPConnection

from rejoinder.chat.wishes import Principal
from rejoinder.server.problems import Problem

Authenticate: TypeAlias = Callable[[HTTPConnection], Principal | Awaitable[Principal | None] | None]
"""Says who makes a request, a WebSocket's handshake included."""

CREDENTIAL_BYTES_MAX: Final = 8 * 1024 - 1
"""Longer ones are not looked at: the largest tokens have some 4 KiB."""


RECHECK_SECONDS: Final = 30.0
"""So long somebody may read on who may not come in any more."""

_log: Final = logging.getLogger(__name__)


class Forbidden(Problem):
    """The hook knows who asks, and that he may not."""

    code = "forbidden"

    def __init__(self, message: str = "You may not do this.") -> None:
        super().__init__(403, "forbidden", message)


def unauthorized() -> Problem:
    """The answer to somebody unknown, whatever he tried."""
    return Problem(
        401,
        "unauthorized",
        "Say who you are.",
        headers={"www-authenticate": 'Bearer realm="rejoinder"'},
    )


async def principal_of(connection: HTTPConnection, authenticate: Authenticate | None) -> Principal:
    """Who asks. Raises `Problem` 401, 403 or 431."""
    for name in ("authorization", "x-api-key", "cookie"):
        if any(len(value) > CREDENTIAL_BYTES_MAX for value in connection.headers.getlist(name)):
            raise Problem(431, "credential-too-large", "The credential is larger than any that we take.")
    if authenticate is None:
        return Principal()
    found = authenticate(connection)
    principal = await found if inspect.isawaitable(found) else found
    if principal is None:
        raise unauthorized()
    return principal


async def until_unknown(
    connection: HTTPConnection, principal: Principal, authenticate: Authenticate, seconds: float
) -> None:
    """Ask the hook every so many seconds, and come back once it would not let the same one in any more."""
    while True:
        await asyncio.sleep(seconds)
        try:
            if await principal_of(connection, authenticate) != principal:
                return
        except Problem:
            return
        except Exception:  # noqa: BLE001  # its database may be away: that says nothing about anybody
            _log.exception("cannot ask who reads: whoever reads goes on")


def api_keys(keys: Mapping[str, Principal]) -> Authenticate:
    """Principals by their keys, which come as `Authorization: Bearer KEY` or as `X-Api-Key: KEY`.

    Two credentials of different principals are refused (400): nobody could say which of them counts.
    """
    # Digests are compared, so that a comparison takes as long for a key that is nearly right.
    known = {hashlib.sha256(key.encode()).digest(): principal for key, principal in keys.items()}

    def authenticate(connection: HTTPConnection) -> Principal | None:
        given = credentials(connection)
        if not given:
            return None
        found = [_found(known, hashlib.sha256(each.encode("utf-8", "replace")).digest()) for each in given]
        if any(each != found[0] for each in found):
            raise Problem(400, "ambiguous-credentials", "Two credentials disagree: send one.")
        return found[0]

    return authenticate


def credentials(connection: HTTPConnection) -> list[str]:
    """The bearer tokens and keys that came with a request. One that is malformed counts as an empty one."""
    given = [_bearer(value) for value in connection.headers.getlist("authorization")]
    return given + connection.headers.getlist("x-api-key")


def _bearer(value: str) -> str:
    scheme, _, token = value.partition(" ")
    return token if scheme.lower() == "bearer" and token and not token.startswith(" ") else ""


def _found(known: Mapping[bytes, Principal], digest: bytes) -> Principal | None:
    found = None
    for each, principal in known.items():
        if hmac.compare_digest(each, digest):
            found = principal
    return found
