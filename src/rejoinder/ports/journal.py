"""The log of a turn: frames and events in pages, claims that fence them, and how a turn begins and ends.

A turn has one owner at a time. The owner holds a claim: an *epoch*, which grows with every change of owner, and a
*lease*, which it renews. The store refuses a page whose epoch is old, whose place leaves a gap or is taken, or
whose turn is over; so a writer that was paused past its lease, and lost the turn to another, cannot write, however
late it wakes. A lease that ran out is lost only when somebody takes the turn (`stale_turns`).
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from rejoinder.convert.core_content import MessageContentPart
from rejoinder.convert.core_plain import to_plain_core
from rejoinder.errors import RejoinderError
from rejoinder.messages import Json, JsonObject, Message, Role
from rejoinder.messages.conversation import Conversation
from rejoinder.messages.turn import AgentContext, Turn, TurnError, TurnStatus
from rejoinder.messages.usage import Cost, ProviderCall, Usage

Durability: TypeAlias = Literal["full", "fast"]
"""`full`: a commit survives a power cut (D2). `fast`: a crash of the database or of the machine may cost the last
600 ms, a crash of ours nothing (D2-fast)."""

ROOT: Final = ""
"""Behind nothing: `after=ROOT` makes a sibling of a conversation's first message, which is how an edit of it begins."""

SUBJECT: Final = "subject"
"""Under this name a turn's metadata says whose it is: nobody else may answer what it asks, and by it is found what has
to be erased."""

TurnEnding: TypeAlias = Literal["waiting", "succeeded", "failed", "cancelled", "interrupted"]
"""The statuses in which a turn is over: its journal is closed, and its conversation free for the next turn."""


class Event(Struct, frozen=True, kw_only=True):
    """What an agent said, in its own words, byte for byte. `before` is the seq of the frame that came next."""

    before: int
    body: bytes


class Page(Struct, frozen=True, kw_only=True):
    """A stretch of a turn: its frames, ready to be sent, and the events that they came from. One row, one write.

    `frames` holds the server-sent events of the chunks `first_seq … last_seq`, one after the other, as
    `rejoinder.wire.codec.encode_event` writes them. A page without frames (`last_seq == first_seq - 1`) is legal:
    an agent may say things that no client hears. `number` counts the pages of a turn from 0: by their frames alone,
    two pages without any could not be told from one that was sent twice.
    """

    number: int
    first_seq: int
    last_seq: int
    frames: bytes
    events: tuple[Event, ...] = ()


class Claim(Struct, frozen=True, kw_only=True):
    """The right to write a turn."""

    tenant: str
    conversation_id: str
    turn_id: str
    epoch: int
    owner: str
    lease_until: datetime


class NewTurn(Struct, frozen=True, kw_only=True):
    """What `begin_turn` writes in one transaction: the turn with its claim, and what the user said.

    `messages` are appended behind `after`, the id of the message that they answer; None means behind the newest
    message of the active branch. A message that has been answered before makes a sibling branch, which is how an
    edit or a regeneration begins; the new branch is active from now on, also when there are no `messages` yet.
    `replaces` is a message whose id the first of `messages` takes, since clients edit a message under its own id:
    the old one stays in the tree, under the id that `replaced_id` gives it. `after` is given then, to make siblings.
    `continues` is the assistant message that this turn goes on writing (a tool of the client has answered, an
    approval was given): it is stored anew, as given, and the branch that leads through it is active. `resumes` is
    the turn that wrote it as the caller has read it: if another one has gone on with it since, nothing is written.

    An `idempotency_key` belongs to its conversation; `fingerprint` stands for the content that came with it. A
    `queued` turn is claimed like a running one and runs from its first page on.
    """

    id: str
    conversation_id: str
    assistant_message_id: str
    owner: str
    lease_seconds: float
    tenant: str
    messages: tuple[Message, ...] = ()
    after: str | None = None
    replaces: str | None = None
    continues: Message | None = None
    resumes: str | None = None
    trigger: str = "submit-message"
    agent: str | None = None
    agent_context: AgentContext | None = None
    metadata: JsonObject | None = None
    idempotency_key: str | None = None
    fingerprint: str | None = None
    create_conversation: bool = True
    title: str | None = None
    status: Literal["queued", "running"] = "running"


def replaced_id(id: str, seq: int) -> str:
    """The id of a message whose own id another one took: the seq makes it unique."""
    return f"{id}~{seq}"


class StoredMessage(Struct, frozen=True, kw_only=True):
    """A message and its place: `seq` orders the messages of a conversation, and never changes.

    It counts up from 0 without gaps in the order of arrival over all branches, so a message's is greater than its
    parent's. `turn_id` is the turn that wrote the message or began with it.
    """

    seq: int
    message: Message
    parent_id: str | None = None
    turn_id: str | None = None

    @property
    def id(self) -> str:
        """The message's."""
        return self.message.id

    @property
    def role(self) -> Role:
        """Who said it."""
        return self.message.role

    @property
    def created_at(self) -> datetime | None:
        """When."""
        return self.message.created_at

    @property
    def content(self) -> tuple[MessageContentPart, ...]:
        """What was said, as the conversation-core specification has it: a call, and its result behind it."""
        told = to_plain_core(self.message, conversation_id="")
        return tuple(part for message in told for part in message.content)


