"""What the promises are tried with: messages, turns and pages, ordinary and odd."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from msgspec import structs

from rejoinder.messages import (
    AgentContext,
    Approval,
    Cost,
    Custom,
    Data,
    File,
    Json,
    Message,
    Opaque,
    Part,
    ProviderCall,
    Reasoning,
    ReasoningFile,
    Role,
    SourceDocument,
    SourceUrl,
    Steering,
    StepStart,
    Text,
    ToolCall,
    Turn,
    TurnError,
    TurnStatus,
    Usage,
)
from rejoinder.ports.journal import (
    Append,
    Appended,
    Claim,
    Event,
    Fenced,
    NewTurn,
    Page,
    StoredMessage,
    TurnBegun,
)
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore

NOON: Final = datetime(2026, 5, 4, 12, 0, 0, 123456, UTC)
"""A time to give, with all the digits that a store must keep."""

LEASE_SECONDS: Final = 10.0

ODD_TEXTS: Final = {
    "empty": "",
    "nul": "a\x00b",
    "only nul": "\x00",
    "first half": "\ud83d",
    "second half": "x\ude00y",
    "whole character": "\U0001f600 👩‍👩‍👧‍👦",
    "our escape": "␛0 ␛␛ ␛d83d",
    "escapes spelt out": '"\\u0000" \\ud83d \\',
    "separators": "\u2028\u2029\ufeff\r\n\t\x1b[0m\x7f",
    "sql": "'; DROP TABLE message; -- %s $1 :x",
    "prototype": "__proto__",
}
"""Text that has broken some store: by its name, so that a failing test names it."""

ODD_NUMBERS: Final = {
    "minus zero": -0.0,
    "hundred": 1e2,
    "1e22": 1e22,
    "largest": 1.7976931348623157e308,
    "smallest": 5e-324,
    "infinity": float("inf"),
    "beyond a double": 2**53 + 1,
    "beyond a word": 2**64 + 1,
    "negative": -(2**63) - 1,
    "four hundred digits": 10**400,
}
"""Numbers that some database or JSON writer changes. `1e131071` is read as infinity, as in JavaScript."""

PARTS: Final[dict[str, Part]] = {
    "text": Text(
        text="Hello",
        state="done",
        provider_metadata={"openai": {"itemId": "msg_1"}},
        citations=[{"url": "https://example.com", "start": 0}],
        extra={"mood": "calm"},
    ),
    "reasoning": Reasoning(
        text="Well", id="r1", state="streaming", provider_metadata={"anthropic": {"signature": "c2ln"}}
    ),
    "tool call, streaming": ToolCall(
        name="weather", call_id="c1", state="input-streaming", raw_input='{"ci', input_encoding="json"
    ),
    "tool call, answered": ToolCall(
        name="weather",
        call_id="c1",
        state="output-available",
        dynamic=True,
        input={"city": "Bern"},
        output={"degrees": 21.123456789},
        preliminary=True,
        provider_executed=False,
        title="Weather",
        metadata={"cost": 1},
        call_provider_metadata={"google": {"thought": "x"}},
        result_provider_metadata={"google": {"done": True}},
        extra={"note": None},
    ),
    "tool call, failed": ToolCall(
        name="weather", call_id="c1", state="output-error", withdrawn=True, error_text="no such city"
    ),
    "tool call, asked for": ToolCall(
        name="pay",
        call_id="c2",
        state="approval-requested",
        input=None,
        approval=Approval(id="a1", request_reason="much", descriptor=None, input_schema_input=[1]),
    ),
    "tool call, denied": ToolCall(
        name="pay",
        call_id="c2",
        state="output-denied",
        input={"amount": 1},
        approval=Approval(
            id="a1", approved=False, reason="no", is_automatic=False, signature="s", extra={"by": "ada"}
        ),
    ),
    "tool call, answered with null": ToolCall(
        name="pay", call_id="c2", state="output-available", input={}, output=None
    ),
    "file": File(
        media_type="image/png",
        url="data:image/png;base64,AA==",
        filename="dot.png",
        provider_metadata={"x": {}},
        provider_reference={"openai": "file-1"},
    ),
    "file of a thought": ReasoningFile(media_type="text/plain", url="https://example.com/t"),
    "source": SourceUrl(source_id="s1", url="https://example.com", title="Example"),
    "document": SourceDocument(
        source_id="s2", media_type="application/pdf", title="Report", filename="report.pdf"
    ),
    "step": StepStart(),
    "data": Data(name="weather", id="d1", data={"degrees": [21, None]}),
    "data that is null": Data(name="weather-now", data=None),
    "data that is absent": Data(name="weather"),
    "custom": Custom(kind="openai.compaction", provider_metadata={"openai": {"itemId": "cmp_1"}}),
    "steering": Steering(
        id="st1", parts=(Text(text="Stop"), File(media_type="a/b", url="https://example.com/f"))
    ),
    "unknown": Opaque(body={"type": "hologram", "beams": [{"n": 1}], "text": None}),
    "unknown without a type": Opaque(body={"beams": 2}),
}
"""One part of every kind, and of every kind that has more than one face."""


def said(id: str, text: str = "Hello", *, role: Role = "user") -> Message:
    """A message of one text."""
    return Message(id=id, role=role, parts=(Text(text=text),))


def new_turn(id: str = "turn", *messages: Message, **changes: Json) -> NewTurn:
    """A turn to begin, in the conversation `chat` if nothing else is said."""
    plain = NewTurn(
        id=id,
        conversation_id="chat",
        assistant_message_id=f"answer of {id}",
        owner="worker",
        lease_seconds=LEASE_SECONDS,
        tenant=DEFAULT_TENANT,
        messages=messages,
    )
    return structs.replace(plain, **changes)


async def begin(store: ConversationStore, id: str = "turn", *messages: Message, **changes: Json) -> TurnBegun:
    """Begin a turn that nothing stands in the way of."""
    opening = await store.begin_turn(new_turn(id, *messages, **changes))
    assert isinstance(opening, TurnBegun)
    return opening


def page(number: int, first_seq: int, *frames: bytes, events: Sequence[bytes] = ()) -> Page:
    """A page whose events all came before its first frame."""
    return Page(
        number=number,
        first_seq=first_seq,
        last_seq=first_seq + len(frames) - 1,
        frames=b"".join(frames),
        events=tuple(Event(before=first_seq, body=body) for body in events),
    )


def frame(seq: int) -> bytes:
    """A frame that says where it belongs."""
    return b'data: {"type":"text-delta","id":"1","delta":"%d"}\n\n' % seq


def pages(count: int) -> list[Page]:
    """Pages of two frames and one event each."""
    return [page(n, 2 * n, frame(2 * n), frame(2 * n + 1), events=[b'{"n": %d}' % n]) for n in range(count)]


async def append(store: ConversationStore, claim: Claim, *pages: Page) -> list[Appended | Fenced]:
    """Write pages of one turn in one call."""
    return await store.append_pages([Append(claim=claim, page=each) for each in pages])


async def chat(store: ConversationStore, *ids: str, conversation: str = "chat") -> list[StoredMessage]:
    """A conversation in which these messages follow each other, the user's first."""
    await store.create_conversation(id=conversation)
    roles: tuple[Role, Role] = ("user", "assistant")
    return await store.append_messages(
        conversation, [said(id, f"This is {id}", role=roles[n % 2]) for n, id in enumerate(ids)]
    )


