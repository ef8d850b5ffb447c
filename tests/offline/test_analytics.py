"""Numbers: the database counts as the memory store does, whatever was recorded, and tells nobody of another's."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import msgspec
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct, structs

from rejoinder.messages import (
    Cost,
    Message,
    ProviderCall,
    Text,
    ToolCall,
    ToolState,
    Turn,
    TurnError,
    TurnStatus,
    Usage,
)
from rejoinder.ports.analytics import MEASURES, By, Measure, Row, Span, measured
from rejoinder.stores.memory import InMemoryConversationStore
from rejoinder.stores.postgres.store import PostgresConversationStore
from tests.scale import scale
from tests.stores.databases import Databases

FIRST = datetime(2025, 11, 17, 22, 30, tzinfo=UTC)
SPAN: Span = (date(2025, 11, 18), date(2025, 11, 20))
TURN_OF_THE_PAST = (
    "INSERT INTO rejoinder.turn (tenant, conversation, id, status, created_at)"
    " SELECT 'ada', key, %s, 'succeeded', '2025-11-19 12:00Z' FROM rejoinder.conversation"
)
BYS: tuple[By, ...] = ("day", "model", "agent", "tenant")

Store = InMemoryConversationStore | PostgresConversationStore


class Said(Struct, frozen=True):
    """A turn, its calls, and the tools that its message calls."""

    tenant: str
    turn: Turn
    calls: tuple[ProviderCall, ...]
    message: Message


NAMES = st.sampled_from(["fast", "slow", "\0odd", "Ärger"])
AMOUNTS = st.decimals(min_value=0, max_value=9, places=4)
COSTS = st.builds(Cost, amount=AMOUNTS, currency=st.sampled_from(["USD", "EUR"]))
MAYBE_COUNT = st.none() | st.integers(0, 9000)
USAGES = st.builds(
    Usage,
    input_tokens=MAYBE_COUNT,
    output_tokens=MAYBE_COUNT,
    total_tokens=MAYBE_COUNT,
    cache_read_tokens=MAYBE_COUNT,
    cache_write_tokens=MAYBE_COUNT,
    reasoning_tokens=MAYBE_COUNT,
)
STATUSES: list[TurnStatus] = ["succeeded", "failed", "cancelled", "interrupted", "waiting"]
STATES: list[ToolState] = ["input-available", "output-available", "output-error", "output-denied"]


@st.composite
def spoken(draw: st.DrawFn) -> list[Said]:
    return [_said(draw, number) for number in range(draw(st.integers(0, 6)))]


def _said(draw: st.DrawFn, number: int) -> Said:
    began = FIRST + timedelta(minutes=draw(st.integers(0, 3 * 24 * 60)))
    status = draw(st.sampled_from(STATUSES))
    calls = tuple(
        ProviderCall(
            id=str(place),
            provider="vendor",
            model=draw(NAMES),
            started_at=began,
            status="succeeded",
            usage=draw(st.none() | USAGES),
            cost=draw(st.none() | COSTS),
            first_token_at=draw(
                st.none() | st.just(began + timedelta(milliseconds=draw(st.integers(0, 5000))))
            ),
        )
        for place in range(draw(st.integers(0, 2)))
    )
    turn = Turn(
        id=f"turn-{number}",
        conversation_id="chat",
        status=status,
        created_at=began,
        agent=draw(st.none() | NAMES),
        usage=draw(st.none() | USAGES),
        cost=draw(st.none() | COSTS),
        error=TurnError(message="no", code=draw(st.none() | NAMES)) if status == "failed" else None,
        started_at=draw(st.none() | st.just(began)),
        finished_at=draw(st.none() | st.just(began + timedelta(milliseconds=draw(st.integers(0, 90000))))),
    )
    tools = tuple(
        ToolCall(name=draw(NAMES), call_id=str(place), state=draw(st.sampled_from(STATES)))
        for place in range(draw(st.integers(0, 3)))
    )
    message = Message(
        id=f"message-{number}", role="assistant", parts=(Text(text="so"), *tools), created_at=began
    )
    return Said(draw(st.sampled_from(["ada", "bob"])), turn, calls, message)


async def keep(store: Store, said: Sequence[Said]) -> None:
    for each in said:
        await store.append_turn(each.turn, provider_calls=each.calls, tenant=each.tenant)
        await store.append_messages("chat", [each.message], turn_id=each.turn.id, tenant=each.tenant)


async def all_rows(store: Store, tenant: str | None) -> dict[tuple[str, str], list[Row]]:
    return {
        (measure, by): list(await measured(store, measure, by, SPAN, tenant=tenant))
        for measure in MEASURES
        for by in BYS
    }


@settings(
    max_examples=scale(12, 400),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(spoken(), st.integers(0, 6))
def test_the_database_counts_as_the_memory_store_does_however_often_it_is_asked_meanwhile(
    postgres: Databases, said: list[Said], cut: int
) -> None:
    async def walk() -> None:
        memory, database = InMemoryConversationStore(), PostgresConversationStore(postgres.fresh())
        await database.open()

        async def compare() -> None:
            for tenant in (None, "ada", "nobody"):
                assert await all_rows(database, tenant) == await all_rows(memory, tenant)

        try:
            for store in (memory, database):
                for tenant in ("ada", "bob"):
                    await store.create_conversation(id="chat", tenant=tenant)
                await keep(store, said[:cut])
            await compare()
            for store in (memory, database):
                await keep(store, said[cut:])
            await compare()
            for store in (memory, database):
                for each in said[:1]:
                    await store.upsert_message(
                        "chat",
                        structs.replace(each.message, parts=()),
                        turn_id=each.turn.id,
                        tenant=each.tenant,
                    )
                for each in said[1:2]:
                    ended = structs.replace(each.turn, status="failed", agent="late")
                    await store.append_turn(ended, tenant=each.tenant)
            await compare()
            for store in (memory, database):
                await store.delete_conversation("chat", tenant="ada")
            await compare()
        finally:
            await database.close()

    asyncio.run(walk())


def test_a_day_that_somebody_writes_into_at_this_moment_is_counted_but_not_tallied(
    postgres: Databases,
) -> None:
    url = postgres.fresh()

    async def counted() -> list[int]:
        store = PostgresConversationStore(url)
        await store.open()
        try:
            rows = await store.count_turns("tenant", SPAN, tenant=None)
            return [row.turns for row in rows]
        finally:
            await store.close()

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("INSERT INTO rejoinder.conversation (tenant, id) VALUES ('ada', 'chat')")
        connection.execute(TURN_OF_THE_PAST, ("one",))
        with psycopg.connect(url) as writer:
            writer.execute(TURN_OF_THE_PAST, ("two",))
            assert asyncio.run(counted()) == [1]
            assert connection.execute("SELECT day FROM rejoinder.tallied_day").fetchall() == []
        assert asyncio.run(counted()) == [2]
        assert connection.execute("SELECT day FROM rejoinder.tallied_day").fetchall() == [
            (date(2025, 11, 19),)
        ]
        connection.execute(TURN_OF_THE_PAST, ("three",))
        assert connection.execute("SELECT day FROM rejoinder.doubted_day").fetchall() == [
            (date(2025, 11, 19),)
        ]
        assert asyncio.run(counted()) == [3]
        assert connection.execute("SELECT day FROM rejoinder.doubted_day").fetchall() == []


def test_whoever_may_only_read_counts_all_the_same(postgres: Databases) -> None:
    url = postgres.fresh()

    async def counted() -> list[int]:
        store = PostgresConversationStore(f"{url}&options=-cdefault_transaction_read_only%3Don")
        await store.open()
        try:
            return [row.turns for row in await store.count_turns("tenant", SPAN, tenant=None)]
        finally:
            await store.close()

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("INSERT INTO rejoinder.conversation (tenant, id) VALUES ('ada', 'chat')")
        connection.execute(TURN_OF_THE_PAST, ("one",))
        assert asyncio.run(counted()) == [1]
        assert connection.execute("SELECT day FROM rejoinder.tallied_day").fetchall() == []


@pytest.fixture
def recorded() -> InMemoryConversationStore:
    """Two turns of one day, and one of another tenant."""
    store = InMemoryConversationStore()
    day = datetime(2025, 11, 18, 9, tzinfo=UTC)

    def call(cost: Cost | None) -> ProviderCall:
        return ProviderCall(
            id="call",
            provider="vendor",
            model="fast",
            started_at=day,
            first_token_at=day + timedelta(milliseconds=300),
            status="succeeded",
            usage=Usage(input_tokens=100, output_tokens=20, cache_read_tokens=60),
            cost=cost,
        )

    def turn(id: str, status: TurnStatus, ms: int) -> Turn:
        return Turn(
            id=id,
            conversation_id="chat",
            status=status,
            created_at=day,
            agent="shout",
            started_at=day,
            finished_at=day + timedelta(milliseconds=ms),
        )

    priced = Cost(amount=Decimal("0.0021"))
    tool = ToolCall(name="look", call_id="1", state="output-error", error_text="no")
    answer = Message(id="answer", role="assistant", parts=(tool,), created_at=day)
    said = [
        Said("ada", turn("1", "succeeded", 1000), (call(priced),), answer),
        Said("ada", turn("2", "failed", 2000), (call(None),), Message(id="2", role="assistant")),
        Said("bob", turn("3", "succeeded", 9000), (call(priced),), Message(id="3", role="assistant")),
    ]

    async def keep_all() -> None:
        for tenant in ("ada", "bob"):
            await store.create_conversation(id="chat", tenant=tenant)
        await keep(store, said)

    asyncio.run(keep_all())
    return store


@pytest.mark.parametrize(
    ("measure", "rows"),
    [
        (
            "turns",
            [
                {
                    "key": "2025-11-18",
                    "turns": 2,
                    "succeeded": 1,
                    "failed": 1,
                    "cancelled": 0,
                    "interrupted": 0,
                    "waiting": 0,
                }
            ],
        ),
        (
            "tokens",
            [
                {
                    "key": "2025-11-18",
                    "input": 200,
                    "output": 40,
                    "cacheRead": 120,
                    "cacheWrite": 0,
                    "reasoning": 0,
                    "total": 240,
                }
            ],
        ),
        ("cost", [{"key": "2025-11-18", "amount": "0.0021", "currency": "USD", "unpricedCalls": 1}]),
        (
            "latency",
            [
                {
                    "key": "2025-11-18",
                    "turns": 2,
                    "firstTokenP50": 300,
                    "firstTokenP95": 300,
                    "durationP50": 1500,
                    "durationP95": 1950,
                }
            ],
        ),
        (
            "tools",
            [{"key": "2025-11-18", "tool": "look", "calls": 1, "succeeded": 0, "failed": 1, "denied": 0}],
        ),
        (
            "endings",
            [
                {"key": "2025-11-18", "reason": "failed", "turns": 1},
                {"key": "2025-11-18", "reason": "succeeded", "turns": 1},
            ],
        ),
    ],
)
def test_a_day_comes_to_what_its_turns_say_and_to_nothing_of_another_tenant(
    recorded: InMemoryConversationStore, measure: Measure, rows: list[dict[str, str | int]]
) -> None:
    found = asyncio.run(measured(recorded, measure, "day", SPAN, tenant="ada"))
    assert msgspec.to_builtins(found) == rows
