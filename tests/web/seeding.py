"""Conversations that were had before the browser opened: many, long, or over many days."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Final

from rejoinder.messages import Cost, Message, ProviderCall, Text, ToolCall, TurnError, Usage
from rejoinder.ports.journal import NewTurn, Seal, TurnBegun, TurnEnding
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore
from rejoinder.stores.memory import InMemoryConversationStore

TITLES: Final = (
    "Why does my event stream arrive all at once?",
    "Plan a week of dinners for two",
    "Rename a column without downtime",
    "Explain vector clocks",
    "Draft a polite reminder",
    "Packing list for Oslo in March",
    "What is a write-ahead log?",
    "Turn this spreadsheet into SQL",
    "A haiku about lost connections",
    "Compare a queue and a log",
    "Name three kinds of cache",
    "How do I fold a fitted sheet?",
    "Summarise the minutes of Monday",
    "Regex for dates, and why not",
    "Which bread needs no kneading?",
    "Read this stack trace with me",
    "Choose a font for long texts",
)

MODELS: Final = (("gpt-5-mini", "assistant"), ("claude-sonnet-4-5", "researcher"), ("smollm2", "assistant"))


class Calendar:
    """A clock that stands where it is put."""

    def __init__(self, now: datetime) -> None:
        self.moment: datetime | None = now

    def follow(self) -> None:
        """Go with the time from now on."""
        self.moment = None

    def now(self) -> datetime:
        """What time it is said to be."""
        return self.moment or datetime.now(UTC)


async def ask(store: ConversationStore, conversation: str, number: int, text: str) -> TurnBegun:
    """Begin a turn."""
    begun = await store.begin_turn(
        NewTurn(
            id=f"{conversation}-turn-{number}",
            conversation_id=conversation,
            assistant_message_id=f"{conversation}-answer-{number}",
            owner="seeding",
            lease_seconds=60,
            tenant=DEFAULT_TENANT,
            messages=(
                Message(id=f"{conversation}-question-{number}", role="user", parts=(Text(text=text),)),
            ),
            agent=MODELS[number % 3][1],
            title=text,
        )
    )
    assert isinstance(begun, TurnBegun)
    return begun


async def month(days: int, *, calendar: Calendar) -> ConversationStore:
    """A store with some turns on each of the last days, by several models, with tools, failures and costs."""
    today = calendar.now()
    store = InMemoryConversationStore(clock=calendar.now)
    random = Random(7)
    for day in range(days, 0, -1):
        start = today - timedelta(days=day)
        for number in range(random.randint(1, 4) if start.weekday() > 4 else random.randint(4, 11)):
            calendar.moment = start + timedelta(minutes=37 * number)
            title = TITLES[(7 * day + 5 * number) % len(TITLES)]
            await _one(store, calendar, random, f"seed-{day}-{number}", title)
    calendar.moment = today
    return store


async def _one(
    store: ConversationStore, calendar: Calendar, random: Random, conversation: str, text: str
) -> None:
    choice = random.randrange(3)
    begun = await ask(store, conversation, choice, text)
    status: TurnEnding = random.choices(("succeeded", "failed", "cancelled"), (90, 6, 4))[0]
    first = timedelta(milliseconds=random.lognormvariate(6.1, 0.45))
    took = first + timedelta(milliseconds=random.lognormvariate(8.2, 0.5))
    started = calendar.now()
    usage = Usage(
        input_tokens=(given := random.randint(900, 4_800)),
        cache_read_tokens=random.randint(0, given // 2),
        output_tokens=(said := random.randint(120, 1_900)),
        reasoning_tokens=random.randint(0, said // 3),
    )
    cost = Cost(amount=Decimal(given + 4 * said) / 2_000_000)
    call = ProviderCall(
        id=f"{conversation}-call",
        provider="loopback",
        model=MODELS[choice][0],
        started_at=started,
        first_token_at=started + first,
        finished_at=started + took,
        status="succeeded" if status == "succeeded" else "failed",
        usage=usage,
        cost=cost,
    )
    calendar.moment = started + took
    tools = [_tool(random, f"{conversation}-tool-{index}") for index in range(random.choice((0, 0, 1, 2)))]
    answer = Message(
        id=begun.turn.message_id or "",
        role="assistant",
        parts=(*tools, Text(text=f"{text} That depends, as follows.")),
    )
    error = TurnError(message="overloaded", code="provider") if status == "failed" else None
    await store.end_turn(
        Seal(
            claim=begun.claim,
            status=status,
            messages=(answer,),
            usage=usage,
            cost=cost,
            provider_calls=(call,),
            error=error,
        )
    )


def _tool(random: Random, id: str) -> ToolCall:
    name = random.choice(("search", "search", "get_weather", "run_query"))
    if random.random() < 0.12:
        return ToolCall(name=name, call_id=id, state="output-error", input={}, error_text="timed out")
    return ToolCall(name=name, call_id=id, state="output-available", input={"q": "x"}, output="y")


async def long_conversation(store: ConversationStore, id: str, messages: int) -> None:
    """A conversation of so many messages: questions and answers in turn, of the lengths that people write."""
    await store.create_conversation(id=id, title=f"{messages} messages")
    batch: Final = 500
    for start in range(0, messages, batch):
        some = [_spoken(id, number) for number in range(start, min(messages, start + batch))]
        await store.append_messages(id, some)


def _spoken(id: str, number: int) -> Message:
    if number % 2 == 0:
        return Message(id=f"{id}-{number}", role="user", parts=(Text(text=f"Question {number}?"),))
    text = (
        f"Answer **{number}**: a *word* or two, `code`, and a [link](https://example.com/{number}).\n\n"
        "- one point\n- another\n\n```python\nprint('hello')\n```\n\n"
        + "A sentence that makes it as long as answers are. "
        * (number % 7)
    )
    return Message(id=f"{id}-{number}", role="assistant", parts=(Text(text=text),))


async def many_conversations(store: ConversationStore, count: int, *, name: Callable[[int], str]) -> None:
    """So many conversations, each with a title and no word."""
    for number in range(count):
        await store.create_conversation(id=f"many-{number}", title=name(number))


async def many_turns(store: ConversationStore, conversation: str, count: int) -> None:
    """A conversation of so many turns, each a question and its answer."""
    for number in range(count):
        begun = await ask(store, conversation, number, f"Question {number}?")
        answer = Message(
            id=begun.turn.message_id or "", role="assistant", parts=(Text(text=f"Answer {number}."),)
        )
        await store.end_turn(Seal(claim=begun.claim, status="succeeded", messages=(answer,)))
