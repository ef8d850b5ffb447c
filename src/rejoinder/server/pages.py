"""The built web pages: chat, inspector and analytics, served from the package and from nowhere else.

Only the files that lie there are served, by their exact names: a path is looked up, never opened. What has its
digest in its name is kept by browsers for ever; everything else is asked for again, and mostly not sent again.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

FOLDER: Final = Path(__file__).parent / "pages"
"""What `npm run build` in web/ makes."""

PAGES: Final = ("", "inspect", "analytics")
"""One document, which looks at its address."""

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; "
    # Pictures of messages are in their addresses, or kept by this server: looking at one tells nobody else.
    "img-src 'self' data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    # Markdown is made of elements. Should anybody ever hand a string to the parser, the browser refuses.
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""No address outside this server is asked for anything, no script runs but ours, nobody frames us."""

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
"""On every page and file."""

IMMUTABLE: Final = "public, max-age=31536000, immutable"
"""For a year, the longest that caches promise: other bytes have another name."""

REVALIDATED: Final = "no-cache"
"""Kept, but asked about each time."""

_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
"""Not left to what the machine believes: a script of another type is not run."""


class _File(Struct, frozen=True):
    body: bytes
    packed: bytes | None
    media_type: str
    etag: str
    caching: str


def page_routes(prefix: str = "") -> list[BaseRoute]:
    """Routes for Starlette: the pages at `prefix` and below it. They find the API at `api` beside them."""
    root = prefix.rstrip("/")
    endpoints = [(name, _page) for name in PAGES] + [(name, _asset(name)) for name in _assets()]
    return [
        Route(f"{root}/{name}", endpoint, methods=["GET"], include_in_schema=False)
        for name, endpoint in endpoints
    ]


@cache
def _assets() -> tuple[str, ...]:
    found = (path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file())
    return tuple(sorted(name for name in found if name != "index.html"))


@cache
def _file(name: str) -> _File:
    path = FOLDER / name
    body = path.read_bytes()
    # Fonts are packed already. The time in the header is left out, so that every process packs alike.
    packed = None if path.suffix == ".woff2" else gzip.compress(body, mtime=0)
    return _File(
        body,
        packed,
        _TYPES.get(path.suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream",
        hashlib.sha256(body).hexdigest()[:32],
        IMMUTABLE if name.startswith("assets/") and path.suffix != ".md" else REVALIDATED,
    )


async def _page(request: Request) -> Response:
    return _answer(request, "index.html")


def _asset(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return _answer(request, name)

    return endpoint


def _answer(request: Request, name: str) -> Response:
    file = _file(name)
    packs = file.packed is not None and _takes_gzip(request.headers)
    etag = f'"{file.etag}-gzip"' if packs else f'"{file.etag}"'
    headers = {**HEADERS, "cache-control": file.caching, "etag": etag, "vary": "Accept-Encoding"}
    known = {each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")}
    if etag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    if file.packed is None or not packs:
        return Response(file.body, headers=headers, media_type=file.media_type)
    headers["content-encoding"] = "gzip"
    return Response(file.packed, headers=headers, media_type=file.media_type)


def _takes_gzip(headers: Headers) -> bool:
    """Whether gzip is among what the client takes, and not by a weight of nothing."""
    for each in ",".join(headers.getlist("accept-encoding")).lower().split(","):
        coding, _, weight = each.replace(" ", "").partition(";q=")
        if coding == "gzip":
            return weight not in ("0", "0.0", "0.00", "0.000")
    return False
