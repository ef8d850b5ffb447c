"""Promises about how a turn ends: whole, once, by its owner; and about who its owner is."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec import structs

from rejoinder.messages import Cost, Json, Message, StepStart, Text, TurnError, Usage
from rejoinder.ports.journal import ROOT, Claim, ClaimLost, Seal, TurnBegun, TurnEnding, TurnExists
from rejoinder.ports.store import ConversationStore
from rejoinder.testing.store_contract.samples import (
    FULL_CALL,
    FULL_RECORD,
    LEASE_SECONDS,
    ODD_TEXTS,
    PARTS,
    append,
    begin,
    call,
    chat,
    ids,
    new_turn,
    page,
    pages,
    said,
)
from rejoinder.testing.store_contract.suite import Advance, Suite, promise

ENDINGS: Final[tuple[TurnEnding, ...]] = ("waiting", "succeeded", "failed", "cancelled", "interrupted")


def answer(id: str = "answer", text: str = "Warm") -> Message:
    """What a turn says."""
    return said(id, text, role="assistant")


def seal(claim: Claim, *messages: Message, **changes: Json) -> Seal:
    """An end that went well, if nothing else is said."""
    return structs.replace(Seal(claim=claim, status="succeeded", messages=messages), **changes)


class Endings(Suite):
    """`end_turn` seals a turn: its last page, its message, what it consumed and how it ended, or nothing of it."""

    @pytest.mark.parametrize("status", ENDINGS)
    @promise
    async def test_a_turn_ends_in_every_way_and_is_not_live_then(
        self, store: ConversationStore, status: TurnEnding
    ) -> None:
        begun = await begin(store)
        ended = await store.end_turn(seal(begun.claim, answer(), status=status))
        assert ended == await store.get_turn("turn")
        assert ended.status == status
        assert ended.finished_at is not None
        assert await store.live_turn("chat") is None
        assert ids(await store.list_messages("chat")) == ["answer"]

    @promise
    async def test_all_of_a_seal_is_kept(self, store: ConversationStore) -> None:
        begun = await begin(store, "turn", said("u1"), metadata={"began": True})
        message = Message(id="answer", role="assistant", parts=(*PARTS.values(),), status="complete")
        full = FULL_RECORD
        ended = await store.end_turn(
            seal(
                begun.claim,
                message,
                status="failed",
                page=pages(1)[0],
                usage=full.usage,
                cost=full.cost,
                provider_calls=(FULL_CALL, call("second")),
                error=full.error,
                agent_memory=full.agent_memory,
                metadata=full.metadata,
            )
        )
        assert ended == await store.get_turn("turn")
        for name in ("usage", "cost", "error", "agent_memory", "metadata"):
            assert getattr(ended, name) == getattr(full, name), name
        assert await store.list_provider_calls("turn") == [FULL_CALL, call("second")]
        assert list((await store.read_pages("turn", events=True)).pages) == pages(1)
        stored = await store.get_message("chat", "answer")
        assert stored is not None
        assert structs.replace(stored.message, created_at=None) == message
        assert (stored.seq, stored.parent_id, stored.turn_id) == (1, "u1", "turn")

    @promise
    async def test_a_seal_that_says_little_keeps_what_the_turn_began_with(
        self, store: ConversationStore
    ) -> None:
        begun = await begin(store, metadata={"began": True})
        ended = await store.end_turn(seal(begun.claim))
        assert ended.metadata == {"began": True}
        assert (ended.usage, ended.cost, ended.error, ended.agent_memory) == (None, None, None, None)
        assert await store.list_provider_calls("turn") == []

    @pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
    @promise
    async def test_a_seal_keeps_odd_text(self, store: ConversationStore, text: str) -> None:
        begun = await begin(store)
        error = TurnError(message=text, code=text or "-", provider=text or "-", raw={"said": text})
        ended = await store.end_turn(
            seal(begun.claim, answer(text=text), error=error, agent_memory={text: text}, status="failed")
        )
        assert (ended.error, ended.agent_memory) == (error, {text: text})
        stored = await store.get_message("chat", "answer")
        assert stored is not None
        assert stored.message.parts == (Text(text=text),)

    @promise
    async def test_sealing_again_changes_nothing(self, store: ConversationStore) -> None:
        begun = await begin(store)
        first = await store.end_turn(seal(begun.claim, answer(), page=pages(1)[0]))
        again = await store.end_turn(
            seal(begun.claim, answer(text="Cold"), status="failed", usage=Usage(input_tokens=1))
        )
        assert again == first == await store.get_turn("turn")
        (stored,) = await store.list_messages("chat")
        assert stored.message.parts == (Text(text="Warm"),)

    @promise
    async def test_a_seal_whose_answer_was_lost_can_be_sent_again(self, store: ConversationStore) -> None:
        begun = await begin(store)
        whole = seal(begun.claim, answer(), page=pages(1)[0], provider_calls=(call("one"),))
        assert await store.end_turn(whole) == await store.end_turn(whole)
        assert list((await store.read_pages("turn", events=True)).pages) == pages(1)
        assert await store.list_provider_calls("turn") == [call("one")]

    @promise
    async def test_a_last_page_that_came_before_is_no_obstacle(self, store: ConversationStore) -> None:
        begun = await begin(store)
        await append(store, begun.claim, *pages(1))
        ended = await store.end_turn(seal(begun.claim, answer(), page=pages(1)[0]))
        assert ended.status == "succeeded"
        assert list((await store.read_pages("turn", events=True)).pages) == pages(1)

    @pytest.mark.parametrize(
        "wrong", [page(1, 2, b"x"), page(0, 0, b"other"), page(0, 1, b"x")], ids=["gap", "taken", "frame"]
    )
    @promise
    async def test_a_seal_whose_page_is_refused_writes_nothing(
        self, store: ConversationStore, wrong: Json
    ) -> None:
        begun = await begin(store)
        if wrong.number == 0:
            await append(store, begun.claim, *pages(1))
        with pytest.raises(ClaimLost):
            await store.end_turn(
                seal(begun.claim, answer(), page=wrong, provider_calls=(call("one"),), metadata={"a": 1})
            )
        turn = await store.get_turn("turn")
        assert turn is not None
        assert (turn.status, turn.metadata) == ("running", None)
        assert await store.list_messages("chat") == []
        assert await store.list_provider_calls("turn") == []

    @promise
    async def test_a_seal_by_an_owner_who_lost_the_turn_writes_nothing(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        begun = await begin(store)
        await advance(2 * LEASE_SECONDS)
        (taken,) = await store.stale_turns(owner="other", lease_seconds=LEASE_SECONDS)
        with pytest.raises(ClaimLost):
            await store.end_turn(seal(begun.claim, answer(), page=pages(1)[0]))
        assert await store.list_messages("chat") == []
        assert (await store.read_pages("turn")).next_page == 0
        ended = await store.end_turn(seal(taken, answer(text="Sealed"), status="interrupted"))
        assert ended.status == "interrupted"
        with pytest.raises(ClaimLost):
            await store.end_turn(seal(begun.claim, answer()))

    @promise
    async def test_a_seal_of_a_turn_that_is_gone_is_refused(self, store: ConversationStore) -> None:
        begun = await begin(store)
        await store.delete_conversation("chat")
        with pytest.raises(ClaimLost):
            await store.end_turn(seal(begun.claim, answer()))
        assert await store.get_conversation("chat") is None

    @promise
    async def test_a_seal_stores_a_message_that_is_there_anew_in_its_place(
        self, store: ConversationStore
    ) -> None:
        await chat(store, "u1", "a1", "u2")
        begun = await begin(store, continues=answer("a1", "It is"), after="u2")
        longer = Message(
            id="a1", role="assistant", parts=(Text(text="It is"), StepStart(), Text(text="warm"))
        )
        await store.end_turn(seal(begun.claim, longer))
        stored = await store.list_messages("chat")
        assert ids(stored) == ["u1", "a1", "u2"]
        assert stored[1].message.parts == longer.parts
        assert stored[1].seq == 1

    @promise
    async def test_several_messages_of_a_seal_follow_each_other(self, store: ConversationStore) -> None:
        begun = await begin(store, "turn", said("u1"))
        await store.end_turn(seal(begun.claim, answer("a1"), answer("a2"), said("u2"), answer("a3")))
        stored = await store.list_messages("chat")
        assert ids(stored) == ["u1", "a1", "a2", "u2", "a3"]
        assert [each.seq for each in stored] == [0, 1, 2, 3, 4]

    @promise
    async def test_an_answer_follows_what_came_in_meanwhile(self, store: ConversationStore) -> None:
        begun = await begin(store, "turn", said("u1"))
        await store.append_messages("chat", [said("u2", "and in Bern?")])
        await store.end_turn(seal(begun.claim, answer("a1")))
        assert ids(await store.list_messages("chat")) == ["u1", "u2", "a1"]

    @promise
    async def test_an_answer_finds_its_branch_while_somebody_looks_at_another(
        self, store: ConversationStore
    ) -> None:
        await chat(store, "u1", "a1")
        begun = await begin(store, "turn", said("u2"), after=ROOT)  # an edit of the first message
        await store.choose_branch("chat", "a1")
        await store.end_turn(seal(begun.claim, answer("a2")))
        assert ids(await store.list_messages("chat")) == ["u1", "a1"]
        assert ids(await store.list_messages("chat", branch="a2")) == ["u2", "a2"]
        assert ids(await store.list_siblings("chat", "u1")) == ["u1", "u2"]

    @promise
    async def test_an_answer_to_what_was_deleted_follows_the_newest(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        begun = await begin(store, "turn", said("u2"))
        await store.delete_message("chat", "u2")
        await store.end_turn(seal(begun.claim, answer("a2")))
        assert ids(await store.list_messages("chat")) == ["u1", "a1", "a2"]

    @promise
    async def test_a_turn_that_waits_is_continued_by_the_next(self, store: ConversationStore) -> None:
        begun = await begin(store, "first", said("u1"))
        asking = Message(id="a1", role="assistant", parts=(PARTS["tool call, asked for"],))
        await store.end_turn(seal(begun.claim, asking, status="waiting"))
        answered = Message(id="a1", role="assistant", parts=(PARTS["tool call, denied"],))
        second = await begin(store, "second", continues=answered)
        assert second.past[-1].message.parts == answered.parts
        await store.end_turn(
            seal(second.claim, Message(id="a1", role="assistant", parts=(*answered.parts, Text(text="Fine"))))
        )
        (_, stored) = await store.list_messages("chat")
        assert stored.message.parts == (*answered.parts, Text(text="Fine"))
        assert [turn.status for turn in await store.list_turns("chat")] == ["waiting", "succeeded"]

    @promise
    async def test_cost_keeps_every_digit(self, store: ConversationStore) -> None:
        begun = await begin(store)
        assert FULL_RECORD.cost is not None
        cost = Cost(amount=FULL_RECORD.cost.amount / 7, currency="EUR")
        ended = await store.end_turn(seal(begun.claim, cost=cost))
        assert ended.cost == cost


class Claims(Suite):
    """A turn has one owner at a time, and everybody can see when it has none."""

    @promise
    async def test_a_lease_is_prolonged(self, store: ConversationStore, advance: Advance) -> None:
        begun = await begin(store)
        await advance(LEASE_SECONDS / 2)
        (renewed,) = await store.renew([begun.claim], lease_seconds=LEASE_SECONDS)
        assert renewed is not None
        assert renewed == structs.replace(begun.claim, lease_until=renewed.lease_until)
        await advance(LEASE_SECONDS * 0.75)
        assert await store.stale_turns(owner="other", lease_seconds=LEASE_SECONDS) == []

    @promise
    async def test_a_lease_that_ran_out_is_ours_until_somebody_takes_the_turn(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        begun = await begin(store)
        await advance(3 * LEASE_SECONDS)
        (renewed,) = await store.renew([begun.claim], lease_seconds=LEASE_SECONDS)
        assert renewed is not None
        assert await store.stale_turns(owner="other", lease_seconds=LEASE_SECONDS) == []

    @promise
    async def test_claims_are_renewed_each_by_itself(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        claims = [(await begin(store, f"turn-{n}", conversation_id=f"chat-{n}")).claim for n in range(4)]
        await store.end_turn(seal(claims[1]))
        await store.delete_conversation("chat-2")
        old = structs.replace(claims[3], epoch=claims[3].epoch + 1)
        unknown = structs.replace(claims[0], tenant="somebody else")
        renewed = await store.renew([*claims[:3], old, unknown], lease_seconds=LEASE_SECONDS)
        assert [each is not None for each in renewed] == [True, False, False, False, False]
        assert await store.renew([], lease_seconds=LEASE_SECONDS) == []

    @promise
    async def test_a_turn_without_an_owner_is_taken_over_with_a_new_epoch(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        begun = await begin(store)
        assert await store.stale_turns(owner="other", lease_seconds=LEASE_SECONDS) == []
        await advance(2 * LEASE_SECONDS)
        (taken,) = await store.stale_turns(owner="other", lease_seconds=LEASE_SECONDS)
        assert (taken.tenant, taken.conversation_id, taken.turn_id) == ("default", "chat", "turn")
        assert (taken.owner, taken.epoch) == ("other", begun.claim.epoch + 1)
        assert await store.renew([begun.claim, taken], lease_seconds=LEASE_SECONDS) != [None, None]
        assert (await store.renew([begun.claim], lease_seconds=LEASE_SECONDS)) == [None]
        assert await store.stale_turns(owner="third", lease_seconds=LEASE_SECONDS) == []

    @promise
    async def test_turns_without_owners_are_taken_oldest_first_and_of_every_tenant(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        for n in range(3):
            await begin(store, f"turn-{n}", conversation_id="chat", tenant=f"tenant-{n}")
            await advance(1)
        await advance(2 * LEASE_SECONDS)
        first = await store.stale_turns(owner="other", lease_seconds=LEASE_SECONDS, limit=2)
        rest = await store.stale_turns(owner="other", lease_seconds=LEASE_SECONDS, limit=2)
        assert [claim.turn_id for claim in (*first, *rest)] == ["turn-0", "turn-1", "turn-2"]
        assert [claim.tenant for claim in (*first, *rest)] == ["tenant-0", "tenant-1", "tenant-2"]

    @promise
    async def test_turns_that_are_over_or_wait_need_no_owner(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        for n, status in enumerate(ENDINGS):
            begun = await begin(store, f"turn-{n}", conversation_id=f"chat-{n}")
            await store.end_turn(seal(begun.claim, status=status))
        await advance(100 * LEASE_SECONDS)
        assert await store.stale_turns(owner="other", lease_seconds=LEASE_SECONDS) == []

    @promise
    async def test_a_queued_turn_is_taken_over_like_a_running_one(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        await begin(store, status="queued")
        await advance(2 * LEASE_SECONDS)
        (taken,) = await store.stale_turns(owner="other", lease_seconds=LEASE_SECONDS)
        assert taken.turn_id == "turn"

    @promise
    async def test_a_stop_is_seen_by_the_writer_and_by_readers(
        self, store: ConversationStore, peer: ConversationStore
    ) -> None:
        begun = await begin(store)
        assert await peer.request_stop("turn")
        assert await peer.request_stop("turn")
        (appended,) = await append(store, begun.claim, *pages(1))
        assert getattr(appended, "stop_requested", None) is True
        assert (await store.read_pages("turn")).stop_requested

    @promise
    async def test_nobody_stops_what_is_over_or_not_there_or_anothers(self, store: ConversationStore) -> None:
        begun = await begin(store)
        assert not await store.request_stop("elsewhere")
        assert not await store.request_stop("turn", tenant="somebody else")
        await store.end_turn(seal(begun.claim))
        assert not await store.request_stop("turn")
        assert not (await store.read_pages("turn")).stop_requested

    @promise
    async def test_a_request_that_comes_again_after_the_end_finds_the_turn(
        self, store: ConversationStore
    ) -> None:
        request = new_turn("turn", said("u1"), idempotency_key="k", fingerprint="f")
        begun = await store.begin_turn(request)
        assert isinstance(begun, TurnBegun)
        ended = await store.end_turn(seal(begun.claim, answer()))
        assert await store.begin_turn(structs.replace(request, id="again")) == TurnExists(turn=ended)
