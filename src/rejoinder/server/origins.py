"""Which pages of other origins may call us, and which answers they may read. None, until an application says so."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from rejoinder.agents.provider import InvalidSetting
from rejoinder.server.problems import Problem

_ORIGIN: Final = re.compile(r"(?!http://[^/]*:80$|https://[^/]*:443$)[a-z][a-z0-9+.-]*://[^/?#@\sA-Z]+")
"""What a browser sends in `Origin`: anything else would never be met, and nobody would see why."""

SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""On every answer that does not say otherwise itself."""

ALLOWED_HEADERS: Final = (
    "authorization, content-type, idempotency-key, last-event-id, x-api-key, x-rejoinder-dialect"
)
EXPOSED_HEADERS: Final = "x-rejoinder-turn, x-workflow-run-id, x-workflow-stream-tail-index, retry-after"
PREFLIGHT_SECONDS: Final = 600
"""So long a browser may remember the answer to a preflight."""


class Origins:
    """The origins that may call: exact ones, such as `https://app.example.com`.

    `hosts` are the names that this server goes by; without any, it goes by all. A page whose name somebody has pointed
    at us is of the same origin for its browser, so a server that asks nobody who he is must know its own name.
    """

    def __init__(
        self, allowed: Collection[str] = (), *, credentials: bool = False, hosts: Collection[str] = ()
    ) -> None:
        if "*" in allowed and credentials:
            raise InvalidSetting("every origin with credentials: name the origins that may send cookies")
        for origin in allowed:
            if origin != "*" and _ORIGIN.fullmatch(origin) is None:
                raise InvalidSetting(
                    f"{origin!r} is no origin as browsers write it: scheme, name in lower case, and a port that is "
                    "not the scheme's own, as in https://app.example.com"
                )
        self._allowed = frozenset(allowed)
        self._credentials = credentials
        self._hosts = frozenset(host.lower() for host in hosts)

    def check_host(self, connection: HTTPConnection) -> None:
        """See that it is us who is meant. Raises `Problem` 400 or 421."""
        named = connection.headers.getlist("host")
        if len(named) > 1:
            raise Problem(400, "invalid-request", "'Host' comes twice: send it once.")
        if self._hosts and (not named or _name(named[0]) not in self._hosts):
            raise Problem(421, "misdirected", "This server does not go by that name.")

    def headers(self, connection: HTTPConnection) -> dict[str, str]:
        """What lets a page read the answer. Nothing, for a page that may not."""
        origin = connection.headers.get("origin")
        if origin is None or not self._may(origin):
            return {"vary": "Origin"} if self._allowed else {}
        headers = {
            "access-control-allow-origin": origin,
            "access-control-expose-headers": EXPOSED_HEADERS,
            "cross-origin-resource-policy": "cross-origin",
            "vary": "Origin",
        }
        return headers | ({"access-control-allow-credentials": "true"} if self._credentials else {})

    def preflight(self, connection: HTTPConnection, methods: Collection[str]) -> dict[str, str] | None:
        """The answer to a browser that asks first; None if it is none, or not from a page that may call."""
        asks = "access-control-request-method" in connection.headers
        if not asks or not self._may(connection.headers.get("origin", "")):
            return None
        return self.headers(connection) | {
            "access-control-allow-methods": ", ".join(methods),
            "access-control-allow-headers": ALLOWED_HEADERS,
            "access-control-max-age": str(PREFLIGHT_SECONDS),
        }

    def check(self, connection: HTTPConnection) -> None:
        """Refuse what a page of another origin does in its visitor's name. Raises `Problem` 403.

        Only browsers send these headers, and pages cannot forge them; a request without them is no browser's.
        """
        origin = connection.headers.get("origin")
        site = connection.headers.get("sec-fetch-site")
        if origin is not None and self._may(origin):
            return
        if site in ("same-origin", "none") or (site is None and origin is None):
            return
        if site is None and origin is not None and self._is_own(origin, connection):
            return
        raise Problem(403, "cross-site", "Pages of this origin may not call this server.")

    def _may(self, origin: str) -> bool:
        return origin in self._allowed or ("*" in self._allowed and origin not in ("", "null"))

    def _is_own(self, origin: str, connection: HTTPConnection) -> bool:
        try:
            return urlsplit(origin).netloc.lower() == connection.headers.get("host", "").lower() != ""
        except ValueError:
            return False


def _name(host: str) -> str:
    """A host's name without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
