"""Messages with nothing odd about them → model messages: the short way, for nearly all of a long history.

A history is converted anew at every turn, and most of it is text, thoughts and calls that were answered. Of these
every version says the same, so one pass says them. Whatever is not plain (another kind of part, a missing field, an
approval) goes the long way in `model`, with its rules; both ways say the same, which the conformance tests hold.
"""

from __future__ import annotations

from typing import Final

from rejoinder.messages import Json, JsonObject
from rejoinder.wire.json import is_array

_FIELDS_OF_ANSWERED: Final = 5
"""A call with an output has type, toolCallId, state, input and output; of a plain one nobody says more."""


def plain_messages(message: Json) -> list[JsonObject] | None:
    """What a message says to a model; None if it is not plain."""
    try:
        role, parts = message["role"], message["parts"]
        if not is_array(parts):
            return None
        if role == "user":
            return [{"role": "user", "content": [_text(part) for part in parts]}]
        return _steps(parts) if role == "assistant" else None
    except (KeyError, TypeError, AttributeError, _NotPlain):
        return None


class _NotPlain(Exception):
    """This part has to go the long way."""


def _text(part: JsonObject) -> JsonObject:
    if part["type"] != "text":
        raise _NotPlain
    said: JsonObject = {"type": "text", "text": part["text"]}
    if part.get("providerMetadata") is not None:
        said["providerOptions"] = part["providerMetadata"]
    return said


def _steps(parts: list[JsonObject]) -> list[JsonObject]:
    # In one piece, because a call for each part was a third of the time that a history takes.
    said: list[JsonObject] = []
    content: list[JsonObject] = []
    answers: list[JsonObject] = []
    for part in parts:
        kind: str = part["type"]
        if kind == "text":
            content.append(
                _text(part) if "providerMetadata" in part else {"type": "text", "text": part["text"]}
            )
        elif kind == "step-start":
            _end(said, content, answers)
            content, answers = [], []
        elif kind.startswith("tool-"):
            if len(part) != _FIELDS_OF_ANSWERED or part["state"] != "output-available":
                raise _NotPlain
            name, call_id, output = kind[5:], part["toolCallId"], part["output"]
            content.append(
                {"type": "tool-call", "toolCallId": call_id, "toolName": name, "input": part["input"]}
            )
            answers.append(
                {
                    "type": "tool-result",
                    "toolCallId": call_id,
                    "toolName": name,
                    "output": {"type": "text" if isinstance(output, str) else "json", "value": output},
                }
            )
        elif kind == "reasoning" and "providerMetadata" not in part:
            content.append({"type": "reasoning", "text": part["text"]})
        else:
            raise _NotPlain
    _end(said, content, answers)
    return said


def _end(said: list[JsonObject], content: list[JsonObject], answers: list[JsonObject]) -> None:
    if content:
        said.append({"role": "assistant", "content": content})
    if answers:
        said.append({"role": "tool", "content": answers})
