"""What it means when a provider says that it failed: a code that stays, and words that a user may read.

Vendors name their errors in many ways; whoever runs a turn asks whether waiting helps, and the user wants to know
what to do. The vendor's own words go into the record, without anything in them that looks like a key.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from rejoinder.messages import Json, TurnError
from rejoinder.translate.fields import integer_of, said_of, text_of
from rejoinder.translate.notes import SAFE_ERROR_TEXT, Failed


class Failure(Struct, frozen=True):
    """A kind of failure: its code, for programs, and what the user is told."""

    code: str
    user_text: str = SAFE_ERROR_TEXT


BUSY: Final = Failure("provider-busy", "The model is busy right now. Please try again in a moment.")
CONTENT: Final = Failure("provider-content", "The model's provider declined to answer this.")
CREDENTIALS: Final = Failure("provider-credentials", "The model is not available right now.")
CUT_OFF: Final = Failure("provider-cut-off", "The answer broke off. Please try again.")
GARBLED: Final = Failure("provider-garbled", "The answer broke off. Please try again.")
OTHER: Final = Failure("provider-error")
QUOTA: Final = Failure("provider-quota", "The model is not available right now.")
REJECTED: Final = Failure("provider-rejected")
STALLED: Final = Failure("provider-stalled", "The model has stopped answering. Please try again.")
TOO_LONG: Final = Failure("provider-too-long", "This conversation has become too long for the model.")
UNAVAILABLE: Final = Failure(
    "provider-unavailable", "The model cannot be reached right now. Please try again."
)
UNKNOWN_MODEL: Final = Failure("provider-unknown-model", "The model is not available right now.")

_NAMED: Final[tuple[tuple[re.Pattern[str], Failure], ...]] = (
    (re.compile(r"insufficient.?(quota|credit|funds|balance)|billing|payment"), QUOTA),
    (re.compile(r"context.?(length|window)|too.?long|request_too_large|max.?tokens.?exceed"), TOO_LONG),
    (re.compile(r"rate.?limit|too.?many.?requests|overloaded|capacity|throttl"), BUSY),
    (re.compile(r"authentication|api.?key|unauthori[sz]ed|permission|forbidden"), CREDENTIALS),
    (re.compile(r"model.?not.?(found|exist)|unknown.?model|model.?unavailable"), UNKNOWN_MODEL),
    (re.compile(r"content.?(filter|policy|moderation)|policy|safety|moderation"), CONTENT),
    (
        re.compile(r"server.?error|internal|api_error|unavailable|time.?d?.?out|upstream|bad.?gateway"),
        UNAVAILABLE,
    ),
    (re.compile(r"invalid|bad.?request|not.?found|unsupported"), REJECTED),
)
"""How vendors call their errors, the most telling first."""

_BY_STATUS: Final = {
    400: REJECTED,
    401: CREDENTIALS,
    402: QUOTA,
    403: CREDENTIALS,
    404: UNKNOWN_MODEL,
    408: UNAVAILABLE,
    413: TOO_LONG,
    422: REJECTED,
    429: BUSY,
    529: BUSY,
}

_SECRET: Final = re.compile(
    r"\b(?:sk|pk|rk|ak|gsk|xai|key|pplx|hf|AIza)[-_][\w*.-]{6,}|\bAIza[\w-]{8,}|(?i:bearer)\s+[\w.~+/*-]{6,}=*"
)


def failure_of(*names: str, status: int | None = None) -> Failure:
    """What a failure is by its vendor's names for it (code, type), the most telling first, and its HTTP status."""
    for name in names:
        for pattern, failure in _NAMED:
            if name and pattern.search(name.lower()):
                return failure
    if status is None:
        return OTHER
    return _BY_STATUS.get(status, UNAVAILABLE if status >= 500 else OTHER)


def without_secrets(text: str) -> str:
    """The text without what looks like a key: some vendors repeat the one that they were given."""
    return _SECRET.sub("[key]", text)


def failed(error: Json, *, provider: str) -> Failed:
    """The ending for an error object that came in the stream: `{"code" or "type", "message"}`."""
    status = integer_of(error, "code") or integer_of(error, "status")
    failure = failure_of(text_of(error, "code"), text_of(error, "type"), status=status)
    words = text_of(error, "message") or (said_of(error) if error else "an error without a word")
    message = without_secrets(words)
    return Failed(
        error=TurnError(message=message, code=failure.code, provider=provider, raw=_plain(error)),
        error_text=failure.user_text,
    )


def cut_off(provider: str) -> Failed:
    """The ending of an answer whose provider never said that it was complete."""
    return Failed(
        error=TurnError(
            message=f"{provider} ended its stream before the end of the answer: what came is kept; ask again",
            code=CUT_OFF.code,
            provider=provider,
        ),
        error_text=CUT_OFF.user_text,
    )


def _plain(error: Json) -> Json:
    """The error as it came, as long as nothing in it looks like a key."""
    return error if without_secrets(said_of(error)) == said_of(error) else None
