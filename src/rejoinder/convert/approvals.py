"""What a user is asked before a tool runs: the question's id, and its signature as version 7 of the AI SDK makes it.

A signature ties an answer to one call with one input, so that neither a client nor whoever can write to the store
makes a call run that nobody was asked about.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Final

from rejoinder.convert.javascript import stringified
from rejoinder.messages import Json, ToolCall
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

ID_CHARS: Final = 24
"""So much of a digest names a question."""

_FORM: Final = "ai-sdk-tool-approval-v1"


def approval_id(turn_id: str, call_id: str) -> str:
    """The id of the question about a call. Asked again after a crash, it is the same question."""
    return hashlib.sha256(json.encode([turn_id, call_id])).hexdigest()[:ID_CHARS]


def sign(call: ToolCall, approval_id: str, secret: str) -> str:
    """The signature of the question whether this call may run."""
    fields = [_FORM, approval_id, call.call_id, call.name, _digest(call.input)]
    return _code(secret, stringified(fields))


def verified(call: ToolCall, secret: str) -> bool:
    """Whether the question in a call has the signature that this secret gives it; version 6's form counts, too."""
    approval = call.approval
    if approval is None or approval.signature is None:
        return False
    given = approval.signature.encode("utf-8", "surrogatepass")
    if hmac.compare_digest(sign(call, approval.id, secret).encode(), given):
        return True
    fields = [approval.id, call.call_id, call.name]
    if any("\n" in field for field in fields):
        return False  # the older form cannot tell where one field ends
    return hmac.compare_digest(_code(secret, "\n".join([*fields, _digest(call.input)])).encode(), given)


def canonical(value: Json) -> str:
    """The one way to write a JSON value: keys sorted by their UTF-16 code units, numbers as JavaScript writes them."""
    if is_object(value):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        return f"{{{','.join(f'{stringified(key)}:{canonical(value[key])}' for key in keys)}}}"
    if is_array(value):
        return f"[{','.join(map(canonical, value))}]"
    return stringified(value)


def _digest(input: Json) -> str:
    return _text(hashlib.sha256(_bytes(canonical(input))).digest())


def _code(secret: str, message: str) -> str:
    return _text(hmac.new(_bytes(secret), _bytes(message), hashlib.sha256).digest())


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
