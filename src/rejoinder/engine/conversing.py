"""The engine of the conversation core: turns of any provider over any store, without a server.

    engine = DefaultConversationEngine(store=store, history_builder=RecentNTurnsHistoryBuilder(max_turns=8))
    output = await engine.run_turn(TurnInput(conversation_id=…, user_messages=[…], provider=…, provider_params=…))

It is the same machine that a server's turns run on (`carry_out`). A turn is made by a task of the engine's, which
seals it in every case; whoever awaits or iterates only listens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Final, NamedTuple, Protocol, Self, TypedDict, assert_never

from msgspec import structs

from rejoinder.convert.core_content import ConversationMessage
from rejoinder.engine.accounts import Price
from rejoinder.engine.conversation_turns import (
    StreamingTurn,
    TurnInput,
    TurnOutput,
)
from rejoinder.engine.histories import BudgetedHistoryBuilder
from rejoinder.engine.model_agent import ModelAgent
from rejoinder.engine.prices import installed_price
from rejoinder.engine.running import TurnLimits, carry_out
from rejoinder.engine.spending import Spent, spent_in
from rejoinder.engine.telling import TurnTold
from rejoinder.engine.turn_outputs import output_of
from rejoinder.engine.witness import Witness
from rejoinder.engine.writer import LEASE_SECONDS, PageWriter
from rejoinder.errors import RejoinderError
from rejoinder.history.exchanges import answered_by
from rejoinder.messages import AgentContext, Message, ToolCall, Turn
from rejoinder.ports.any_message import ours
from rejoinder.ports.clock import Clock, NewId, SystemClock, random_id
from rejoinder.ports.history import HistoryBuilder
from rejoinder.ports.journal import (
    SUBJECT,
    ConversationBusy,
    NewTurn,
    NoSuchConversation,
    NoSuchMessage,
    Opening,
    Seal,
    TurnBegun,
    TurnExists,
    TurnInProgress,
)
from rejoinder.ports.providers import ProviderCallParams
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore

DELEGATED: Final = "tool-results"
"""What begins a turn that goes on with the results of calls that somebody else has made."""


class ForeignMessage(RejoinderError):
    """A message names another conversation than the turn that it was given to. Mend one of them."""

    code = "foreign-message"


class TurnFailed(RejoinderError):
    """The turn failed by what its provider said, or by a limit. `turn` is its record, with the error in it.

    Where the provider raised something, that is raised instead.
    """

    code = "turn-failed"

    def __init__(self, turn: Turn) -> None:
        why = "unknown" if turn.error is None else turn.error.message
        super().__init__(f"turn {turn.id!r} failed: {why}")
        self.turn = turn


class ConversationEngine(Protocol):
    """What an engine can do."""

    @property
    def store(self) -> ConversationStore:
        """Where everything is kept."""
        ...

    @property
    def history_builder(self) -> HistoryBuilder:
        """What chooses what a model is shown."""
        ...

    async def run_turn(self, input: TurnInput) -> TurnOutput:
        """Make an answer and wait for all of it."""
        ...

    async def run_streaming_turn(self, input: TurnInput) -> StreamingTurn:
        """Make an answer and hear of it as it comes."""
        ...


class DefaultConversationEngineOptions(TypedDict):
    """What `DefaultConversationEngine` is made with."""

    store: ConversationStore
    history_builder: HistoryBuilder


class _Opening(NamedTuple):
    new: NewTurn
    said: tuple[Message, ...]


class DefaultConversationEngine:
    """Runs turns over a store.

    A conversation that is not there raises `NoSuchConversation`, unless `create_if_missing`. `price` says what calls
    cost; by default the extra `prices` does, where it is installed. Used as `async with engine`, it waits at the end
    for the turns that still run; without, they are sealed as interrupted when the loop ends.
    """

    def __init__(
        self,
        *,
        store: ConversationStore,
        history_builder: HistoryBuilder | None = None,
        create_if_missing: bool = False,
        limits: TurnLimits | None = None,
        price: Price | None = None,
        lease_seconds: float = LEASE_SECONDS,
        clock: Clock | None = None,
        new_id: NewId = random_id,
    ) -> None:
        self.store: Final = store
        self.history_builder: Final[HistoryBuilder] = history_builder or BudgetedHistoryBuilder()
        self._create_if_missing = create_if_missing
        self._limits = limits or TurnLimits()
        self._price = price or installed_price()
        self._lease_seconds = lease_seconds
        self._clock: Clock = clock or SystemClock()
        self._new_id = new_id
        self._owner = f"engine:{new_id()[:12]}"
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.drain()

    async def drain(self) -> None:
        """Come back when every turn that runs now is sealed."""
        while self._running:
            await asyncio.wait(self._running)

    async def spent(self, conversation_id: str, *, tenant: str = DEFAULT_TENANT) -> Spent:
        """What a conversation has consumed and cost so far, added up over its turns."""
        return await spent_in(self.store, conversation_id, tenant=tenant)

    async def run_turn(self, input: TurnInput) -> TurnOutput:
        """Make an answer and wait for all of it.

        Raises what the provider raised, with the turn recorded as failed. Cancelled, the turn is stopped, sealed as
        cancelled with what it has, and then the cancellation goes on.
        """
        told, task = self._start(input, stream=False)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await _stopped(told, task)
            raise
        return await told.final

    async def run_streaming_turn(self, input: TurnInput) -> TurnTold:
        """Make an answer and hear of it as it comes; it comes back when the turn has begun.

        Deltas bring only what is new, and are told once they are kept. Nobody has to listen: the turn ends by itself,
        or by `stop`.
        """
        told, task = self._start(input, stream=True)
        try:
            await told.begun
        except asyncio.CancelledError:
            await _stopped(told, task)
            raise
        return told

    def _start(self, input: TurnInput, *, stream: bool) -> tuple[TurnTold, asyncio.Task[None]]:
        told = TurnTold(input.conversation_id)
        task = asyncio.create_task(self.produce(input, told, stream=stream))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return told, task

    async def produce(self, input: TurnInput, told: TurnTold, *, stream: bool) -> None:
        """Carry out the turn from its claim to its seal. It never raises: those who listen get to know."""
        try:
            opening = await self._opening(input)
            # What is wrong with the tools or the provider is said before anything is claimed.
            model = ModelAgent(
                input.provider,
                params=_params(input, opening.new.agent_context),
                name=opening.new.agent,
                tools=input.tools,
                leaves_unknown_calls=True,
                stream=stream,
            )
            agent = Witness(model, self.history_builder)
            begun = await self._begun(opening.new)
            told.begin(begun)
            async with PageWriter(self.store, clock=self._clock, lease_seconds=self._lease_seconds) as writer:
                turn = await carry_out(
                    begun,
                    agent,
                    store=self.store,
                    writer=writer,
                    history=agent,
                    clock=self._clock,
                    stop=told.pressed,
                    continues=opening.new.continues,
                    budget=input.history_budget,
                    subject=input.subject,
                    committed=told.committed,
                    price=self._price,
                    limits=self._limits,
                )
            if turn.status == "failed":
                told.fail(agent.raised or TurnFailed(turn))
            else:
                told.complete(
                    await output_of(begun, turn, opening.new.continues, opening.said, store=self.store)
                )
        except Exception as error:  # noqa: BLE001  # it is raised to whoever listens
            told.fail(error)
        except asyncio.CancelledError:
            told.fail(asyncio.CancelledError("the loop of this turn has ended"))
            raise

    async def _opening(self, input: TurnInput) -> _Opening:
        """What begins the turn, and what was said that did."""
        for message in input.user_messages:
            if isinstance(message, ConversationMessage) and message.conversation_id != input.conversation_id:
                raise ForeignMessage(
                    f"message {message.id!r} is of conversation {message.conversation_id!r}, and this turn of "
                    f"{input.conversation_id!r}"
                )
        given = ours(input.user_messages)
        said = tuple(message for message in given if message.role != "tool")
        answered = await self._answered(input, [message for message in given if message.role == "tool"])
        if answered is not None and said:
            await self.store.upsert_message(input.conversation_id, answered, tenant=input.tenant)
            answered = None
        id = self._new_id()
        metadata = input.provider_params.metadata
        context = input.agent_context or input.provider_params.agent_context or AgentContext()
        agent = context.agent or metadata.provider
        new = NewTurn(
            id=id,
            conversation_id=input.conversation_id,
            assistant_message_id=self._new_id() if answered is None else answered.id,
            owner=self._owner,
            lease_seconds=self._lease_seconds,
            tenant=input.tenant,
            messages=said,
            continues=answered,
            trigger="submit-message" if answered is None else DELEGATED,
            agent=agent,
            agent_context=structs.replace(
                context, agent=agent, run_id=context.run_id or f"{input.conversation_id}:{id}"
            ),
            metadata=(
                input.metadata
                if input.subject is None
                else {**(input.metadata or {}), SUBJECT: input.subject}
            ),
            create_conversation=self._create_if_missing,
        )
        return _Opening(new, given)

    async def _answered(self, input: TurnInput, results: Sequence[Message]) -> Message | None:
        """The newest answer with these results in the calls that wait for them."""
        calls = [
            (message, part) for message in results for part in message.parts if isinstance(part, ToolCall)
        ]
        if not calls:
            return None
        newest = await self.store.list_messages(input.conversation_id, limit=1, tenant=input.tenant)
        answer = newest[0].message if newest else None
        for message, call in calls:
            # The specification's results name no call; reading one made an id up, out of the id of its message.
            by_name = call.call_id.startswith(f"{message.id}:")
            answer = None if answer is None else answered_by(answer, call, by_name=by_name)
            if answer is None:
                raise NoSuchMessage(
                    f"no call {call.call_id!r} of {call.name!r} waits for a result at the end of this conversation"
                )
        return answer

    async def _claimed(self, new: NewTurn) -> Opening:
        """Begin the turn, or, cancelled, leave no claim behind."""
        beginning = asyncio.ensure_future(self.store.begin_turn(new))
        try:
            return await asyncio.shield(beginning)
        except asyncio.CancelledError:
            await asyncio.wait({beginning})
            if beginning.exception() is None and isinstance(opening := beginning.result(), TurnBegun):
                await self.store.end_turn(Seal(claim=opening.claim, status="cancelled"))
            raise

    async def _begun(self, new: NewTurn) -> TurnBegun:
        if not self._create_if_missing:
            there = await self.store.get_conversation(new.conversation_id, tenant=new.tenant)
            if there is None:
                raise NoSuchConversation(
                    f"no conversation {new.conversation_id!r}: create it, or make the engine with create_if_missing"
                )
        opening = await self._claimed(new)
        match opening:
            case TurnBegun():
                return opening
            case ConversationBusy(turn=turn) | TurnExists(turn=turn):
                raise TurnInProgress(turn)
            case _:
                assert_never(opening)


async def _stopped(told: TurnTold, task: asyncio.Task[None]) -> None:
    """Stop the turn, and wait until it is sealed; cancelled again, cut it off and wait for that."""
    told.stop("cancelled")
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task})


def _params(input: TurnInput, context: AgentContext | None) -> ProviderCallParams:
    """What the provider is called with: the context of this turn, and labels that tie the call to it."""
    given = input.provider_params
    run_id = None if context is None else context.run_id
    extensions = {"correlation.id": run_id, **(given.metadata.extensions or {})}
    return structs.replace(
        given, agent_context=context, metadata=structs.replace(given.metadata, extensions=extensions)
    )
