"""`Message` → messages of the conversation-core specification for people who read them, and not for keeping.

`to_core` loses nothing and says so between the parts. Here a text is a text and a call a call: what came of it, and
what was thought, cited or attached, follows in `metadata` parts as the JSON of a `UIMessage` part.
"""

from __future__ import annotations

from msgspec import structs

from rejoinder.convert.core_content import (
    ConversationMessage,
    MessageContentPart,
    MetadataContentPart,
    to_core,
)
from rejoinder.convert.remainder import REMAINDER
from rejoinder.messages import Message
from rejoinder.wire.json import is_object


def to_plain_core(message: Message, *, conversation_id: str) -> tuple[ConversationMessage, ...]:
    """Write one message as one or more of theirs, with the ids that `to_core` gives them; empty ones are left out."""
    told = to_core(message, conversation_id=conversation_id)
    plain = [
        structs.replace(
            each, content=tuple(kept for part in each.content if (kept := _plain(part)) is not None)
        )
        for each in told
    ]
    return tuple(each for each in plain if each.content or each is plain[0])


def _plain(part: MessageContentPart) -> MessageContentPart | None:
    if not isinstance(part, MetadataContentPart) or not is_object(part.data):
        return part
    kept = part.data.get(REMAINDER)
    if not is_object(kept):
        return part
    whole = kept.get("whole")
    if not is_object(whole) or whole.get("type") == "step-start":
        return None
    return MetadataContentPart(data=whole)
