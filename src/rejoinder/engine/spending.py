"""What a conversation has consumed and cost so far: the sums over its turns."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from msgspec import Struct

from rejoinder.messages import Cost, Turn, Usage
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore

TURNS_PAGE: Final = 500
"""So many turns are read at once."""


class Spent(Struct, frozen=True, kw_only=True):
    """Sums over turns. `costs` has one for each currency, of the turns whose price is known.

    `unpriced_turns` consumed something at a price that nobody knew: while there are any, the sums are not all.
    """

    turns: int
    usage: Usage
    costs: tuple[Cost, ...] = ()
    unpriced_turns: int = 0

    @property
    def cost(self) -> Cost | None:
        """What it cost; None is unknown: a price is missing, or there are several currencies."""
        if self.unpriced_turns or len(self.costs) > 1:
            return None
        return self.costs[0] if self.costs else None


async def spent_in(store: ConversationStore, conversation_id: str, *, tenant: str = DEFAULT_TENANT) -> Spent:
    """Add up a conversation. It reads the record of every turn."""
    turns = unpriced = 0
    usage = Usage()
    sums: dict[str, Decimal] = {}
    before: str | None = None
    while page := await store.list_turns(conversation_id, limit=TURNS_PAGE, before=before, tenant=tenant):
        before = page[0].id
        for turn in page:
            turns += 1
            usage += turn.usage or Usage()
            unpriced += _is_unpriced(turn)
            if turn.cost is not None:
                sums[turn.cost.currency] = sums.get(turn.cost.currency, Decimal(0)) + turn.cost.amount
    costs = tuple(Cost(amount=amount, currency=currency) for currency, amount in sorted(sums.items()))
    return Spent(turns=turns, usage=usage, costs=costs, unpriced_turns=unpriced)


def _is_unpriced(turn: Turn) -> bool:
    return turn.cost is None and turn.usage is not None
