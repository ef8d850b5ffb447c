"""What we keep: messages and their parts, conversations, turns, usage. Pure values, no behaviour of a vendor.

Identity and storage live elsewhere: two messages with the same content are equal.
"""

from rejoinder.messages.conversation import Conversation
from rejoinder.messages.json_values import ABSENT, Json, JsonObject, Maybe, is_absent
from rejoinder.messages.message import Message, MessageStatus, Role
from rejoinder.messages.parts import (
    Approval,
    Custom,
    Data,
    File,
    InputEncoding,
    Opaque,
    Part,
    Reasoning,
    ReasoningFile,
    SourceDocument,
    SourceUrl,
    Steering,
    StepStart,
    Text,
    ToolCall,
    ToolState,
)
from rejoinder.messages.turn import AgentContext, Turn, TurnError, TurnStatus
from rejoinder.messages.usage import Cost, ProviderCall, ProviderCallStatus, ProviderOperation, Usage

__all__ = [
    "ABSENT",
    "AgentContext",
    "Approval",
    "Conversation",
    "Cost",
    "Custom",
    "Data",
    "File",
    "InputEncoding",
    "Json",
    "JsonObject",
    "Maybe",
    "Message",
    "MessageStatus",
    "Opaque",
    "Part",
    "ProviderCall",
    "ProviderCallStatus",
    "ProviderOperation",
    "Reasoning",
    "ReasoningFile",
    "Role",
    "SourceDocument",
    "SourceUrl",
    "Steering",
    "StepStart",
    "Text",
    "ToolCall",
    "ToolState",
    "Turn",
    "TurnError",
    "TurnStatus",
    "Usage",
    "is_absent",
]