class TurnBegun(Struct, frozen=True, kw_only=True):
    """The turn is ours: the claim, and the newest messages of its branch, oldest first, the new ones included."""

    turn: Turn
    claim: Claim
    conversation: Conversation
    past: tuple[StoredMessage, ...]


class TurnExists(Struct, frozen=True, kw_only=True):
    """The same request came before: this is the turn that it began, live or over. Nothing was written."""

    turn: Turn


class ConversationBusy(Struct, frozen=True, kw_only=True):
    """Another turn of the conversation is live. Nothing was written."""

    turn: Turn


Opening: TypeAlias = TurnBegun | TurnExists | ConversationBusy


class Append(Struct, frozen=True, kw_only=True):
    """One page for one turn."""

    claim: Claim
    page: Page


FenceReason: TypeAlias = Literal["unknown-turn", "stale-epoch", "closed", "gap", "taken"]
"""Why a page was refused: the first of these that applies. `gap` and `taken` speak of `number` and `first_seq`."""


class Appended(Struct, frozen=True, kw_only=True):
    """The page is durable, by this call or because it came before. `stop_requested`: somebody wants the turn to stop.

    A writer that does not know whether its commit arrived sends the same page again: the page in the place that it
    names is compared, and equal content is appended once.
    """

    next_seq: int
    stop_requested: bool


class Fenced(Struct, frozen=True, kw_only=True):
    """The page was refused, and why; the journal of a turn that it has would take `next_page` at `next_seq`."""

    reason: FenceReason
    next_page: int | None = None
    next_seq: int | None = None


class Seal(Struct, frozen=True, kw_only=True):
    """How a turn ends, in one transaction: its last page, its message, what it consumed, and its status.

    `waiting` frees the claim and parks the turn: its message is stored, and a later turn continues it. `messages`
    that the conversation has are stored anew in place; new ones follow the newest message of the active branch if
    that branch leads through what the turn answers (the newest message when it began), or if that was deleted. If
    somebody looks at another branch meanwhile, they follow what the turn answers, and the active branch stays.
    None as `metadata` keeps what the turn began with.
    """

    claim: Claim
    status: TurnEnding
    page: Page | None = None
    messages: tuple[Message, ...] = ()
    usage: Usage | None = None
    cost: Cost | None = None
    provider_calls: tuple[ProviderCall, ...] = ()
    error: TurnError | None = None
    agent_memory: Json = None
    metadata: JsonObject | None = None


class Followed(Struct, frozen=True, kw_only=True):
    """What a reader gets: pages from where it asked on, the journal's end and the turn's status, seen at one moment.

    `next_page` and `next_seq` are the places that the journal takes next. A terminal status does not mean that
    these pages are all: read on behind the last one until a read brings none. `written` says when each of the pages
    came into the journal, for people who look at it: nothing goes by it.
    """

    pages: tuple[Page, ...]
    written: tuple[datetime, ...]
    next_page: int
    next_seq: int
    status: TurnStatus
    stop_requested: bool


class Checkpoint(Struct, frozen=True, kw_only=True):
    """A summary that stands for the messages up to a seq. Undone, they stand for themselves again."""

    id: str
    conversation_id: str
    through_seq: int
    summary: Message
    strategy: str
    created_at: datetime
    undone_at: datetime | None = None
    metadata: JsonObject | None = None


class StoreError(RejoinderError):
    """The store could not do it. The subclasses say what a caller can do."""

    code = "store"


class NoSuchConversation(StoreError):
    """This tenant has no such conversation (another's are none of its business). Create it, or mend the id."""

    code = "no-such-conversation"


class NoSuchMessage(StoreError):
    """The conversation has no such message. Mend the id."""

    code = "no-such-message"


class NoSuchTurn(StoreError):
    """This tenant has no such turn. Mend the id."""

    code = "no-such-turn"


class AlreadyExists(StoreError):
    """Something of that id is there already, or a message comes twice. Take another id, or update what is there."""

    code = "already-exists"


class AlreadyContinued(StoreError):
    """Another turn has gone on with the message since it was read. Read it again."""

    code = "already-continued"

    def __init__(self, message_id: str) -> None:
        super().__init__(f"another turn has gone on with message {message_id!r} meanwhile: read it again")


class IdempotencyConflict(StoreError):
    """The same idempotency key came with other content. A retry repeats its content; new content takes a new key."""

    code = "idempotency-conflict"


class ClaimLost(StoreError):
    """Somebody else owns the turn now, or it is over or gone. Stop working on it."""

    code = "claim-lost"


class TurnInProgress(RejoinderError):
    """Another turn of the conversation is live. Follow or stop that one, or try again when it is over."""

    code = "turn-in-progress"

    def __init__(self, turn: Turn) -> None:
        super().__init__(
            f"turn {turn.id!r} of this conversation is live: follow it, stop it, or try again later"
        )
        self.turn = turn


class StoreUnavailable(StoreError):
    """The database cannot be reached or cannot write now. Nothing was half-written; try again later."""

    code = "store-unavailable"


class StoreMisconfigured(StoreError):
    """The database is there but cannot be used as it is: wrong password, missing or too new schema, read-only."""

    code = "store-misconfigured"
