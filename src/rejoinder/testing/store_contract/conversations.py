"""Promises about conversations: create, get, update, list, delete."""

from __future__ import annotations

import pytest

from rejoinder.messages import Conversation
from rejoinder.ports.journal import AlreadyExists, NoSuchTurn
from rejoinder.ports.store import CONVERSATIONS_PAGE, ConversationStore
from rejoinder.testing.store_contract.samples import (
    ODD_NUMBERS,
    ODD_TEXTS,
    append,
    begin,
    call,
    chat,
    pages,
    record,
    said,
)
from rejoinder.testing.store_contract.suite import Advance, Suite, promise


class Conversations(Suite):
    """A conversation is there from its creation to its deletion, and listed where it belongs."""

    @promise
    async def test_a_conversation_that_was_created_is_found(self, store: ConversationStore) -> None:
        created = await store.create_conversation(id="chat", title="Trip", metadata={"pinned": True})
        assert created == Conversation(
            id="chat",
            title="Trip",
            metadata={"pinned": True},
            created_at=created.created_at,
            updated_at=created.updated_at,
        )
        assert await store.get_conversation("chat") == created

    @promise
    async def test_a_conversation_that_was_not_created_is_not_found(self, store: ConversationStore) -> None:
        assert await store.get_conversation("chat") is None

    @promise
    async def test_a_conversation_without_an_id_gets_one_of_its_own(self, store: ConversationStore) -> None:
        one, two = await store.create_conversation(), await store.create_conversation()
        assert one.id
        assert one.id != two.id
        assert await store.get_conversation(one.id) == one

    @promise
    async def test_a_second_conversation_of_the_same_id_is_refused(self, store: ConversationStore) -> None:
        first = await store.create_conversation(id="chat", title="First")
        with pytest.raises(AlreadyExists):
            await store.create_conversation(id="chat", title="Second")
        assert await store.get_conversation("chat") == first

    @promise
    async def test_times_know_their_zone(self, store: ConversationStore) -> None:
        created = await store.create_conversation(id="chat")
        assert created.created_at.tzinfo is not None
        assert created.updated_at.tzinfo is not None

    @promise
    async def test_metadata_that_is_empty_is_not_metadata_that_is_missing(
        self, store: ConversationStore
    ) -> None:
        assert (await store.create_conversation(id="empty", metadata={})).metadata == {}
        assert (await store.create_conversation(id="missing")).metadata is None
        assert [each.metadata for each in await store.list_conversations()].count(None) == 1

    @pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
    @promise
    async def test_titles_and_metadata_keep_odd_text(self, store: ConversationStore, text: str) -> None:
        created = await store.create_conversation(id="chat", title=text, metadata={text: [text]})
        assert created.title == text
        assert await store.get_conversation("chat") == created
        assert await store.list_conversations() == [created]

    @promise
    async def test_metadata_keeps_odd_numbers(self, store: ConversationStore) -> None:
        created = await store.create_conversation(id="chat", metadata=dict(ODD_NUMBERS))
        # By their spelling: -0.0 equals 0, and 100.0 equals 100.
        meant = {name: repr(number) for name, number in ODD_NUMBERS.items()}
        for conversation in (created, await store.get_conversation("chat")):
            assert conversation is not None
            assert conversation.metadata is not None
            assert {name: repr(number) for name, number in conversation.metadata.items()} == meant

    @promise
    async def test_an_update_changes_what_is_given_and_nothing_else(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat", title="Trip", metadata={"n": 1})
        renamed = await store.update_conversation("chat", title="Journey")
        assert renamed is not None
        assert (renamed.title, renamed.metadata) == ("Journey", {"n": 1})
        again = await store.update_conversation("chat", metadata={"n": 2})
        assert again is not None
        assert (again.title, again.metadata) == ("Journey", {"n": 2})
        assert await store.get_conversation("chat") == again

    @promise
    async def test_an_update_to_none_clears(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat", title="Trip", metadata={"n": 1})
        await store.update_conversation("chat", title=None, metadata=None)
        found = await store.get_conversation("chat")
        assert found is not None
        assert (found.title, found.metadata) == (None, None)

    @promise
    async def test_an_update_moves_its_time_even_if_it_changes_nothing(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        created = await store.create_conversation(id="chat")
        await advance(1)
        updated = await store.update_conversation("chat")
        assert updated is not None
        assert updated.updated_at > created.updated_at
        assert updated.created_at == created.created_at

    @promise
    async def test_an_update_of_nothing_creates_nothing(self, store: ConversationStore) -> None:
        assert await store.update_conversation("chat", title="Trip") is None
        assert await store.get_conversation("chat") is None

    @promise
    async def test_the_newest_update_is_listed_first(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        for id in ("a", "b", "c"):
            await store.create_conversation(id=id)
            await advance(1)
        await store.update_conversation("a", title="again")
        assert [each.id for each in await store.list_conversations()] == ["a", "c", "b"]

    @promise
    async def test_a_new_message_moves_its_conversation_to_the_top(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        for id in ("a", "b", "c"):
            await store.create_conversation(id=id)
            await advance(1)
        await store.append_messages("b", [said("m1")])
        await advance(1)
        await store.upsert_message("a", said("m1"))
        assert [each.id for each in await store.list_conversations()] == ["a", "b", "c"]

    @promise
    async def test_a_turn_moves_its_conversation_to_the_top_as_it_begins_and_as_it_ends(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        await store.create_conversation(id="chat")
        await advance(1)
        await store.create_conversation(id="other")
        await advance(1)
        begun = await begin(store)
        listed = await store.list_conversations()
        assert [each.id for each in listed] == ["chat", "other"]
        assert begun.conversation == listed[0]

    @promise
    async def test_paging_gives_every_conversation_once_through_ties(self, store: ConversationStore) -> None:
        # Made as quickly as can be: with a coarse clock, or one that stands, all have the same time.
        made = {(await store.create_conversation(id=f"c{n}")).id for n in range(7)}
        seen: list[Conversation] = []
        page = await store.list_conversations(limit=2)
        while page:
            seen += page
            page = await store.list_conversations(limit=2, before=(page[-1].updated_at, page[-1].id))
        assert sorted(each.id for each in seen) == sorted(made)
        assert seen == await store.list_conversations()

    @promise
    async def test_paging_does_not_stumble_over_what_comes_in_meanwhile(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        for n in range(4):
            await store.create_conversation(id=f"c{n}")
            await advance(1)
        first = await store.list_conversations(limit=2)
        await store.create_conversation(id="late")
        rest = await store.list_conversations(limit=9, before=(first[-1].updated_at, first[-1].id))
        assert [each.id for each in first + rest] == ["c3", "c2", "c1", "c0"]

    @promise
    async def test_before_a_time_means_before_it(self, store: ConversationStore, advance: Advance) -> None:
        await store.create_conversation(id="old")
        await advance(1)
        new = await store.create_conversation(id="new")
        assert [each.id for each in await store.list_conversations(before=new.updated_at)] == ["old"]
        local = new.updated_at.astimezone().replace(tzinfo=None)
        assert [each.id for each in await store.list_conversations(before=local)] == ["old"]

    @promise
    async def test_a_list_holds_fifty_if_nobody_says(self, store: ConversationStore) -> None:
        for n in range(CONVERSATIONS_PAGE + 1):
            await store.create_conversation(id=f"c{n}")
        assert len(await store.list_conversations()) == CONVERSATIONS_PAGE == 50

    @promise
    async def test_a_list_of_nothing_is_empty(self, store: ConversationStore) -> None:
        assert await store.list_conversations() == []

    @promise
    async def test_a_deletion_answers_whether_there_was_something(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat")
        assert await store.delete_conversation("chat") is True
        assert await store.get_conversation("chat") is None
        assert await store.list_conversations() == []
        assert await store.delete_conversation("chat") is False

    @promise
    async def test_a_deletion_takes_along_all_that_belongs_to_the_conversation(
        self, store: ConversationStore
    ) -> None:
        await chat(store, "u1", "a1")
        await store.append_turn(record("old"), provider_calls=[call("call")])
        begun = await begin(store, "live", said("u2"), idempotency_key="key")
        await append(store, begun.claim, *pages(2))
        assert await store.delete_conversation("chat")

        assert await store.list_messages("chat") == []
        assert await store.get_message("chat", "u1") is None
        assert await store.list_turns("chat") == []
        assert await store.get_turn("old") is None
        assert await store.list_provider_calls("old") == []
        assert await store.live_turn("chat") is None
        with pytest.raises(NoSuchTurn):
            await store.read_pages("live")

    @promise
    async def test_after_a_deletion_every_id_is_free_again(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        await begin(store, "turn", said("u2"), idempotency_key="key", fingerprint="one")
        await store.delete_conversation("chat")
        begun = await begin(store, "turn", said("u1"), idempotency_key="key", fingerprint="two")
        assert [stored.seq for stored in begun.past] == [0]

    @promise
    async def test_what_was_given_belongs_to_the_caller(self, store: ConversationStore) -> None:
        metadata = {"list": [1]}
        created = await store.create_conversation(id="chat", metadata=metadata)
        metadata["list"].append(2)
        assert created.metadata is not None
        created.metadata["list"].append(3)
        found = await store.get_conversation("chat")
        assert found is not None
        assert found.metadata == {"list": [1]}
