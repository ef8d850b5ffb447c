"""The history builders: they read a conversation backward, page by page, until no more fits.

What is chosen of what they have read, `rejoinder.history` decides. The cost follows the window and not the
conversation: messages older than what is shown are not read, except those that every history holds, which an index
finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final, TypedDict

from msgspec import structs

from rejoinder.convert.core_content import ConversationMessage
from rejoinder.history.budget import HistoryBudget, tighter
from rejoinder.history.choice import Choice, Known, choose, lasts
from rejoinder.history.exchanges import Placed
from rejoinder.history.tokens import CalibratedCounter, TokenCounter, calibrated, estimated
from rejoinder.ports.any_message import ours, theirs
from rejoinder.ports.history import HistoryBuildRequest, HistoryBuildResult
from rejoinder.ports.journal import Checkpoint, StoredMessage
from rejoinder.wire.json import is_object

PAGE_MESSAGES: Final = 64
"""What is read at first, some thirty turns; each page that follows is twice as long, up to `PAGE_MESSAGES_MAX`."""

PAGE_MESSAGES_MAX: Final = 1_024
"""No page is longer: some megabytes at most."""

ANSWERS_LOOKED_AT: Final = 2
"""So many answers back the usage is looked for that calibrates the estimate: some turns fail without any."""

THROUGH: Final = "through"
"""The field of a checkpoint's metadata that names the last message for which its summary stands."""

HISTORY: Final = "history"
"""The field of a turn's metadata that says what its model was shown."""


class InvalidBudget(ValueError):
    """A limit on cost, and no price to hold it against."""


class RecentNTurnsHistoryBuilderOptions(TypedDict):
    """What `RecentNTurnsHistoryBuilder` is made with."""

    max_turns: int


class BudgetedHistoryBuilder:
    """Shows as much of the newest turns as a budget allows; whole turns, and no call without its result.

    The budget of a request and the builder's own hold both. `counter` counts tokens; without one, they are estimated,
    at a ratio that the conversation's own usage teaches. `cents_per_million_tokens` is what input costs, for
    `max_cost_cents`.
    """

    def __init__(
        self,
        budget: HistoryBudget | None = None,
        *,
        counter: TokenCounter | None = None,
        cents_per_million_tokens: float | None = None,
    ) -> None:
        self.budget = budget or HistoryBudget()
        self.counter = counter
        self._cents_per_million_tokens = cents_per_million_tokens

    async def build_history(self, req: HistoryBuildRequest) -> HistoryBuildResult:
        """Choose what the model is shown. Raises `HistoryOverBudget` if the new messages alone are too much."""
        budget = self._priced(tighter(self.budget, req.budget))
        past = _Past(req)
        known = await past.begin()
        counter = self.counter or await _calibrated(req, past.read)
        while True:
            choice = choose(known, budget=budget, counter=counter)
            if not choice.needs_more or not await past.more():
                return _result(choice, req, budget)
            known = past.known()

    def _priced(self, budget: HistoryBudget) -> HistoryBudget:
        if budget.max_cost_cents is None:
            return budget
        if not self._cents_per_million_tokens:
            raise InvalidBudget("max_cost_cents needs a price: give the builder cents_per_million_tokens")
        affordable = int(budget.max_cost_cents / self._cents_per_million_tokens * 1_000_000)
        # What it reserves for the answer is no input, and is not paid for here.
        most = affordable + budget.reserve_output_tokens
        return structs.replace(
            budget, max_tokens=most if budget.max_tokens is None else min(most, budget.max_tokens)
        )


class RecentNTurnsHistoryBuilder(BudgetedHistoryBuilder):
    """Shows the newest turns, so many before the new messages, within the budget of the request if it has one."""

    def __init__(self, *, max_turns: int, counter: TokenCounter | None = None) -> None:
        super().__init__(HistoryBudget(max_turns=max_turns), counter=counter)


