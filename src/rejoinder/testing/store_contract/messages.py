"""Promises about messages: what is stored comes back, in the order in which it came."""

from __future__ import annotations

import pytest
from msgspec import structs

from rejoinder.messages import Data, Json, Message, Opaque, Part, Text, ToolCall
from rejoinder.ports.journal import AlreadyExists, NoSuchConversation, NoSuchMessage
from rejoinder.ports.store import ConversationStore
from rejoinder.testing.store_contract.samples import (
    NOON,
    ODD_NUMBERS,
    ODD_TEXTS,
    PARTS,
    chat,
    ids,
    said,
)
from rejoinder.testing.store_contract.suite import Suite, promise

LARGE_OUTPUT_CHARACTERS = 20_000_000


class Messages(Suite):
    """A message is stored whole, in a place that never changes."""

    @promise
    async def test_a_message_that_was_appended_comes_back_as_it_was(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat")
        message = Message(
            id="m",
            role="assistant",
            parts=tuple(PARTS.values()),
            metadata={"model": "x", "nested": [{}, None]},
            created_at=NOON,
            status="interrupted",
            extra={"annotations": [1]},
        )
        (stored,) = await store.append_messages("chat", [message], turn_id="turn")
        assert (stored.seq, stored.message, stored.parent_id, stored.turn_id) == (0, message, None, "turn")
        assert await store.get_message("chat", "m") == stored
        assert await store.list_messages("chat") == [stored]

    @pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
    @promise
    async def test_every_kind_of_part_comes_back_as_it_was(
        self, store: ConversationStore, part: Part
    ) -> None:
        await store.create_conversation(id="chat")
        await store.append_messages("chat", [Message(id="m", role="assistant", parts=(part, part))])
        found = await store.get_message("chat", "m")
        assert found is not None
        assert found.message.parts == (part, part)

    @pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
    @promise
    async def test_odd_text_comes_back_as_it_was(self, store: ConversationStore, text: str) -> None:
        await store.create_conversation(id="chat")
        odd = Message(
            id=f"m{text}",
            role="user",
            metadata={text: text},
            extra={text: [text]},
            parts=(
                Text(text=text, provider_metadata={text: {"x": text}}, citations=[{text: text}]),
                ToolCall(
                    name=f"n{text}",
                    call_id=f"c{text}",
                    state="output-error",
                    input={text: [text]},
                    raw_input=text,
                    output=text,
                    error_text=text,
                ),
                Data(name=f"n{text}", id=text, data=text),
                Opaque(body={"type": text, text: text}),
            ),
        )
        await store.append_messages("chat", [odd, said("next")])
        first, second = await store.list_messages("chat")
        assert structs.replace(first.message, created_at=None) == odd
        assert second.parent_id == odd.id
        assert await store.get_message("chat", odd.id) == first
        assert await store.delete_message("chat", odd.id) == 2

    @pytest.mark.parametrize("number", ODD_NUMBERS.values(), ids=ODD_NUMBERS)
    @promise
    async def test_odd_numbers_come_back_as_they_were(self, store: ConversationStore, number: float) -> None:
        await store.create_conversation(id="chat")
        call = ToolCall(
            name="n",
            call_id="c",
            state="output-available",
            input={"deep": [{"n": number}]},
            output=number,
        )
        await store.append_messages("chat", [Message(id="m", role="assistant", parts=(call,))])
        found = await store.get_message("chat", "m")
        assert found is not None
        # By their spelling: -0.0 equals 0, and 100.0 equals 100.
        assert repr(found.message.parts) == repr((call,))

    @promise
    async def test_a_character_whose_halves_came_apart_is_whole_again_or_stays_apart(
        self, store: ConversationStore
    ) -> None:
        await store.create_conversation(id="chat")
        parts = (Text(text="\ud83d\ude00"), Text(text="\ud83d"), Text(text="\ude00"), Text(text="\U0001f600"))
        await store.append_messages("chat", [Message(id="m", role="assistant", parts=parts)])
        found = await store.get_message("chat", "m")
        assert found is not None
        assert found.message.parts == parts

    @pytest.mark.parametrize(
        "output",
        [None, False, 0, "", [], {}, [None], {"": None}, "null", 'a "quoted" \\ text', {"a": {"b": {}}}],
    )
    @promise
    async def test_an_output_is_what_it_is(self, store: ConversationStore, output: Json) -> None:
        await store.create_conversation(id="chat")
        call = ToolCall(name="n", call_id="c", state="output-available", input=output, output=output)
        data = Data(name="d", data=output)
        await store.append_messages(
            "chat", [Message(id="m", role="assistant", parts=(call, data), metadata=output)]
        )
        found = await store.get_message("chat", "m")
        assert found is not None
        assert repr((found.message.parts, found.message.metadata)) == repr(((call, data), output))

    @promise
    async def test_an_output_of_twenty_megabytes_comes_back_equal(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat")
        text = "a line é\n" * (LARGE_OUTPUT_CHARACTERS // 9) + "\x00"
        call = ToolCall(name="n", call_id="c", state="output-available", input={}, output={"text": text})
        message = Message(id="m", role="assistant", parts=(call, Text(text=text)))
        await store.append_messages("chat", [message])
        found = await store.get_message("chat", "m")
        assert found is not None
        # A failure that printed what is compared here would print for minutes.
        assert bool(found.message.parts == message.parts)

    @promise
    async def test_a_message_without_parts_is_a_message(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat")
        await store.append_messages("chat", [Message(id="m1", role="user"), said("m2")])
        assert [len(stored.message.parts) for stored in await store.list_messages("chat")] == [0, 1]

    @promise
    async def test_metadata_that_is_null_is_not_metadata_that_is_missing(
        self, store: ConversationStore
    ) -> None:
        await store.create_conversation(id="chat")
        null, missing = Message(id="m1", role="user", metadata=None), Message(id="m2", role="user")
        await store.append_messages("chat", [null, missing])
        first, second = await store.list_messages("chat")
        assert first.message.metadata is None
        assert second.message.metadata == missing.metadata != null.metadata

    @promise
    async def test_a_message_without_a_time_gets_one(self, store: ConversationStore) -> None:
        (stored,) = await chat(store, "m")
        assert stored.message.created_at is not None
        assert stored.message.created_at.tzinfo is not None
        assert await store.get_message("chat", "m") == stored

    @promise
    async def test_messages_follow_each_other_in_the_order_in_which_they_came(
        self, store: ConversationStore
    ) -> None:
        await chat(store, "u1", "a1")
        await store.append_messages("chat", [said("u2")])
        stored = await store.list_messages("chat")
        assert [(each.seq, each.message.id, each.parent_id) for each in stored] == [
            (0, "u1", None),
            (1, "a1", "u1"),
            (2, "u2", "a1"),
        ]

    @promise
    async def test_times_do_not_order_messages(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat")
        years = (2030, 2020, 2025, 2020)
        dated = [
            structs.replace(said(f"m{n}"), created_at=NOON.replace(year=year)) for n, year in enumerate(years)
        ]
        await store.append_messages("chat", dated)
        assert ids(await store.list_messages("chat")) == ["m0", "m1", "m2", "m3"]

    @promise
    async def test_two_hundred_messages_at_once_keep_their_order(self, store: ConversationStore) -> None:
        names = [f"m{n}" for n in range(200)]
        await chat(store, *names)
        stored = await store.list_messages("chat")
        assert ids(stored) == names
        assert [each.seq for each in stored] == list(range(200))

    @promise
    async def test_an_append_of_nothing_adds_nothing(self, store: ConversationStore) -> None:
        await chat(store, "u1")
        assert await store.append_messages("chat", []) == []
        assert ids(await store.list_messages("chat")) == ["u1"]

    @pytest.mark.parametrize("messages", [[], [said("m")]], ids=["nothing", "a message"])
    @promise
    async def test_an_append_to_a_conversation_that_is_not_there_is_refused(
        self, store: ConversationStore, messages: list[Message]
    ) -> None:
        with pytest.raises(NoSuchConversation):
            await store.append_messages("chat", messages)
        assert await store.get_conversation("chat") is None

    @promise
    async def test_an_append_behind_a_message_that_is_not_there_is_refused(
        self, store: ConversationStore
    ) -> None:
        await chat(store, "u1")
        with pytest.raises(NoSuchMessage):
            await store.append_messages("chat", [said("m")], after="elsewhere")
        assert ids(await store.list_messages("chat")) == ["u1"]

    @pytest.mark.parametrize("taken", ["u1", "new"], ids=["that is there", "that comes twice"])
    @promise
    async def test_an_append_with_an_id_is_refused_whole(self, store: ConversationStore, taken: str) -> None:
        before = await chat(store, "u1", "a1")
        with pytest.raises(AlreadyExists):
            await store.append_messages("chat", [said("new"), said(taken, "Other")])
        assert await store.list_messages("chat") == before

    @promise
    async def test_a_refused_append_leaves_no_gap(self, store: ConversationStore) -> None:
        await chat(store, "u1")
        with pytest.raises(AlreadyExists):
            await store.append_messages("chat", [said("a1"), said("u1")])
        (stored,) = await store.append_messages("chat", [said("a1")])
        assert stored.seq == 1

    @promise
    async def test_an_upsert_of_a_new_message_appends_it(self, store: ConversationStore) -> None:
        await chat(store, "u1")
        stored = await store.upsert_message("chat", said("a1", role="assistant"), turn_id="turn")
        assert (stored.seq, stored.parent_id, stored.turn_id) == (1, "u1", "turn")
        assert ids(await store.list_messages("chat")) == ["u1", "a1"]
        assert await store.get_message("chat", "a1") == stored

    @promise
    async def test_an_upsert_replaces_everything_but_place_and_time(self, store: ConversationStore) -> None:
        old, *_ = await chat(store, "u1", "a1")
        anew = Message(
            id="u1",
            role="assistant",
            parts=(PARTS["data"], PARTS["tool call, answered"], Text(text="b")),
            metadata={"n": 2},
            created_at=NOON.replace(year=1999),
            status="complete",
            extra={"x": 1},
        )
        stored = await store.upsert_message("chat", anew)
        assert (stored.seq, stored.parent_id) == (0, None)
        assert stored.message == structs.replace(anew, created_at=old.message.created_at)
        assert await store.get_message("chat", "u1") == stored
        assert ids(await store.list_messages("chat")) == ["u1", "a1"]

    @promise
    async def test_an_upsert_with_fewer_parts_leaves_none_behind(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat")
        await store.append_messages("chat", [Message(id="m", role="assistant", parts=tuple(PARTS.values()))])
        for parts in ((Text(text="one"), Text(text="two")), (Text(text="three"),), ()):
            await store.upsert_message("chat", Message(id="m", role="assistant", parts=parts))
            found = await store.get_message("chat", "m")
            assert found is not None
            assert found.message.parts == parts

    @promise
    async def test_an_upsert_keeps_the_turn_unless_another_is_named(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat")
        await store.append_messages("chat", [said("m")], turn_id="first")
        assert (await store.upsert_message("chat", said("m", "again"))).turn_id == "first"
        assert (await store.upsert_message("chat", said("m"), turn_id="second")).turn_id == "second"

    @promise
    async def test_an_upsert_into_nothing_is_refused(self, store: ConversationStore) -> None:
        with pytest.raises(NoSuchConversation):
            await store.upsert_message("chat", said("m"))
        assert await store.get_conversation("chat") is None

    @promise
    async def test_what_is_read_of_nothing_is_empty(self, store: ConversationStore) -> None:
        assert await store.list_messages("chat") == []
        assert await store.get_message("chat", "m") is None
        assert await store.list_siblings("chat", "m") == []
        assert await store.delete_message("chat", "m") == 0
        await store.create_conversation(id="chat")
        assert await store.list_messages("chat") == []
        assert await store.get_message("chat", "m") is None
        assert await store.list_siblings("chat", "m") == []
        assert await store.delete_message("chat", "m") == 0

    @promise
    async def test_what_was_given_belongs_to_the_caller(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat")
        output = {"list": [1]}
        call = ToolCall(name="n", call_id="c", state="output-available", output=output)
        await store.append_messages("chat", [Message(id="m", role="assistant", parts=(call,))])
        output["list"].append(2)
        (found,) = await store.list_messages("chat")
        (part,) = found.message.parts
        assert isinstance(part, ToolCall)
        assert part.output == {"list": [1]}
        part.output["list"].append(3)
        (again,) = await store.list_messages("chat")
        assert again.message.parts == (structs.replace(call, output={"list": [1]}),)
