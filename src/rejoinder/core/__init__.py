"""The conversation core under the names of its specification: what the engine, the stores and the history are here.

They are the classes themselves and no copies of them; `docs/specs.md` says for each name where it lives.
"""

from rejoinder.convert.core_content import (
    ConversationMessage,
    MessageContentPart,
    MetadataContentPart,
    TextContentPart,
    ToolCallContentPart,
    ToolResultContentPart,
)
from rejoinder.core.options import (
    ConversationId,
    ListConversationsOptions,
    ListMessagesOptions,
    MessageId,
    ProviderCallId,
    TurnId,
)
from rejoinder.engine.conversation_turns import (
    ConversationTurn,
    ProviderCallRecord,
    StreamingTurn,
    StreamingTurnCompleted,
    StreamingTurnDelta,
    StreamingTurnEvent,
    StreamingTurnToolCall,
    TurnInput,
    TurnOutput,
    aggregate,
)
from rejoinder.engine.conversing import (
    ConversationEngine,
    DefaultConversationEngine,
    DefaultConversationEngineOptions,
    ForeignMessage,
    TurnFailed,
)
from rejoinder.engine.histories import (
    BudgetedHistoryBuilder,
    RecentNTurnsHistoryBuilder,
    RecentNTurnsHistoryBuilderOptions,
)
from rejoinder.engine.spending import Spent
from rejoinder.history.budget import HistoryBudget, HistoryOverBudget
from rejoinder.history.tokens import CalibratedCounter, TextTokenCounter, TokenCounter
from rejoinder.messages import AgentContext, Conversation, TurnStatus
from rejoinder.messages import Role as MessageRole
from rejoinder.messages import Role as ProviderRole
from rejoinder.messages import Usage as TokenUsage
from rejoinder.messages.provider_message import ProviderContentPart, ProviderMessage, ProviderTextPart
from rejoinder.ports.history import HistoryBuilder, HistoryBuildRequest, HistoryBuildResult
from rejoinder.ports.journal import NoSuchConversation, TurnInProgress
from rejoinder.ports.providers import (
    Extensions,
    ProviderAdapter,
    ProviderCallMetadata,
    ProviderCallParams,
    ProviderCallResult,
    ProviderDelta,
    ProviderDone,
    ProviderStream,
    ProviderStreamEvent,
    ProviderToolCall,
    ProviderToolCallEvent,
    ProviderToolDefinition,
    StreamingProviderAdapter,
)
from rejoinder.ports.store import ConversationStore
from rejoinder.stores.memory import InMemoryConversationStore

__all__ = [
    "AgentContext",
    "BudgetedHistoryBuilder",
    "CalibratedCounter",
    "Conversation",
    "ConversationEngine",
    "ConversationId",
    "ConversationMessage",
    "ConversationStore",
    "ConversationTurn",
    "DefaultConversationEngine",
    "DefaultConversationEngineOptions",
    "Extensions",
    "ForeignMessage",
    "HistoryBudget",
    "HistoryBuildRequest",
    "HistoryBuildResult",
    "HistoryBuilder",
    "HistoryOverBudget",
    "InMemoryConversationStore",
    "ListConversationsOptions",
    "ListMessagesOptions",
    "MessageContentPart",
    "MessageId",
    "MessageRole",
    "MetadataContentPart",
    "NoSuchConversation",
    "ProviderAdapter",
    "ProviderCallId",
    "ProviderCallMetadata",
    "ProviderCallParams",
    "ProviderCallRecord",
    "ProviderCallResult",
    "ProviderContentPart",
    "ProviderDelta",
    "ProviderDone",
    "ProviderMessage",
    "ProviderRole",
    "ProviderStream",
    "ProviderStreamEvent",
    "ProviderTextPart",
    "ProviderToolCall",
    "ProviderToolCallEvent",
    "ProviderToolDefinition",
    "RecentNTurnsHistoryBuilder",
    "RecentNTurnsHistoryBuilderOptions",
    "Spent",
    "StreamingProviderAdapter",
    "StreamingTurn",
    "StreamingTurnCompleted",
    "StreamingTurnDelta",
    "StreamingTurnEvent",
    "StreamingTurnToolCall",
    "TextContentPart",
    "TextTokenCounter",
    "TokenCounter",
    "TokenUsage",
    "ToolCallContentPart",
    "ToolResultContentPart",
    "TurnFailed",
    "TurnId",
    "TurnInProgress",
    "TurnInput",
    "TurnOutput",
    "TurnStatus",
    "aggregate",
]
