"""Promises about turns as records: what is known of one that is over."""

from __future__ import annotations

import pytest
from msgspec import structs

from rejoinder.messages import ABSENT, AgentContext, Cost, Json, Turn, TurnError, TurnStatus, Usage
from rejoinder.ports.journal import AlreadyExists, NoSuchConversation
from rejoinder.ports.store import ConversationStore
from rejoinder.testing.store_contract.samples import (
    FULL_CALL,
    FULL_RECORD,
    ODD_TEXTS,
    begin,
    call,
    chat,
    record,
    said,
)
from rejoinder.testing.store_contract.suite import Advance, Suite, promise


class Records(Suite):
    """A record of a turn comes back as it was, with its provider calls, in the order of recording."""

    @pytest.mark.parametrize("turn", [record(), FULL_RECORD], ids=["short", "full"])
    @promise
    async def test_a_record_comes_back_as_it_was(self, store: ConversationStore, turn: Turn) -> None:
        await store.create_conversation(id="chat")
        await store.append_turn(turn)
        assert await store.get_turn("turn") == turn
        assert await store.list_turns("chat") == [turn]
        assert await store.live_turn("chat") is None

    @pytest.mark.parametrize("status", ["waiting", "succeeded", "failed", "cancelled", "interrupted"])
    @promise
    async def test_a_record_can_end_in_every_way(self, store: ConversationStore, status: TurnStatus) -> None:
        await store.create_conversation(id="chat")
        await store.append_turn(record(status=status))
        assert await store.get_turn("turn") == record(status=status)

    @pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
    @promise
    async def test_a_record_keeps_odd_text(self, store: ConversationStore, text: str) -> None:
        await store.create_conversation(id=f"c{text}")
        turn = Turn(
            id=f"t{text}",
            conversation_id=f"c{text}",
            status="failed",
            created_at=FULL_RECORD.created_at,
            trigger=text,
            message_id=f"m{text}",
            agent=text,
            agent_context=AgentContext(agent=text, run_id=text, labels={text: text}, metadata={text: [text]}),
            agent_memory=text,
            error=TurnError(message=text, code=text, provider=text, raw=text),
            metadata={text: text},
            cost=Cost(amount=FULL_RECORD.cost.amount, prices={text: text}) if FULL_RECORD.cost else None,
        )
        odd = structs.replace(
            FULL_CALL, id=text, provider=text, model=text, extensions={text: text}, raw=text
        )
        await store.append_turn(turn, provider_calls=[odd])
        assert await store.get_turn(turn.id) == turn
        assert await store.list_turns(f"c{text}", before="none") == []
        listed = structs.replace(turn, provider_calls=(structs.replace(odd, raw=ABSENT),))
        assert await store.list_turns(f"c{text}") == [listed]
        assert await store.list_provider_calls(turn.id) == [odd]

    @pytest.mark.parametrize("memory", [False, 0, "", [], {}, {"id": None}, 1e300, "\ud83d"])
    @promise
    async def test_an_agent_remembers_what_it_wanted_to(self, store: ConversationStore, memory: Json) -> None:
        await store.create_conversation(id="chat")
        await store.append_turn(record(agent_memory=memory))
        found = await store.get_turn("turn")
        assert found is not None
        assert repr(found.agent_memory) == repr(memory)

    @promise
    async def test_usage_of_zero_is_not_usage_that_nobody_told(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat")
        for id, usage in (
            ("zero", Usage(input_tokens=0)),
            ("none", None),
            ("large", Usage(total_tokens=2**40)),
        ):
            await store.append_turn(record(id, usage=usage))
        assert [turn.usage for turn in await store.list_turns("chat")] == [
            Usage(input_tokens=0),
            None,
            Usage(total_tokens=2**40),
        ]

    @promise
    async def test_provider_calls_come_back_in_order(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat")
        calls = [call("z"), FULL_CALL, call("a", status="failed")]
        await store.append_turn(record(), provider_calls=calls)
        assert await store.list_provider_calls("turn") == calls
        assert await store.list_provider_calls("elsewhere") == []

    @promise
    async def test_a_list_of_turns_has_their_calls_without_the_raw_answers(
        self, store: ConversationStore
    ) -> None:
        await store.create_conversation(id="chat")
        calls = (call("z"), FULL_CALL, call("a", status="failed"))
        for name in ("t1", "t2", "t3"):
            await store.append_turn(record(name, provider_calls=calls if name == "t2" else ()))
        listed = tuple(structs.replace(each, raw=ABSENT) for each in calls)
        assert [turn.provider_calls for turn in await store.list_turns("chat")] == [(), listed, ()]
        assert [turn.provider_calls for turn in await store.list_turns("chat", limit=1, before="t3")] == [
            listed
        ]
        assert await store.list_provider_calls("t2") == [*calls]
        assert await store.get_turn("t2") == record("t2")

    @promise
    async def test_a_record_is_replaced_with_its_calls_and_keeps_its_place(
        self, store: ConversationStore
    ) -> None:
        await store.create_conversation(id="chat")
        await store.append_turn(FULL_RECORD, provider_calls=[call("one"), call("two")])
        await store.append_turn(record("next"))
        await store.append_turn(record(status="cancelled"), provider_calls=[call("three")])
        replaced = record(status="cancelled", provider_calls=(call("three"),))
        assert await store.list_turns("chat") == [replaced, record("next")]
        assert await store.list_provider_calls("turn") == [call("three")]

    @pytest.mark.parametrize("status", ["queued", "running"])
    @promise
    async def test_a_record_of_a_live_turn_is_refused(
        self, store: ConversationStore, status: TurnStatus
    ) -> None:
        await store.create_conversation(id="chat")
        with pytest.raises(ValueError, match="turn"):
            await store.append_turn(record(status=status))
        assert await store.get_turn("turn") is None

    @promise
    async def test_a_live_turn_cannot_be_recorded_over(self, store: ConversationStore) -> None:
        begun = await begin(store)
        with pytest.raises(AlreadyExists):
            await store.append_turn(record(), provider_calls=[call("c")])
        assert await store.get_turn("turn") == begun.turn
        assert await store.list_provider_calls("turn") == []

    @promise
    async def test_a_turn_of_another_conversation_cannot_be_recorded_over(
        self, store: ConversationStore
    ) -> None:
        await store.create_conversation(id="chat")
        await store.create_conversation(id="other")
        await store.append_turn(record())
        with pytest.raises(AlreadyExists):
            await store.append_turn(record(conversation_id="other", status="failed"))
        assert await store.list_turns("chat") == [record()]
        assert await store.list_turns("other") == []

    @promise
    async def test_a_record_in_no_conversation_is_refused(self, store: ConversationStore) -> None:
        with pytest.raises(NoSuchConversation):
            await store.append_turn(record())
        assert await store.get_turn("turn") is None

    @promise
    async def test_turns_are_listed_in_the_order_of_their_recording_page_by_page(
        self, store: ConversationStore
    ) -> None:
        await store.create_conversation(id="chat")
        names = [f"t{n}" for n in (3, 1, 2, 5, 4)]
        for name in names:
            await store.append_turn(record(name))
        assert [turn.id for turn in await store.list_turns("chat")] == names
        assert [turn.id for turn in await store.list_turns("chat", limit=2)] == names[3:]
        assert [turn.id for turn in await store.list_turns("chat", limit=2, before="t5")] == names[1:3]
        assert [turn.id for turn in await store.list_turns("chat", before="t1")] == names[:1]
        assert await store.list_turns("chat", before="t3") == []
        assert await store.list_turns("chat", before="elsewhere") == []
        assert await store.list_turns("chat", limit=0) == []
        assert await store.list_turns("elsewhere") == []

    @promise
    async def test_a_record_moves_its_conversation_to_the_top(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        await chat(store, "u1")
        await advance(1)
        await store.create_conversation(id="other")
        await advance(1)
        await store.append_turn(record())
        assert [each.id for each in await store.list_conversations()] == ["chat", "other"]

    @promise
    async def test_turns_outlive_the_messages_they_wrote(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat")
        await store.append_messages("chat", [said("a1", role="assistant")], turn_id="turn")
        await store.append_turn(record(message_id="a1"))
        await store.delete_message("chat", "a1")
        assert await store.get_turn("turn") == record(message_id="a1")
