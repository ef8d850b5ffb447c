"""Compaction: a summary that stands for the older part of a conversation, until somebody undoes it.

Nothing is deleted or rewritten. A checkpoint says up to where a summary stands for what was said; histories begin
with it, and `store.undo_checkpoint` lets the messages stand for themselves again. What system says and what is pinned
is never summarised: every history holds it anyhow.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from rejoinder.engine.histories import THROUGH, standing_checkpoint
from rejoinder.history.choice import lasts
from rejoinder.history.exchanges import Placed, exchanges, with_excerpts, without_reasoning
from rejoinder.history.tokens import texts_of
from rejoinder.messages import Message, Text
from rejoinder.messages.provider_message import ProviderMessage, ProviderTextPart
from rejoinder.ports.clock import Clock, NewId, SystemClock, random_id
from rejoinder.ports.history import HistoryBuildRequest
from rejoinder.ports.journal import Checkpoint, NoSuchConversation, StoredMessage
from rejoinder.ports.providers import ProviderAdapter, ProviderCallParams
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore

KEPT_TURNS: Final = 6
"""So many of the newest turns stay as they are: what people still refer to word for word."""

STRETCH_MESSAGES: Final = 200
"""So many messages are summarised at once, each stretch together with the summary of those before it."""

SUMMARY_STRATEGY: Final = "summary"
"""What these checkpoints call themselves."""

INTRODUCTION: Final = "This is a summary of the conversation so far:\n\n"
"""What stands before a summary, for the model. It comes as the user's: what it tells of may be anybody's words."""

INSTRUCTIONS: Final = (
    "Summarise this conversation for the assistant who will go on with it: what the user wants, what was found out and "
    "decided, names, numbers and identifiers exactly, and what is still open. Write nothing else."
)
"""What a provider is asked for."""

Summarise: TypeAlias = Callable[[Sequence[Message], str | None], Awaitable[str]]
"""Puts messages into fewer words, together with the summary of what came before them."""


class SummarisingCompactor:
    """Writes checkpoints. `kept_turns` of the newest turns are left as they are."""

    def __init__(
        self,
        store: ConversationStore,
        summarise: Summarise,
        *,
        kept_turns: int = KEPT_TURNS,
        clock: Clock | None = None,
        new_id: NewId = random_id,
    ) -> None:
        self._store = store
        self._summarise = summarise
        self._kept_turns = kept_turns
        self._clock: Clock = clock or SystemClock()
        self._new_id = new_id

    async def compact(
        self, conversation_id: str, *, branch: str | None = None, tenant: str = DEFAULT_TENANT
    ) -> Checkpoint | None:
        """Summarise what is older than the newest turns; None if nothing is. What the summary raises comes through.

        Raises `NoSuchConversation`.
        """
        conversation = await self._store.get_conversation(conversation_id, tenant=tenant)
        if conversation is None:
            raise NoSuchConversation(f"no conversation {conversation_id!r}: there is nothing to compact")
        before = await standing_checkpoint(
            HistoryBuildRequest(
                conversation=conversation,
                store=self._store,
                new_user_messages=(),
                tenant=tenant,
                branch=branch,
            )
        )
        through = -1 if before is None else before.through_seq
        last = await self._last_to_go(conversation_id, through, branch, tenant)
        if last is None:
            return None
        summary = None if before is None else _said(before.summary)
        replaced, place = 0, through
        while place < last.seq:
            stretch = await self._store.list_messages(
                conversation_id,
                after=place,
                before=min(place + STRETCH_MESSAGES, last.seq) + 1,
                branch=branch,
                tenant=tenant,
            )
            place += STRETCH_MESSAGES
            messages = [stored.message for stored in stretch if not lasts(stored.message)]
            if messages:
                summary = await self._summarise(messages, summary)
                replaced += len(messages)
        if not replaced:
            return None
        id = self._new_id()
        text = INTRODUCTION + (summary or "")
        checkpoint = Checkpoint(
            id=id,
            conversation_id=conversation_id,
            through_seq=last.seq,
            summary=Message(id=f"summary-{id}", role="user", parts=(Text(text=text),)),
            strategy=SUMMARY_STRATEGY,
            created_at=self._clock.now(),
            metadata={THROUGH: last.message.id, "messages": replaced},
        )
        await self._store.add_checkpoint(checkpoint, tenant=tenant)
        return checkpoint

    async def _last_to_go(
        self, conversation_id: str, through: int, branch: str | None, tenant: str
    ) -> StoredMessage | None:
        """The message up to which is summarised: the last one before the newest turns."""
        limit = STRETCH_MESSAGES
        while True:
            read = await self._store.list_messages(
                conversation_id, limit=limit, after=through, branch=branch, tenant=tenant
            )
            groups = exchanges(Placed(each.message, each.seq, each.turn_id) for each in read)
            whole = len(read) < limit
            # The first turn of a page may have begun before it.
            if len(groups) > self._kept_turns + (not whole) or whole:
                break
            limit *= 2
        kept = (
            sum(len(group.placed) for group in groups[len(groups) - self._kept_turns :])
            if self._kept_turns
            else 0
        )
        older = read[: len(read) - kept]
        return older[-1] if older and len(groups) > self._kept_turns else None


def summariser(
    provider: ProviderAdapter, params: ProviderCallParams, *, instructions: str = INSTRUCTIONS
) -> Summarise:
    """Let a provider summarise."""

    async def summarise(messages: Sequence[Message], before: str | None) -> str:
        told = [] if before is None else [f"Summary of what came before:\n{before}"]
        told += [
            f"{message.role}: " + "\n".join(texts_of(with_excerpts(without_reasoning(message))))
            for message in messages
        ]
        asked = (_plain("system", instructions), _plain("user", "\n\n".join(told)))
        result = await provider.complete(_with(params, asked))
        return result.message.text

    return summarise


def _with(params: ProviderCallParams, messages: tuple[ProviderMessage, ...]) -> ProviderCallParams:
    return ProviderCallParams(
        metadata=params.metadata,
        messages=messages,
        max_tokens=params.max_tokens,
        settings=params.settings,
        agent_context=params.agent_context,
    )


def _plain(role: str, text: str) -> ProviderMessage:
    return ProviderMessage(
        role="system" if role == "system" else "user", content=(ProviderTextPart(text=text),)
    )


def _said(summary: Message) -> str:
    text = "\n".join(part.text for part in summary.parts if isinstance(part, Text))
    return text.removeprefix(INTRODUCTION)
