"""Every error that Rejoinder raises on purpose: one class per thing a caller can do about it.

The message says what, where and the way out. The `code` is stable: it is what programs and
`docs/errors.md` go by, while the wording may improve.
"""

from __future__ import annotations

from typing import ClassVar


class RejoinderError(Exception):
    """The root: catch this to catch everything that we raise on purpose."""

    code: ClassVar[str] = "error"


class InvalidJson(RejoinderError):
    """The bytes are not JSON (RFC 8259), or more deeply nested than we read. Send valid JSON."""

    code = "invalid-json"


class InvalidChunk(RejoinderError):
    """The JSON is not a chunk: a missing, null or wrongly typed field. Mend the sender."""

    code = "invalid-chunk"


class IllegalChunk(RejoinderError):
    """A well-formed chunk that may not come now. Nothing was changed by it.

    Carries the coordinates that the AI SDK's own `UIMessageStreamError` carries.
    """

    code = "illegal-chunk"

    def __init__(self, message: str, *, chunk_type: str, chunk_id: str | None = None) -> None:
        super().__init__(message)
        self.chunk_type = chunk_type
        self.chunk_id = chunk_id


class InvalidMessage(RejoinderError):
    """The JSON is not a message, or breaks a schema that it was to be validated against."""

    code = "invalid-message"


class UnconvertibleMessage(RejoinderError):
    """The message is sound, but the target has no way to say it (an unknown role, a bad URL)."""

    code = "unconvertible-message"


class UnknownDialect(RejoinderError):
    """A client generation or release that we do not know. Name one that the message lists."""

    code = "unknown-dialect"


class InvalidRequest(RejoinderError):
    """The request body or frame is not what a chat client sends. The message names the field."""

    code = "invalid-request"
