"""Turns in the database: their records, and the claims on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

import msgspec
import psycopg
from msgspec import structs

from rejoinder.convert.escapes import load_text, store_json, store_text
from rejoinder.convert.stored_rows import Stored
from rejoinder.messages import AgentContext, Cost, JsonObject, ProviderCall, Turn, TurnError, Usage
from rejoinder.ports.journal import AlreadyExists, Claim
from rejoinder.ports.store import DEFAULT_TENANT
from rejoinder.stores.postgres import failures
from rejoinder.stores.postgres.conversations import no_conversation, payload
from rejoinder.stores.postgres.database import Database
from rejoinder.stores.postgres.incoming import provider_call_of, turn_of
from rejoinder.stores.postgres.outgoing import as_rows
from rejoinder.stores.postgres.values import Jsonb, JsonRows, Numbers, Texts, Value


class Turns:
    """Turns as records, and the claims on them."""

    _database: Database

    async def append_turn(
        self,
        turn: Turn,
        *,
        provider_calls: Sequence[ProviderCall] = (),
        tenant: str = DEFAULT_TENANT,
    ) -> None:
        if turn.status in {"queued", "running"}:
            raise ValueError(f"turn {turn.id!r} is {turn.status}: a record is of a turn that is over")
        try:
            recorded, *_ = await self._database.run(
                ("record_turn", (tenant, turn.conversation_id, turn.id, *_record(turn))),
                ("touch_conversation_of", (tenant, turn.id)),
                ("forget_provider_calls", (tenant, turn.id)),
                ("put_provider_calls", (tenant, turn.id, call_rows(provider_calls or turn.provider_calls))),
            )
        except psycopg.IntegrityError as error:
            raise failures.failed(error, self._database.where) from error
        if not recorded:
            if not await self._database.ask("get_conversation", tenant, turn.conversation_id):
                raise no_conversation(turn.conversation_id)
            raise AlreadyExists(f"turn {turn.id!r} is live or another conversation's: take another id")

    async def get_turn(self, turn_id: str, *, tenant: str = DEFAULT_TENANT) -> Turn | None:
        rows = await self._database.ask("get_turn", tenant, turn_id)
        return turn_of(rows[0]) if rows else None

    async def list_turns(
        self,
        conversation_id: str,
        *,
        limit: int | None = None,
        before: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> list[Turn]:
        rows, calls = await self._database.run(
            ("list_turns", (tenant, conversation_id, before, limit)),
            ("list_calls_of_turns", (tenant, conversation_id, before, limit)),
        )
        of: defaultdict[str, list[ProviderCall]] = defaultdict(list)
        for turn_id, *call in calls:
            of[load_text(turn_id)].append(provider_call_of(tuple(call)))
        turns = [turn_of(row) for row in reversed(rows)]
        return [structs.replace(turn, provider_calls=tuple(of[turn.id])) for turn in turns]

    async def list_provider_calls(self, turn_id: str, *, tenant: str = DEFAULT_TENANT) -> list[ProviderCall]:
        rows = await self._database.ask("list_provider_calls", tenant, turn_id)
        return [provider_call_of(row) for row in rows]

    async def live_turn(self, conversation_id: str, *, tenant: str = DEFAULT_TENANT) -> Turn | None:
        rows = await self._database.ask("live_turn", tenant, conversation_id)
        return turn_of(rows[0]) if rows else None

    async def renew(self, claims: Sequence[Claim], *, lease_seconds: float) -> list[Claim | None]:
        rows = await self._database.ask(
            "renew",
            Texts([claim.tenant for claim in claims]),
            Texts([claim.turn_id for claim in claims]),
            Numbers([claim.epoch for claim in claims]),
            float(lease_seconds),
        )
        held: dict[int, datetime] = dict(rows)
        return [
            structs.replace(claim, lease_until=held[place]) if place in held else None
            for place, claim in enumerate(claims)
        ]

    async def stale_turns(self, *, owner: str, lease_seconds: float, limit: int = 8) -> list[Claim]:
        rows = await self._database.ask("stale_turns", owner, float(lease_seconds), limit)
        return [
            Claim(
                tenant=load_text(tenant),
                conversation_id=load_text(conversation),
                turn_id=load_text(turn),
                epoch=epoch,
                owner=owner,
                lease_until=lease_until,
            )
            for tenant, conversation, turn, epoch, lease_until in rows
        ]


def context_value(context: AgentContext | None) -> Jsonb | None:
    """An agent context as a column."""
    return None if context is None else Jsonb(msgspec.to_builtins(context))


def outcome(usage: Usage | None, cost: Cost | None, error: TurnError | None) -> tuple[Value, ...]:
    """What a turn consumed and why it failed, as columns: six of usage, three of cost, four of the error."""
    return (
        *structs.astuple(Usage() if usage is None else usage),
        *((None, None, None) if cost is None else (cost.amount, cost.currency, payload(cost.prices))),
        *(
            (None, None, None, None)
            if error is None
            else (error.message, error.code, error.provider, Jsonb(error.raw))
        ),
    )


def memory_value(memory: JsonObject | None) -> Jsonb | None:
    """What an agent wants to remember, as a column: null is nothing."""
    return None if memory is None else Jsonb(memory)


def call_rows(calls: Sequence[ProviderCall]) -> JsonRows:
    """Provider calls as `put_provider_calls` takes them."""
    return as_rows(_call_row(call, order) for order, call in enumerate(calls))


def _record(turn: Turn) -> tuple[Value, ...]:
    return (
        turn.status,
        turn.created_at,
        turn.trigger,
        turn.message_id,
        turn.agent,
        turn.started_at,
        turn.finished_at,
        context_value(turn.agent_context),
        memory_value(turn.agent_memory),
        payload(turn.metadata),
        *outcome(turn.usage, turn.cost, turn.error),
    )


def _call_row(call: ProviderCall, order: int) -> dict[str, Stored]:
    row: dict[str, Stored] = {
        "order": order,
        "id": store_text(call.id),
        "provider": store_text(call.provider),
        "model": store_text(call.model),
        "operation": call.operation,
        "status": call.status,
        "started_at": call.started_at.isoformat(),
        "first_token_at": None if call.first_token_at is None else call.first_token_at.isoformat(),
        "finished_at": None if call.finished_at is None else call.finished_at.isoformat(),
        "extensions": None if call.extensions is None else store_json(call.extensions),
        "raw": store_json(call.raw),
    }
    if call.usage is not None:
        row |= structs.asdict(call.usage)
    if call.cost is not None:
        prices = call.cost.prices
        row |= {
            "cost_amount": str(call.cost.amount),
            "cost_currency": store_text(call.cost.currency),
            "cost_prices": None if prices is None else store_json(prices),
        }
    return row
