"""The store: conversations, their messages as a tree, turns with their journals, blobs, checkpoints.

One protocol for what the five specifications call ConversationStore, MemoryStore, session messages, and
agents/messages/parts. Every call takes the tenant: what is another tenant's is not there. Order is `seq`, never a
time. `rejoinder.testing.store_contract` is the suite that every store must pass.

Ids of conversations and turns are unique in a tenant; ids of messages and checkpoints, and idempotency keys, in a
conversation; ids of provider calls in a turn. What is read of something that is not there is None or empty; what
is written to it raises. Values come back as they were given, odd text and numbers included, and belong to the
caller: changing them changes nothing in the store.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Final, Protocol

from rejoinder.convert.core_content import ConversationMessage
from rejoinder.messages import ABSENT, JsonObject, Maybe, Message
from rejoinder.messages.conversation import Conversation
from rejoinder.messages.turn import Turn
from rejoinder.messages.usage import ProviderCall
from rejoinder.ports.any_message import AnyMessage
from rejoinder.ports.journal import (
    Append,
    Appended,
    Checkpoint,
    Claim,
    Durability,
    Fenced,
    Followed,
    NewTurn,
    Opening,
    Page,
    Seal,
    StoredMessage,
)

DEFAULT_TENANT: Final = "default"
"""Whose things are, where nobody distinguishes tenants."""

CONVERSATIONS_PAGE: Final = 50
"""How many conversations a list holds if nobody says: what the conversation-core specification says."""

PAST_MESSAGES_MAX: Final = 50
"""How many messages `begin_turn` reads back: what most histories need, at a cost that does not grow."""


class ConversationStore(Protocol):
    """What a store can do. `before` and `after` are exclusive; a limit of None means all."""

    # Conversations

    async def create_conversation(
        self,
        *,
        id: str | None = None,
        title: str | None = None,
        metadata: JsonObject | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> Conversation:
        """Create one; an id is made if none is given. Raises `AlreadyExists`.

        `updated_at` moves with every change to the conversation, its messages, and the records of its turns.
        """
        ...

    async def get_conversation(self, id: str, *, tenant: str = DEFAULT_TENANT) -> Conversation | None:
        """The conversation, if this tenant has it."""
        ...

    async def update_conversation(
        self, id: str, *, title: Maybe = ABSENT, metadata: Maybe = ABSENT, tenant: str = DEFAULT_TENANT
    ) -> Conversation | None:
        """Change what is given, and the time of the update in any case."""
        ...

    async def list_conversations(
        self,
        *,
        limit: int = CONVERSATIONS_PAGE,
        before: datetime | tuple[datetime, str] | None = None,
        search: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> list[Conversation]:
        """Newest update first, ties by id. For the next page, `before` is (updated_at, id) of the last one.

        `search` finds conversations whose title, or one of whose text parts, holds all its words, upper or lower
        case; other characters only separate words.
        """
        ...

    async def delete_conversation(self, id: str, *, tenant: str = DEFAULT_TENANT) -> bool:
        """Delete it with all that belongs to it. Answers whether it was there."""
        ...

    async def fork_conversation(
        self, id: str, *, at: str | None = None, new_id: str | None = None, tenant: str = DEFAULT_TENANT
    ) -> Conversation:
        """Copy its active branch, or the branch up to and with the message `at`, into a new conversation.

        The copies keep ids, content and times; the journal stays behind. Raises `NoSuchConversation`,
        `NoSuchMessage` or `AlreadyExists`.
        """
        ...

    # Messages

    async def append_messages(
        self,
        conversation_id: str | Sequence[ConversationMessage],
        messages: Sequence[AnyMessage] = (),
        *,
        after: str | None = None,
        turn_id: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> list[StoredMessage]:
        """Put messages behind the newest of the active branch (or behind `after`, or `ROOT`), all or none.

        Messages of the conversation-core specification may come alone: they say which conversation is theirs. Their
        branch is the active one then. A message without a time of creation gets one. Raises `NoSuchConversation`,
        `NoSuchMessage` or `AlreadyExists`.
        """
        ...

    async def upsert_message(
        self,
        conversation_id: str,
        message: Message,
        *,
        turn_id: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> StoredMessage:
        """Store a message with its parts, anew (behind the newest) or in place; its seq and creation time stay.

        Raises `NoSuchConversation`.
        """
        ...

    async def get_message(
        self, conversation_id: str, message_id: str, *, tenant: str = DEFAULT_TENANT
    ) -> StoredMessage | None:
        """One message with its parts."""
        ...

    async def list_messages(
        self,
        conversation_id: str,
        *,
        limit: int | None = None,
        before: int | None = None,
        after: int | None = None,
        ascending: bool = True,
        branch: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> list[StoredMessage]:
        """Messages of the active branch (or of the one that ends in the message `branch`), between two seqs.

        With a limit, the *newest* ones in that range, whatever the direction: a page of history. `ascending`
        says in which order they are given.
        """
        ...

    async def list_lasting_messages(
        self, conversation_id: str, *, branch: str | None = None, tenant: str = DEFAULT_TENANT
    ) -> list[StoredMessage]:
        """The messages of a branch that every history holds, oldest first: system's, and those that are pinned.

        A message is pinned whose metadata say `pinned: true`. However long the branch is, only these are read.
        """
        ...

    async def list_siblings(
        self, conversation_id: str, message_id: str, *, tenant: str = DEFAULT_TENANT
    ) -> list[StoredMessage]:
        """The message and the others with the same parent, oldest first: the branches to step through."""
        ...

    async def list_forks(
        self, conversation_id: str, message_ids: Sequence[str], *, tenant: str = DEFAULT_TENANT
    ) -> dict[str, tuple[str, ...]]:
        """Those of the messages that have siblings, each with the ids of all of them, oldest first, its own too.

        One look for a whole page, which reads no parts.
        """
        ...

    async def choose_branch(
        self, conversation_id: str, message_id: str, *, tenant: str = DEFAULT_TENANT
    ) -> None:
        """Make the branch that leads through this message, to the newest that came after it, the active one.

        Raises `NoSuchConversation` or `NoSuchMessage`.
        """
        ...

    async def delete_message(
        self, conversation_id: str, message_id: str, *, tenant: str = DEFAULT_TENANT
    ) -> int:
        """Delete the message and all that come after it in its branches. Answers how many.

        An active branch that led through it ends before it now. Their ids are free again, their seqs are not.
        """
        ...

    # Turns, as records

    async def append_turn(
        self,
        turn: Turn,
        *,
        provider_calls: Sequence[ProviderCall] = (),
        tenant: str = DEFAULT_TENANT,
    ) -> None:
        """Record a turn that is over, or replace its record and its provider calls: those given, else the turn's own.

        Raises `NoSuchConversation`; `AlreadyExists` if the turn is live or another conversation's; `ValueError` for
        a live status: only `begin_turn` makes a turn live.
        """
        ...

    async def get_turn(self, turn_id: str, *, tenant: str = DEFAULT_TENANT) -> Turn | None:
        """One turn."""
        ...

    async def list_turns(
        self,
        conversation_id: str,
        *,
        limit: int | None = None,
        before: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> list[Turn]:
        """Turns in the order of their recording; with a limit the newest ones, before that turn if one is given.

        They come with their provider calls, in order, without the raw answers.
        """
        ...

    async def list_provider_calls(self, turn_id: str, *, tenant: str = DEFAULT_TENANT) -> list[ProviderCall]:
        """The provider calls of a turn, in order."""
        ...

    async def live_turn(self, conversation_id: str, *, tenant: str = DEFAULT_TENANT) -> Turn | None:
        """The turn that is queued or running in this conversation."""
        ...

    # The journal

    async def begin_turn(self, new: NewTurn) -> Opening:
        """Claim a conversation for a turn, in one transaction with what the user said.

        The idempotency key is looked at first, then whether another turn is live, then the ids. Raises
        `IdempotencyConflict`, `NoSuchConversation`, `NoSuchMessage` or `AlreadyExists`.
        """
        ...

    async def append_pages(
        self, appends: Sequence[Append], *, durability: Durability = "full"
    ) -> list[Appended | Fenced]:
        """Write pages of any number of turns in one commit. Each is appended or fenced by itself, in order."""
        ...

    async def read_pages(
        self,
        turn_id: str,
        *,
        from_seq: int = 0,
        from_page: int = 0,
        limit: int = 64,
        events: bool = False,
        tenant: str = DEFAULT_TENANT,
    ) -> Followed:
        """Whole pages, all but those that lie before frame `from_seq`, and the turn's status, in one look.

        Without `events` they come without them, and pages that have no frames are left out. `from_page` leaves out
        those before it: to read on, ask from behind the last page's `number`. Raises `NoSuchTurn`.
        """
        ...

    def follow(
        self, turn_id: str, *, from_seq: int = 0, events: bool = False, tenant: str = DEFAULT_TENANT
    ) -> AsyncIterator[Page]:
        """The pages of `read_pages` as they are committed, each once, in order, until the turn is over.

        Raises `NoSuchTurn`, also when the turn is deleted meanwhile.
        """
        ...

    async def request_stop(self, turn_id: str, *, tenant: str = DEFAULT_TENANT) -> bool:
        """Ask a live turn to stop. Answers whether it was live; asking twice is fine."""
        ...

    async def renew(self, claims: Sequence[Claim], *, lease_seconds: float) -> list[Claim | None]:
        """Prolong leases; None for a claim that is lost."""
        ...

    async def end_turn(self, seal: Seal) -> Turn:
        """Seal the turn: all of `Seal` in one transaction, and the claim is free.

        Sealing again with the same claim answers the sealed turn and changes nothing. Raises `ClaimLost`, also for
        a page that is refused; then nothing of the seal is written.
        """
        ...

    async def stale_turns(self, *, owner: str, lease_seconds: float, limit: int = 8) -> list[Claim]:
        """Claim turns whose lease has run out, oldest first, each with a new epoch: whoever gets one must end it."""
        ...

    # Blobs and checkpoints

    async def put_blob(self, content: bytes, *, media_type: str, tenant: str = DEFAULT_TENANT) -> str:
        """Keep content under its SHA-256, in hexadecimal, which is answered. The same content is kept once a tenant."""
        ...

    async def get_blob(self, digest: str, *, tenant: str = DEFAULT_TENANT) -> tuple[bytes, str] | None:
        """Content and media type."""
        ...

    async def add_checkpoint(self, checkpoint: Checkpoint, *, tenant: str = DEFAULT_TENANT) -> None:
        """Keep what a summary stands for. Raises `NoSuchConversation` or `AlreadyExists`."""
        ...

    async def list_checkpoints(
        self, conversation_id: str, *, undone: bool = False, tenant: str = DEFAULT_TENANT
    ) -> list[Checkpoint]:
        """The checkpoints that stand, oldest first; with `undone` also those that do not."""
        ...

    async def undo_checkpoint(
        self, conversation_id: str, checkpoint_id: str, *, tenant: str = DEFAULT_TENANT
    ) -> bool:
        """Let the messages stand for themselves again. Answers whether the checkpoint stood."""
        ...

    # The store itself

    async def list_tenants(self) -> list[str]:
        """Whose conversations are here, in the order of their names. For commands that look after all of them."""
        ...

    async def open(self) -> None:
        """Get ready. Raises `StoreUnavailable` or `StoreMisconfigured`."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...
