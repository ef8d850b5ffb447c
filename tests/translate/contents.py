"""What a message contains, as tables of tests say it: what each part holds, without ids of ours."""

from __future__ import annotations

from rejoinder.messages import Data, File, Message, Reasoning, SourceUrl, StepStart, Text, ToolCall

STEP = "step"


def contents(message: Message) -> list[object]:
    """The parts, one short tuple each. What a subagent said names the call that started it."""
    said: list[object] = []
    for part in message.parts:
        match part:
            case StepStart():
                said.append(STEP)
            case Text():
                said.append(("said", part.text, *_parent(part)))
            case Reasoning():
                said.append(("thought", part.text, *_parent(part)))
            case ToolCall():
                said.append(("called", part.name, part.input, *_outcome(part), *_parent(part)))
            case File():
                said.append(("file", part.media_type, part.url))
            case SourceUrl():
                said.append(("source", part.url, part.title))
            case Data():
                said.append((f"data-{part.name}", part.data))
            case _:
                said.append(part)
    return said


def _outcome(call: ToolCall) -> tuple[object, ...]:
    match call.state:
        case "output-available":
            return ("answered", call.output)
        case "output-error":
            return ("failed", call.error_text)
        case "output-denied":
            return ("denied", None if call.approval is None else call.approval.reason)
        case "approval-requested":
            return ("asked", None if call.approval is None else call.approval.id)
        case _:
            return (call.state,)


def _parent(part: Text | Reasoning | ToolCall) -> tuple[object, ...]:
    metadata = part.call_provider_metadata if isinstance(part, ToolCall) else part.provider_metadata
    parent = (metadata or {}).get("claude-code", {}).get("parentToolCallId")
    return () if parent is None else (("within", parent),)
