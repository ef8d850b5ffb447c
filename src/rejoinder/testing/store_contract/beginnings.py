"""Promises about how a turn begins: once, alone, with what the user said."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs

from rejoinder.messages import AgentContext, Message, Text
from rejoinder.ports.journal import (
    ROOT,
    AlreadyContinued,
    AlreadyExists,
    ConversationBusy,
    IdempotencyConflict,
    NoSuchConversation,
    NoSuchMessage,
    Seal,
    TurnBegun,
    TurnEnding,
    TurnExists,
)
from rejoinder.ports.store import PAST_MESSAGES_MAX, ConversationStore
from rejoinder.testing.store_contract.samples import (
    LEASE_SECONDS,
    ODD_TEXTS,
    PARTS,
    append,
    begin,
    chat,
    ids,
    new_turn,
    pages,
    record,
    said,
)
from rejoinder.testing.store_contract.suite import Advance, Suite, promise


class Beginnings(Suite):
    """`begin_turn` claims a conversation for a turn, in one transaction with what the user said."""

    @promise
    async def test_a_turn_begins_with_what_the_user_said(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        begun = await begin(store, "turn", said("u2"))
        assert ids(begun.past) == ["u1", "a1", "u2"]
        assert list(begun.past) == await store.list_messages("chat")
        assert (begun.past[-1].turn_id, begun.past[0].turn_id) == ("turn", None)

    @promise
    async def test_a_turn_is_what_was_asked_for(self, store: ConversationStore) -> None:
        begun = await begin(
            store,
            trigger="regenerate-message",
            agent="support",
            agent_context=AgentContext(run_id="chat:turn", labels={"a": "b"}),
            metadata={"campaign": "spring"},
        )
        turn = begun.turn
        assert turn == await store.get_turn("turn") == await store.live_turn("chat")
        assert (turn.id, turn.conversation_id, turn.status) == ("turn", "chat", "running")
        assert (turn.trigger, turn.agent, turn.metadata) == (
            "regenerate-message",
            "support",
            {"campaign": "spring"},
        )
        assert turn.agent_context == AgentContext(run_id="chat:turn", labels={"a": "b"})
        assert turn.message_id == "answer of turn"
        assert turn.started_at is not None
        assert turn.finished_at is None

    @promise
    async def test_a_turn_holds_a_claim(self, store: ConversationStore) -> None:
        begun = await begin(store)
        claim = begun.claim
        assert (claim.conversation_id, claim.turn_id, claim.owner, claim.epoch) == (
            "chat",
            "turn",
            "worker",
            1,
        )
        assert 0 < (claim.lease_until - begun.turn.created_at).total_seconds() < 2 * LEASE_SECONDS

    @promise
    async def test_a_queued_turn_is_claimed_and_runs_from_its_first_page_on(
        self, store: ConversationStore
    ) -> None:
        begun = await begin(store, status="queued")
        assert (begun.turn.status, begun.turn.started_at) == ("queued", None)
        assert isinstance(await store.begin_turn(new_turn("other")), ConversationBusy)
        await append(store, begun.claim, *pages(1))
        running = await store.get_turn("turn")
        assert running is not None
        assert running.status == "running"
        assert running.started_at is not None
        await append(store, begun.claim, pages(2)[1])
        assert await store.get_turn("turn") == running

    @promise
    async def test_a_turn_creates_its_conversation(self, store: ConversationStore) -> None:
        begun = await begin(store, "turn", said("u1"), title="Trip")
        assert begun.conversation == await store.get_conversation("chat")
        assert (begun.conversation.id, begun.conversation.title) == ("chat", "Trip")

    @promise
    async def test_a_turn_does_not_rename_a_conversation_that_is_there(
        self, store: ConversationStore
    ) -> None:
        await store.create_conversation(id="chat", title="Trip", metadata={"n": 1})
        begun = await begin(store, title="Other")
        assert (begun.conversation.title, begun.conversation.metadata) == ("Trip", {"n": 1})

    @promise
    async def test_a_turn_that_may_not_create_its_conversation_does_not(
        self, store: ConversationStore
    ) -> None:
        with pytest.raises(NoSuchConversation):
            await store.begin_turn(new_turn("turn", said("u1"), create_conversation=False))
        assert await store.get_conversation("chat") is None
        assert await store.get_turn("turn") is None
        await store.create_conversation(id="chat")
        await begin(store, "turn", said("u1"), create_conversation=False)

    @promise
    async def test_the_past_is_the_newest_messages(self, store: ConversationStore) -> None:
        names = [f"m{n}" for n in range(PAST_MESSAGES_MAX + 5)]
        await chat(store, *names)
        begun = await begin(store, "turn", said("new"))
        assert ids(begun.past) == [*names[6:], "new"]
        assert len(begun.past) == PAST_MESSAGES_MAX == 50

    @promise
    async def test_the_past_is_whole(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat")
        await store.append_messages("chat", [Message(id="m", role="assistant", parts=tuple(PARTS.values()))])
        begun = await begin(store, "turn", Message(id="u", role="user", parts=(PARTS["file"], PARTS["data"])))
        assert list(begun.past) == await store.list_messages("chat")
        assert begun.past[0].message.parts == tuple(PARTS.values())

    @promise
    async def test_an_edit_begins_a_branch(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1", "u2", "a2")
        begun = await begin(store, "turn", said("u2b"), after="a1")
        assert ids(begun.past) == ["u1", "a1", "u2b"]
        assert ids(await store.list_messages("chat")) == ["u1", "a1", "u2b"]
        assert ids(await store.list_siblings("chat", "u2")) == ["u2", "u2b"]

    @promise
    async def test_an_edit_of_the_first_message_begins_at_the_root(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        begun = await begin(store, "turn", said("u1b"), after=ROOT)
        assert ids(begun.past) == ["u1b"]
        assert begun.past[0].parent_id is None

    @promise
    async def test_a_regeneration_begins_a_branch_without_messages(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1", "u2", "a2")
        begun = await begin(store, "turn", after="u2")
        assert ids(begun.past) == ["u1", "a1", "u2"]
        assert ids(await store.list_messages("chat")) == ["u1", "a1", "u2"]
        assert ids(await store.list_messages("chat", branch="a2")) == ["u1", "a1", "u2", "a2"]

    @promise
    async def test_a_continuation_stores_its_message_anew(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        answered = Message(id="a1", role="assistant", parts=(PARTS["tool call, answered"], Text(text="So")))
        begun = await begin(store, "turn", continues=answered, assistant_message_id="a1")
        assert ids(begun.past) == ["u1", "a1"]
        assert begun.past[1].message.parts == answered.parts
        assert begun.past[1].message.created_at is not None
        assert begun.past[1].seq == 1
        assert begun.past[1].turn_id is None

    @promise
    async def test_a_continuation_makes_its_branch_the_active_one(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        await store.append_messages("chat", [said("a1b")], after="u1")
        begun = await begin(store, "turn", continues=said("a1", "anew"))
        assert ids(begun.past) == ["u1", "a1"]
        assert ids(await store.list_messages("chat")) == ["u1", "a1"]

    @promise
    async def test_a_continuation_can_come_with_messages(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        begun = await begin(store, "turn", said("u2"), continues=said("a1", "anew", role="assistant"))
        assert ids(begun.past) == ["u1", "a1", "u2"]
        assert begun.past[1].message.parts == (Text(text="anew"),)

    @promise
    async def test_what_another_turn_has_gone_on_with_meanwhile_is_not_gone_on_with(
        self, store: ConversationStore
    ) -> None:
        first = await begin(store, "first", said("u1"), assistant_message_id="a1")
        asked = said("a1", "May I?", role="assistant")
        await store.end_turn(Seal(claim=first.claim, status="waiting", messages=(asked,)))
        second = await begin(store, "second", continues=asked, assistant_message_id="a1", resumes="first")
        done = said("a1", "Done.", role="assistant")
        await store.end_turn(Seal(claim=second.claim, status="succeeded", messages=(done,)))
        before = await store.list_messages("chat")
        with pytest.raises(AlreadyContinued):
            await begin(store, "third", continues=asked, assistant_message_id="a1", resumes="first")
        assert await store.list_messages("chat") == before
        assert await store.live_turn("chat") is None
        again = await begin(store, "fourth", continues=done, assistant_message_id="a1", resumes="second")
        assert again.turn.id == "fourth"

    @promise
    async def test_a_turn_moves_the_time_of_its_conversation(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        before = await store.create_conversation(id="chat")
        await advance(1)
        begun = await begin(store)
        assert begun.conversation.updated_at > before.updated_at
        assert begun.conversation.created_at == before.created_at

    @pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
    @promise
    async def test_a_turn_keeps_odd_text(self, store: ConversationStore, text: str) -> None:
        new = new_turn(
            f"t{text}",
            said(f"u{text}", text),
            conversation_id=f"c{text}",
            assistant_message_id=f"a{text}",
            owner=f"w{text}",
            agent=text,
            title=text,
            trigger=text,
            metadata={text: text},
            idempotency_key=f"k{text}",
            fingerprint=text,
        )
        begun = await store.begin_turn(new)
        assert isinstance(begun, TurnBegun)
        assert begun.turn == await store.get_turn(new.id)
        assert (begun.claim.owner, begun.turn.message_id, begun.turn.agent) == (new.owner, f"a{text}", text)
        assert begun.past[0].message.parts == (Text(text=text),)
        assert await store.begin_turn(structs.replace(new, id="again")) == TurnExists(turn=begun.turn)
        with pytest.raises(IdempotencyConflict):
            await store.begin_turn(structs.replace(new, id="again", fingerprint=f"{text}!"))
        assert await store.begin_turn(new_turn("x", conversation_id=f"c{text}")) == ConversationBusy(
            turn=begun.turn
        )


class Refusals(Suite):
    """A turn that cannot begin writes nothing."""

    @promise
    async def test_a_second_live_turn_is_refused(self, store: ConversationStore) -> None:
        begun = await begin(store, "turn", said("u1"))
        before = await store.get_conversation("chat")
        busy = await store.begin_turn(new_turn("other", said("u2")))
        assert busy == ConversationBusy(turn=begun.turn)
        assert ids(await store.list_messages("chat")) == ["u1"]
        assert await store.get_turn("other") is None
        assert await store.get_conversation("chat") == before

    @pytest.mark.parametrize("status", ["waiting", "succeeded", "failed", "cancelled", "interrupted"])
    @promise
    async def test_a_turn_that_is_over_makes_room_for_the_next(
        self, store: ConversationStore, status: TurnEnding
    ) -> None:
        begun = await begin(store, "turn", said("u1"))
        await store.end_turn(Seal(claim=begun.claim, status=status))
        assert ids((await begin(store, "next", said("u2"))).past) == ["u1", "u2"]

    @promise
    async def test_the_same_request_begins_one_turn(self, store: ConversationStore) -> None:
        begun = await begin(store, "turn", said("u1"), idempotency_key="key", fingerprint="one")
        same = new_turn("other", said("u1"), idempotency_key="key", fingerprint="one")
        assert await store.begin_turn(same) == TurnExists(turn=begun.turn)
        ended = await store.end_turn(Seal(claim=begun.claim, status="succeeded"))
        assert await store.begin_turn(same) == TurnExists(turn=ended)
        assert await store.get_turn("other") is None
        assert ids(await store.list_messages("chat")) == ["u1"]

    @promise
    async def test_a_request_that_goes_on_with_an_answer_twice_at_once_begins_one_turn(
        self, store: ConversationStore
    ) -> None:
        begun = await begin(store, "turn", said("u1"))
        answer = said("a1", "so far", role="assistant")
        await store.end_turn(Seal(claim=begun.claim, status="waiting", messages=(answer,)))
        same = new_turn(
            "again",
            continues=answer,
            after="a1",
            assistant_message_id="a1",
            create_conversation=False,
            idempotency_key="key",
        )
        openings = await asyncio.gather(*(store.begin_turn(same) for _ in range(8)))
        assert len([opening for opening in openings if isinstance(opening, TurnBegun)]) == 1
        assert len([opening for opening in openings if isinstance(opening, TurnExists)]) == 7

    @promise
    async def test_a_key_is_looked_at_before_whether_another_turn_is_live(
        self, store: ConversationStore
    ) -> None:
        first = await begin(store, "first", said("u1"), idempotency_key="key")
        ended = await store.end_turn(Seal(claim=first.claim, status="succeeded"))
        await begin(store, "second", said("u2"))
        assert await store.begin_turn(new_turn("third", idempotency_key="key")) == TurnExists(turn=ended)

    @pytest.mark.parametrize("other", ["two", None])
    @promise
    async def test_a_key_with_other_content_is_a_conflict(
        self, store: ConversationStore, other: str | None
    ) -> None:
        await begin(store, "turn", said("u1"), idempotency_key="key", fingerprint="one")
        with pytest.raises(IdempotencyConflict):
            await store.begin_turn(new_turn("other", said("u2"), idempotency_key="key", fingerprint=other))
        assert ids(await store.list_messages("chat")) == ["u1"]
        assert await store.get_turn("other") is None

    @promise
    async def test_a_key_belongs_to_its_conversation(self, store: ConversationStore) -> None:
        await begin(store, "turn", idempotency_key="key", fingerprint="one")
        opening = await store.begin_turn(
            new_turn("other", conversation_id="elsewhere", idempotency_key="key", fingerprint="two")
        )
        assert isinstance(opening, TurnBegun)

    @promise
    async def test_turns_without_keys_have_nothing_in_common(self, store: ConversationStore) -> None:
        begun = await begin(store, "turn", said("u1"))
        await store.end_turn(Seal(claim=begun.claim, status="succeeded"))
        await begin(store, "other", said("u2"))

    @promise
    async def test_a_turn_id_that_is_taken_is_refused(self, store: ConversationStore) -> None:
        await chat(store, "u1")
        await store.append_turn(record())
        for conversation in ("chat", "elsewhere"):
            with pytest.raises(AlreadyExists):
                await store.begin_turn(new_turn("turn", said("u2"), conversation_id=conversation))
        assert await store.get_turn("turn") == record()
        assert await store.get_conversation("elsewhere") is None
        assert ids(await store.list_messages("chat")) == ["u1"]
        assert await store.live_turn("chat") is None

    @pytest.mark.parametrize("messages", [[said("u1")], [said("new"), said("new")]], ids=["there", "twice"])
    @promise
    async def test_a_message_id_that_is_taken_is_refused(
        self, store: ConversationStore, messages: list[Message]
    ) -> None:
        before = await chat(store, "u1")
        with pytest.raises(AlreadyExists):
            await store.begin_turn(new_turn("turn", *messages))
        assert await store.get_turn("turn") is None
        assert await store.list_messages("chat") == before
        assert await store.live_turn("chat") is None

    @pytest.mark.parametrize("exists", [True, False], ids=["in a conversation", "in a new conversation"])
    @pytest.mark.parametrize("change", [{"after": "elsewhere"}, {"continues": said("elsewhere")}], ids=str)
    @promise
    async def test_a_message_that_is_not_there_is_refused(
        self, store: ConversationStore, *, exists: bool, change: dict[str, str]
    ) -> None:
        if exists:
            await chat(store, "u1")
        with pytest.raises(NoSuchMessage):
            await store.begin_turn(new_turn("turn", said("u2"), **change))
        assert (await store.get_conversation("chat") is not None) == exists
        assert await store.get_turn("turn") is None
        assert ids(await store.list_messages("chat")) == (["u1"] if exists else [])
