"""Files that come from strangers: inline ones must be what they say, and addresses must be public.

Nothing is fetched here or anywhere in the server: an address is passed on to the provider, which may sit in the
same private network. So one that leads to such a network is refused, however it is written.
"""

from __future__ import annotations

import binascii
import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_network
from typing import Final

from rejoinder.convert.javascript import href
from rejoinder.convert.refusals import BlockedUrl, MessageTooLarge, UnacceptableFile
from rejoinder.errors import UnconvertibleMessage
from rejoinder.messages import File

FILE_BYTES_MAX: Final = 10 * 1_048_576
"""One inline file, decoded: what providers take inline."""

URL_CHARS_MAX: Final = 8_192
"""The longest address that servers and gateways let through."""

NAME_CHARS_MAX: Final = 255
"""The longest file name that file systems have."""

_DATA_URL: Final = re.compile(
    r"data:([a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+)((?:;[^;,]*)*?);base64,", re.IGNORECASE
)
_MEDIA_TYPE: Final = re.compile(r"[a-z0-9!#$&^_.+-]+/([a-z0-9!#$&^_.+-]+|\*)", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"(https?)://([^/?#]*)", re.IGNORECASE)
_ODD: Final = re.compile(r"[\x00-\x20\x7f\\]")

_SIGNATURES: Final = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/bmp": (b"BM",),
    "image/tiff": (b"II*\0", b"MM\0*"),
    "application/pdf": (b"%PDF-",),
}
"""How files of a type begin. A type that is not here is not looked into."""

_NEVER_IMAGES: Final = (b"<", b"PK\x03\x04", b"\x7fELF", b"MZ", b"%PDF-", b"#!")

_PRIVATE_NAMES: Final = (
    "localhost",
    "internal",
    "local",
    "localdomain",
    "home.arpa",
    "intranet",
    "lan",
    "corp",
)
"""Names that only mean something within some network, and everything below them."""

_PRIVATE_PLACES: Final = tuple(
    ip_network(text) for text in ("168.63.129.16/32", "192.88.99.0/24", "100.64.0.0/10", "0.0.0.0/8")
)
"""Places inside of clouds and networks that look public."""

_EMBEDDINGS: Final = (
    (ip_network("::/96"), 0),
    (ip_network("::ffff:0:0/96"), 0),
    (ip_network("::ffff:0:0:0/96"), 0),
    (ip_network("64:ff9b::/96"), 0),
    (ip_network("64:ff9b:1::/48"), 0),
    (ip_network("2002::/16"), 80),
)
"""IPv6 networks that hold IPv4 addresses, and how many bits stand behind those."""


def checked_file(file: File, where: str) -> File:
    """The file as it is kept: without what only the server says. Raises `UnacceptableFile` or `BlockedUrl`."""
    if _MEDIA_TYPE.fullmatch(file.media_type) is None:
        raise UnacceptableFile(f"{where}: 'mediaType' is no media type: send one such as image/png")
    name = file.filename
    if name is not None and (len(name) > NAME_CHARS_MAX or "\0" in name):
        raise UnacceptableFile(f"{where}: 'filename' has more than {NAME_CHARS_MAX} characters, or a NUL")
    if file.url[:5].lower() == "data:":
        _check_content(file, where)
    else:
        _check_address(file.url, where)
    return File(media_type=file.media_type, url=file.url, filename=name)


def _check_content(file: File, where: str) -> None:
    head = _DATA_URL.match(file.url)
    if head is None:
        raise UnacceptableFile(
            f"{where}: the data URL is not 'data:TYPE/SUBTYPE;base64,…': send it like that"
        )
    encoded = file.url[head.end() :]
    if len(encoded) > FILE_BYTES_MAX * 4 // 3 + 4:
        raise MessageTooLarge(
            f"{where}: the file has more than {FILE_BYTES_MAX} bytes: send its address instead"
        )
    try:
        content = binascii.a2b_base64(encoded, strict_mode=True)
    except (binascii.Error, ValueError):
        raise UnacceptableFile(f"{where}: what follows 'base64,' is not base64: mend the data URL") from None
    if len(content) > FILE_BYTES_MAX:
        raise MessageTooLarge(
            f"{where}: the file has more than {FILE_BYTES_MAX} bytes: send its address instead"
        )
    for kind in {head[1].lower(), file.media_type.lower()}:
        if not _fits(kind, content):
            raise UnacceptableFile(f"{where}: the content is not {kind}: say what it really is")


def _fits(kind: str, content: bytes) -> bool:
    beginnings = _SIGNATURES.get("image/jpeg" if kind == "image/jpg" else kind)
    if beginnings is not None:
        return content.startswith(beginnings)
    if kind == "image/webp":
        return content[:4] == b"RIFF" and content[8:12] == b"WEBP"
    if kind.startswith("image/") and not kind.startswith("image/svg"):
        return not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_NEVER_IMAGES)
    return True


def _check_address(url: str, where: str) -> None:
    if len(url) > URL_CHARS_MAX:
        raise UnacceptableFile(f"{where}: the URL has more than {URL_CHARS_MAX} characters")
    # Parsers repair these in different ways, so the address checked might not be the one that is asked.
    if _ODD.search(url) is not None:
        raise UnacceptableFile(
            f"{where}: the URL holds spaces, control characters or backslashes: encode them"
        )
    try:
        canonical = href(url)
    except UnconvertibleMessage:
        raise UnacceptableFile(f"{where}: the URL is none: send an absolute one (https: or data:)") from None
    found = _ADDRESS.match(canonical)
    if found is None:
        raise UnacceptableFile(f"{where}: the URL's scheme is not taken: send https:, http: or data:")
    place = found[2]
    if "@" in place:
        raise BlockedUrl(f"{where}: the URL holds credentials: leave them out")
    if is_private(re.sub(r":\d*$", "", place)):
        raise BlockedUrl(
            f"{where}: the URL leads into a private network: send a public one, or the file itself"
        )


def is_private(host: str) -> bool:
    """Whether a host, as a browser's URL parser writes it, is not on the public internet."""
    if host.startswith("["):
        try:
            return _is_private_6(IPv6Address(host.strip("[]")))
        except AddressValueError:
            return True
    name = host.rstrip(".").lower()
    try:
        return _is_private_4(IPv4Address(name))
    except AddressValueError:
        return "." not in name or any(name.endswith("." + end) for end in _PRIVATE_NAMES)


def _is_private_4(address: IPv4Address) -> bool:
    return (
        not address.is_global
        or address.is_multicast
        or address.is_reserved
        or any(address in network for network in _PRIVATE_PLACES)
    )


def _is_private_6(address: IPv6Address) -> bool:
    for network, behind in _EMBEDDINGS:
        if address in network:
            return _is_private_4(IPv4Address(int(address) >> behind & 0xFFFFFFFF)) or behind == 0
    if address.teredo is not None or not address.is_global or address.is_multicast or address.is_reserved:
        return True
    # ISATAP: the IPv4 address of a host stands at the end, behind these four bytes.
    tail = int(address) & 0xFFFFFFFF
    return int(address) >> 32 & 0xFDFFFFFF == 0x00005EFE and _is_private_4(IPv4Address(tail))
