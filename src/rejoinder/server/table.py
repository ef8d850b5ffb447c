"""All doors, in the order in which the documents list them."""

from __future__ import annotations

from typing import Final

from rejoinder.messages import JsonObject
from rejoinder.ports.analytics import MEASURES
from rejoinder.server.analysing import BYS, Analysing
from rejoinder.server.answering import DIALECT_HEADER, Answering
from rejoinder.server.conversing import Conversing
from rejoinder.server.doors import Door, Handler, Parameter
from rejoinder.server.inspecting import Inspecting
from rejoinder.server.watching import Watching

_STREAM: Final = "text/event-stream"

ID_SCHEMA: Final[JsonObject] = {"type": "string", "pattern": "^[A-Za-z0-9._:~-]{1,128}$"}
_COUNT: Final[JsonObject] = {"type": "integer", "minimum": 1}
_PLACE: Final[JsonObject] = {"type": "integer", "minimum": 0}

_DIALECT: Final = Parameter(
    name=DIALECT_HEADER,
    place="header",
    schema={"type": "string", "examples": ["ai-sdk/5", "ai-sdk/6", "ai-sdk/7"]},
    description="What the client understands. The server's setting, if nobody says.",
)
_LIMIT: Final = Parameter(name="limit", schema=_COUNT, description="How many at most.")
_TURN: Final = Parameter(name="turn", schema=ID_SCHEMA, description="Which turn, live or over.")

_ANSWER: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "id": ID_SCHEMA | {"description": "The conversation's."},
        "trigger": {"enum": ["submit-message", "regenerate-message"]},
        "messageId": ID_SCHEMA,
        "messages": {"type": "array", "items": {"type": "object"}, "minItems": 1},
        "message": {"type": "object", "description": "The last message, in place of all."},
        "dialect": {"type": "string"},
    },
}
_CHANGE: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "title": {"type": ["string", "null"], "maxLength": 200},
        "metadata": {"type": ["object", "null"]},
        "branch": ID_SCHEMA
        | {"description": "A message: the branch that leads through it is shown from now on."},
    },
    "additionalProperties": False,
    "minProperties": 1,
}
_FORK: Final[JsonObject] = {
    "type": "object",
    "properties": {"at": ID_SCHEMA | {"description": "The last message to copy."}, "id": ID_SCHEMA},
}


def doors_of(
    answering: Answering,
    conversing: Conversing,
    inspecting: Inspecting,
    analysing: Analysing,
    watching: Watching,
) -> tuple[Door, ...]:
    """The doors of a chat."""
    return (
        *_answers(answering),
        *_conversations(conversing),
        *_inspection(inspecting),
        _numbers(analysing),
        *_service(watching),
    )


def _answers(answering: Answering) -> tuple[Door, ...]:
    return (
        Door(
            method="POST",
            path="/chat",
            handler=answering.answer,
            summary="Ask for an answer; it comes as an event stream.",
            body=_ANSWER,
            answers=((200, "The answer, chunk by chunk."),),
            media_type=_STREAM,
            parameters=(
                _DIALECT,
                Parameter(
                    name="Idempotency-Key",
                    place="header",
                    schema={"type": "string", "maxLength": 255},
                    description="Tells a retry from a new request. Message ids do, if there is none.",
                ),
            ),
        ),
        Door(
            method="GET",
            path="/chat/{id}/stream",
            handler=answering.resume,
            summary="Read the live answer from its start, or any answer from any place.",
            answers=(
                (200, "The answer, chunk by chunk."),
                (204, "Nothing is live."),
            ),
            media_type=_STREAM,
            parameters=(
                _DIALECT,
                _TURN,
                Parameter(
                    name="startIndex",
                    schema={"type": "integer"},
                    description="How many chunks the client has. A negative number counts from the end.",
                ),
                Parameter(
                    name="Last-Event-ID",
                    place="header",
                    schema={"type": "string"},
                    description="The id of the last event that came.",
                ),
            ),
        ),
        Door(
            method="POST",
            path="/chat/{id}/stop",
            handler=answering.stop,
            summary="Stop the live answer, wherever it is made.",
            answers=((200, "Whether there was one."),),
            parameters=(_TURN,),
        ),
    )