class _Past:
    """What has been read of a conversation so far."""

    def __init__(self, req: HistoryBuildRequest) -> None:
        self._req = req
        self._new = ours(req.new_user_messages)
        self._new_ids = {message.id for message in self._new}
        self.read: list[StoredMessage] = [*(req.past or ())]
        self._lasting: list[StoredMessage] = []
        self._checkpoint: Checkpoint | None = None
        self._page = PAGE_MESSAGES
        self._ended = False

    async def begin(self) -> Known:
        """What is needed in any case."""
        self._checkpoint = await standing_checkpoint(self._req)
        if self._req.past is None:
            await self.more()
        if not self._whole:
            found = await self._req.store.list_lasting_messages(
                self._req.conversation.id, branch=self._req.branch, tenant=self._req.tenant
            )
            self._lasting = [stored for stored in found if stored.message.id not in self._new_ids]
        return self.known()

    async def more(self) -> bool:
        """Read the page before. Answers whether there was anything in it."""
        if not self._older:
            return False
        page = await self._req.store.list_messages(
            self._req.conversation.id,
            limit=self._page,
            before=self.read[0].seq if self.read else None,
            after=None if self._checkpoint is None else self._checkpoint.through_seq,
            branch=self._req.branch,
            tenant=self._req.tenant,
        )
        self._ended = len(page) < self._page
        self._page = min(self._page * 2, PAGE_MESSAGES_MAX)
        self.read = [*page, *self.read]
        return bool(page)

    @property
    def _older(self) -> bool:
        """Whether there may be something before what was read."""
        if self._ended:
            return False
        if not self.read:
            return True
        first = self.read[0]
        return first.parent_id is not None and first.seq > self._through + 1

    @property
    def _whole(self) -> bool:
        """Whether the conversation was read from its first message on."""
        if self._checkpoint is None and self._ended:
            return True
        return bool(self.read) and self.read[0].parent_id is None

    @property
    def _through(self) -> int:
        return -1 if self._checkpoint is None else self._checkpoint.through_seq

    def known(self) -> Known:
        """All of it, without what is new."""
        lasting = {each.seq: each for each in self._lasting}
        # A summary stands for much, but not for these.
        lasting |= {each.seq: each for each in self.read if lasts(each.message)}
        read = [each for each in self.read if each.seq > self._through]
        checkpoint = self._checkpoint
        return Known(
            read=self._placed(read),
            new=self._new,
            lasting=self._placed([lasting[seq] for seq in sorted(lasting)]),
            more=self._older,
            summary=None if checkpoint is None else checkpoint.summary,
            summarised=self._through,
        )

    def _placed(self, stored: Sequence[StoredMessage]) -> tuple[Placed, ...]:
        return tuple(
            Placed(each.message, each.seq, each.turn_id)
            for each in stored
            if each.message.id not in self._new_ids
        )


async def standing_checkpoint(req: HistoryBuildRequest) -> Checkpoint | None:
    """The newest summary that stands for messages of this branch."""
    found = await req.store.list_checkpoints(req.conversation.id, tenant=req.tenant)
    for checkpoint in sorted(found, key=lambda each: each.through_seq, reverse=True):
        if req.past and req.past[0].seq <= checkpoint.through_seq:
            last = [stored for stored in req.past if stored.seq <= checkpoint.through_seq][-1:]
        else:
            last = await req.store.list_messages(
                req.conversation.id,
                limit=1,
                before=checkpoint.through_seq + 1,
                branch=req.branch,
                tenant=req.tenant,
            )
        named = (checkpoint.metadata or {}).get(THROUGH)
        there = last and (last[0].message.id == named if named else last[0].seq == checkpoint.through_seq)
        if there:
            return checkpoint
    return None


async def _calibrated(req: HistoryBuildRequest, newest: Sequence[StoredMessage]) -> CalibratedCounter:
    """A counter that has learnt from what the newest answer of this conversation took to make."""
    answers = (stored for stored in reversed(newest) if stored.role == "assistant" and stored.turn_id)
    for answer in islice(answers, ANSWERS_LOOKED_AT):
        turn = await req.store.get_turn(answer.turn_id or "", tenant=req.tenant)
        shown = (turn.metadata or {}).get(HISTORY) if turn is not None else None
        if is_object(shown):
            estimate, counted = shown.get("estimate"), shown.get("inputTokens")
            if isinstance(estimate, int) and isinstance(counted, int) and estimate > 0 and counted > 0:
                return calibrated(estimate, counted)
    return CalibratedCounter()


def _result(choice: Choice, req: HistoryBuildRequest, budget: HistoryBudget) -> HistoryBuildResult:
    told = any(isinstance(message, ConversationMessage) for message in req.new_user_messages)
    return HistoryBuildResult(
        messages=theirs(choice.messages, req.conversation) if told else choice.messages,
        truncated=bool(choice.drops or choice.trims),
        tokens=choice.tokens,
        turns=choice.turns,
        estimate=sum(map(estimated, choice.messages)),
        budget=budget,
        drops=choice.drops,
        trims=choice.trims,
    )
