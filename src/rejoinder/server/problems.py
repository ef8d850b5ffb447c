"""Every answer that is a refusal: a status, a stable `type`, words that may be shown, and nothing from inside.

The table says which error means which status. What is not in it is our own fault: 500, told as such and logged.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from starlette.responses import Response

from rejoinder.chat.backend import ShuttingDown
from rejoinder.convert import refusals
from rejoinder.errors import InvalidJson, InvalidMessage, InvalidRequest, RejoinderError, UnknownDialect
from rejoinder.messages import JsonObject
from rejoinder.ports import journal
from rejoinder.ports.queue import QueueUnavailable
from rejoinder.wire import json

TYPE_PREFIX: Final = "urn:rejoinder:problem:"
"""What a program goes by is the name behind it: it stays the same for ever."""

RETRY_SECONDS: Final = 1
"""When to come back to a server that is about to end, or waits for its database."""

_log: Final = logging.getLogger(__name__)


class Problem(RejoinderError):
    """A request that a door refuses by itself. `status` is HTTP's, `kind` names the problem for programs."""

    code = "problem"

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        headers: Mapping[str, str] | None = None,
        extra: JsonObject | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.headers = dict(headers or {})
        self.extra = extra or {}


class Entry(Struct, frozen=True):
    """What an error means over HTTP."""

    status: int
    kind: str
    title: str


CATALOGUE: Final[Mapping[type[RejoinderError], Entry]] = {
    InvalidJson: Entry(400, "invalid-json", "The body is not JSON that we read."),
    InvalidRequest: Entry(400, "invalid-request", "The request is not what a chat client sends."),
    UnknownDialect: Entry(400, "unknown-dialect", "No such dialect."),
    InvalidMessage: Entry(422, "unacceptable-message", "The message is not one that a client may send."),
    refusals.UnacceptableMessage: Entry(
        422, "unacceptable-message", "The message is not one that a client may send."
    ),
    refusals.MessageTooLarge: Entry(413, "message-too-large", "The message is too large."),
    refusals.UnacceptableFile: Entry(422, "unacceptable-file", "The file is not one that we take."),
    refusals.BlockedUrl: Entry(422, "url-blocked", "The URL leads into a private network."),
    refusals.MessageIdReused: Entry(409, "message-id-reused", "The id is that of another message."),
    refusals.NothingToContinue: Entry(409, "nothing-to-continue", "Nothing waits for this answer."),
    refusals.CallNotOpen: Entry(409, "call-not-open", "The tool call waits for no answer."),
    refusals.ToolNotClient: Entry(409, "tool-not-client", "The tool is not the client's."),
    refusals.NoSuchApproval: Entry(404, "no-such-approval", "Nobody asked that question."),
    refusals.InvalidApproval: Entry(403, "approval-invalid", "The approval is for something else."),
    refusals.ApprovalDecided: Entry(409, "approval-decided", "The question was answered before."),
    journal.NoSuchConversation: Entry(404, "not-found", "There is no such thing here."),
    journal.NoSuchMessage: Entry(404, "not-found", "There is no such thing here."),
    journal.NoSuchTurn: Entry(404, "not-found", "There is no such thing here."),
    journal.AlreadyContinued: Entry(409, "call-not-open", "The answer has been gone on with meanwhile."),
    journal.AlreadyExists: Entry(409, "message-id-reused", "The id is that of something else."),
    journal.IdempotencyConflict: Entry(409, "message-id-reused", "The id came with other content before."),
    journal.StoreUnavailable: Entry(503, "store-unavailable", "The database cannot be reached."),
    journal.StoreMisconfigured: Entry(503, "store-unavailable", "The database cannot be used."),
    journal.TurnInProgress: Entry(409, "turn-in-progress", "An answer is being made in this conversation."),
    QueueUnavailable: Entry(503, "queue-unavailable", "No answer can be made now."),
    ShuttingDown: Entry(503, "shutting-down", "The server is about to restart."),
}
"""By class; a subclass that is not here is as its base."""

_UNEXPECTED: Final = Entry(500, "internal", "The server made a mistake.")

_DETAILED: Final = frozenset({400, 403, 404, 409, 413, 415, 422})
"""Statuses whose errors speak of the request alone. What a database says is not for a browser."""

_NAMELESS: Final = (journal.NoSuchConversation, journal.NoSuchMessage, journal.NoSuchTurn)
"""What is another's and what is not there must be answered alike, to the letter."""


def problem_response(error: Exception, *, correlation: str) -> Response:
    """The answer to an error. `correlation` finds it in the log."""
    if isinstance(error, Problem):
        return _response(error.status, error.kind, str(error), None, error.extra, error.headers)
    entry = _entry(error)
    if entry.status >= 500:
        _log.error("request %s failed", correlation, exc_info=error)
        extra: JsonObject = {"instance": correlation}
        headers = {"retry-after": str(RETRY_SECONDS)} if entry.status == 503 else {}
        return _response(entry.status, entry.kind, entry.title, None, extra, headers)
    detail = str(error) if entry.status in _DETAILED and not isinstance(error, _NAMELESS) else None
    extra = {}
    if isinstance(error, journal.TurnInProgress):
        turn = error.turn
        extra = {"turnId": turn.id, "stream": f"chat/{turn.conversation_id}/stream?turn={turn.id}"}
    return _response(entry.status, entry.kind, entry.title, detail, extra, {})


def told_of(error: Exception, *, correlation: str) -> str:
    """The same in one sentence, for where there is room for no more."""
    if isinstance(error, Problem):
        return str(error)
    entry = _entry(error)
    if entry.status >= 500:
        _log.error("request %s failed", correlation, exc_info=error)
    return entry.title


def not_found() -> Problem:
    """What is another's, and what is not there."""
    entry = CATALOGUE[journal.NoSuchConversation]
    return Problem(entry.status, entry.kind, entry.title)


def _entry(error: Exception) -> Entry:
    for kind in type(error).__mro__:
        entry = CATALOGUE.get(kind)
        if entry is not None:
            return entry
    return _UNEXPECTED


def _response(
    status: int, kind: str, title: str, detail: str | None, extra: JsonObject, headers: Mapping[str, str]
) -> Response:
    body: JsonObject = {"type": TYPE_PREFIX + kind, "title": title, "status": status}
    if detail is not None:
        body["detail"] = detail
    return Response(
        json.encode_harmless(body | extra), status, headers, media_type="application/problem+json"
    )