def _conversations(conversing: Conversing) -> tuple[Door, ...]:
    return (
        Door(
            method="GET",
            path="/chat/{id}",
            handler=conversing.read,
            summary="The newest messages, and whether an answer is being made.",
            parameters=(
                _LIMIT,
                Parameter(name="before", schema=_PLACE, description="The page before this seq."),
            ),
        ),
        Door(
            method="PATCH",
            path="/chat/{id}",
            handler=conversing.change,
            summary="Change the title or the metadata, or choose a branch.",
            body=_CHANGE,
        ),
        Door(
            method="DELETE",
            path="/chat/{id}",
            handler=conversing.delete,
            summary="Delete the conversation.",
            answers=((204, "It is gone."),),
        ),
        Door(
            method="DELETE",
            path="/chat/{id}/messages/{message}",
            handler=conversing.delete_message,
            summary="Delete a message and all that came after it.",
            answers=((204, "They are gone."),),
        ),
        Door(
            method="POST",
            path="/chat/{id}/fork",
            handler=conversing.fork,
            summary="Copy the conversation, or its beginning.",
            body=_FORK,
            answers=((201, "The copy."),),
        ),
        Door(
            method="GET",
            path="/conversations",
            handler=conversing.list,
            summary="Conversations, the newest first.",
            parameters=(
                _LIMIT,
                Parameter(
                    name="before", schema={"type": "string"}, description="As it came with the page before."
                ),
                Parameter(
                    name="search",
                    schema={"type": "string", "maxLength": 200},
                    description="Words of titles and texts.",
                ),
            ),
        ),
    )


def _inspection(inspecting: Inspecting) -> tuple[Door, ...]:
    before = Parameter(name="before", schema=ID_SCHEMA, description="The page before this turn.")
    start = Parameter(name="from", schema=_PLACE, description="From this seq on.")
    return (
        Door(
            method="GET",
            path="/chat/{id}/turns",
            handler=inspecting.turns,
            summary="The turns, the newest last.",
            parameters=(_LIMIT, before),
        ),
        Door(
            method="GET",
            path="/chat/{id}/turns/{turn}",
            handler=inspecting.turn,
            summary="One turn: its record, its provider calls, its messages.",
        ),
        Door(
            method="GET",
            path="/chat/{id}/turns/{turn}/frames",
            handler=inspecting.frames,
            summary="What clients were told, chunk by chunk.",
            parameters=(_LIMIT, start),
        ),
        Door(
            method="GET",
            path="/chat/{id}/turns/{turn}/events",
            handler=inspecting.events,
            summary="What the agent said, in its own words.",
            parameters=(_LIMIT, start),
        ),
        Door(
            method="GET",
            path="/chat/{id}/turns/{turn}/retold",
            handler=inspecting.retold,
            summary="What those words mean to the translator of today, beside what was told.",
        ),
    )


def _numbers(analysing: Analysing) -> Door:
    day: JsonObject = {"type": "string", "format": "date"}
    return Door(
        method="GET",
        path="/analytics/{measure}",
        handler=analysing.measure,
        summary=f"What the turns came to: {', '.join(MEASURES)}.",
        parameters=(
            Parameter(
                name="by", schema={"enum": list(BYS)}, description="What the rows are by; day if not said."
            ),
            Parameter(
                name="from", schema=day, description="The first day, in UTC. 29 days before the last one."
            ),
            Parameter(name="to", schema=day, description="The last day, in UTC. Today, if not said."),
        ),
    )


def _service(watching: Watching) -> tuple[Door, ...]:
    return (
        Door(
            method="GET",
            path="/healthz",
            handler=watching.healthz,
            summary="Does this process answer?",
            open_to_all=True,
        ),
        Door(
            method="GET",
            path="/readyz",
            handler=watching.readyz,
            summary="Does it take new turns, and does its store answer?",
            open_to_all=True,
        ),
        Door(
            method="GET",
            path="/openapi.json",
            handler=watching.openapi,
            summary="This table, as an OpenAPI document.",
            open_to_all=True,
        ),
    )


def metrics_door(handler: Handler) -> Door:
    """The door of the figures, where they are wanted. Whoever serves the public keeps it behind his proxy."""
    return Door(
        method="GET",
        path="/metrics",
        handler=handler,
        summary="Figures for Prometheus.",
        media_type="text/plain",
        open_to_all=True,
    )