def ids(messages: Sequence[StoredMessage]) -> list[str]:
    """Which messages these are."""
    return [stored.message.id for stored in messages]


def record(id: str = "turn", *, status: TurnStatus = "succeeded", **changes: Json) -> Turn:
    """A turn that is over, in the conversation `chat` if nothing else is said."""
    return structs.replace(Turn(id=id, conversation_id="chat", status=status, created_at=NOON), **changes)


FULL_RECORD: Final = Turn(
    id="turn",
    conversation_id="chat",
    status="failed",
    created_at=NOON,
    trigger="regenerate-message",
    message_id="answer",
    agent="support",
    agent_context=AgentContext(
        agent="support", run_id="chat:turn", labels={"tier": "gold"}, metadata={"step": 3}
    ),
    agent_memory={"session": ["s-1", None]},
    usage=Usage(
        input_tokens=0,
        output_tokens=7,
        total_tokens=9,
        cache_read_tokens=1,
        cache_write_tokens=2,
        reasoning_tokens=3,
    ),
    cost=Cost(amount=Decimal("0.000012345678"), currency="EUR", prices={"input": "0.15"}),
    error=TurnError(message="bad \x00 gateway", code="502", provider="openai", raw={"body": None}),
    started_at=NOON + timedelta(seconds=1),
    finished_at=NOON + timedelta(seconds=2, microseconds=1),
    metadata={"campaign": "spring"},
)
"""A record that says everything that a record can say."""


def call(id: str, **changes: Json) -> ProviderCall:
    """A provider call that was begun and says no more."""
    plain = ProviderCall(id=id, provider="openai", model="gpt-5-mini", started_at=NOON)
    return structs.replace(plain, **changes)


FULL_CALL: Final = ProviderCall(
    id="call",
    provider="anthropic",
    model="claude",
    started_at=NOON,
    operation="embedding",
    status="cancelled",
    extensions={"ai.tenant": "acme", "odd": "\x00\ud83d"},
    usage=Usage(input_tokens=5),
    cost=Cost(amount=Decimal("12.5")),
    first_token_at=NOON + timedelta(milliseconds=300),
    finished_at=NOON + timedelta(seconds=1),
    raw=None,
)
"""A provider call that says everything that it can say; its raw answer is null, which is not absent."""
