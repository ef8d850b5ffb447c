"""One turn: an answer from claim to last chunk, who gave it, and how it ended."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from msgspec import Struct

from rejoinder.messages.json_values import ABSENT, Json, JsonObject, Maybe
from rejoinder.messages.usage import Cost, ProviderCall, Usage

TurnStatus: TypeAlias = Literal[
    "queued", "running", "waiting", "succeeded", "failed", "cancelled", "interrupted"
]
"""`waiting` is for the user (an approval, a tool of the client); `interrupted` is an owner that died."""


class AgentContext(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Who acts, and in which run. `labels` are short and for telemetry, `metadata` is small and free."""

    agent: str | None = None
    run_id: str | None = None
    labels: dict[str, str] | None = None
    metadata: JsonObject | None = None


class TurnError(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Why a turn failed, for the log and the record: the user is not shown this."""

    message: str
    code: str | None = None
    provider: str | None = None
    raw: Maybe = ABSENT


class Turn(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One answer of one conversation. Its messages and provider calls are kept beside it and name it.

    `trigger` is what asked for it: the client's word (`submit-message`, `regenerate-message`) or the
    application's own. `message_id` is the assistant message that the turn writes; `agent_memory` is what its agent
    wants to be told at the next turn (the id of its own session, for example). `provider_calls` are there in a list
    of turns, without their raw answers; elsewhere a turn comes without them.
    """

    id: str
    conversation_id: str
    status: TurnStatus
    created_at: datetime
    trigger: str = "submit-message"
    message_id: str | None = None
    agent: str | None = None
    agent_context: AgentContext | None = None
    agent_memory: Json = None
    usage: Usage | None = None
    cost: Cost | None = None
    error: TurnError | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    metadata: JsonObject | None = None
    provider_calls: tuple[ProviderCall, ...] = ()
