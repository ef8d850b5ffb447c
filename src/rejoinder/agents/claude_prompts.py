"""What Claude Code is told: the user's message in Claude's words, and what to say when it cannot go on as it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rejoinder.convert.provider_values import inline_of, is_text
from rejoinder.messages import File, Json, JsonObject, Message, Text, ToolCall
from rejoinder.translate.fields import objects_of, text_of
from rejoinder.wire import json
from rejoinder.wire.json import is_object

DENIED: Final = "The user does not allow this."
"""What the program is told of a call that the user did not allow, and gave no reason for."""

QUESTIONS: Final = "AskUserQuestion"
"""The tool with which the model asks the user something: the program asks whether it may, and takes the answer."""

RETOLD_CHARS_MAX: Final = 100_000
"""So much of a conversation is told again to a program that does not have it any more: the newest of it."""


def prompt_of(message: Message | None) -> list[JsonObject]:
    """The user's message as blocks of content."""
    parts = message.parts if message is not None else ()
    blocks = [block for part in parts if (block := _block(part)) is not None]
    return blocks or [{"type": "text", "text": "(empty message)"}]


def decision_of(call: ToolCall, *, input: Json) -> JsonObject:
    """The user's answer to the question whether this call may run."""
    approval = call.approval
    if approval is not None and approval.approved:
        return {"behavior": "allow", "updatedInput": _answered(call.name, input, approval.reason)}
    return {"behavior": "deny", "message": (approval.reason if approval else None) or DENIED}


def refused(calls: Iterable[ToolCall]) -> dict[str, str]:
    """The calls that the user does not allow, and why."""
    return {
        call.call_id: call.approval.reason or DENIED
        for call in calls
        if call.approval is not None and not call.approval.approved
    }


def decisions_retold(calls: Iterable[ToolCall]) -> list[JsonObject]:
    """The user's answers for a program that is not the one that asked."""
    said = [_retold(call) for call in calls]
    text = "Your session was interrupted while you waited for permission. Meanwhile the user has decided:\n"
    return [{"type": "text", "text": text + "\n".join(said)}]


def conversation_retold(history: Sequence[Message]) -> list[JsonObject]:
    """The conversation for a program that has lost its session, with the newest message at the end."""
    if not history:
        return prompt_of(None)
    *before, newest = history
    said = "\n\n".join(f"{message.role}: {words}" for message in before if (words := _words(message)))
    if not said:
        return prompt_of(newest)
    told = (
        f"This is our conversation so far:\n\n{said[-RETOLD_CHARS_MAX:]}\n\nNow go on with my next message."
    )
    return [{"type": "text", "text": told}, *prompt_of(newest)]


def _answered(tool: str, input: Json, reason: str | None) -> Json:
    """The input with what the user answers to a question of the model: the reason that comes with the approval."""
    if tool != QUESTIONS or not is_object(input):
        return input
    asked = [text_of(question, "question") for question in objects_of(input, "questions")]
    return {**input, "answers": dict.fromkeys(asked, reason or "")}


def _retold(call: ToolCall) -> str:
    approval = call.approval
    named = f"your call of {call.name} with the input {json.encode(call.input).decode()}"
    if approval is not None and approval.approved:
        return f"- {named} is allowed. It has not run: make this very call again."
    reason = (approval.reason if approval else None) or DENIED
    return f"- {named} is not allowed: {reason} Do not make it again."


def _words(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text) and part.text)


def _block(part: object) -> JsonObject | None:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text} if text.strip() else None
        case File():
            return _file(part)
        case _:
            return None  # a user says and shows; nothing else of theirs is for the model


def _file(part: File) -> JsonObject:
    inline = inline_of(part.url)
    if inline is None:
        if part.media_type.startswith("image/"):
            return {"type": "image", "source": {"type": "url", "url": part.url}}
        return {"type": "text", "text": f"[File {part.filename or ''} ({part.media_type}): {part.url}]"}
    data = {"type": "base64", "media_type": part.media_type, "data": inline.base64}
    if part.media_type.startswith("image/"):
        return {"type": "image", "source": data}
    named: JsonObject = {} if part.filename is None else {"title": part.filename}
    if part.media_type == "application/pdf":
        return {"type": "document", "source": data, **named}
    if is_text(part.media_type):
        plain = {"type": "text", "media_type": "text/plain", "data": inline.text}
        return {"type": "document", "source": plain, **named}
    return {
        "type": "text",
        "text": f"[File {part.filename or ''} of type {part.media_type}: cannot be shown]",
    }
