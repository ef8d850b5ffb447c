"""Promises about reading a conversation page by page."""

from __future__ import annotations

import pytest

from rejoinder.messages import Message, Text
from rejoinder.ports.store import ConversationStore
from rejoinder.testing.store_contract.samples import chat, ids, said
from rejoinder.testing.store_contract.suite import Suite, promise

NAMES = tuple(f"m{n}" for n in range(7))


class PagesOfMessages(Suite):
    """A page is the newest messages between two seqs, in the order that is asked for."""

    @pytest.mark.parametrize(
        ("limit", "before", "after", "found"),
        [
            (None, None, None, range(7)),
            (3, None, None, range(4, 7)),
            (3, 4, None, range(1, 4)),
            (3, 1, None, range(1)),
            (None, None, 4, range(5, 7)),
            (1, None, 4, range(6, 7)),
            (2, 6, 1, range(4, 6)),
            (None, 3, 2, ()),
            (None, 0, None, ()),
            (None, None, 6, ()),
            (0, None, None, ()),
            (99, 99, -1, range(7)),
        ],
    )
    @promise
    async def test_a_page_is_the_newest_messages_between_two_seqs(
        self, store: ConversationStore, limit: int | None, before: int | None, after: int | None, found: range
    ) -> None:
        await chat(store, *NAMES)
        page = await store.list_messages("chat", limit=limit, before=before, after=after)
        assert ids(page) == [NAMES[seq] for seq in found]
        turned = await store.list_messages("chat", limit=limit, before=before, after=after, ascending=False)
        assert turned == page[::-1]

    @promise
    async def test_going_back_page_by_page_gives_every_message_once(self, store: ConversationStore) -> None:
        await chat(store, *NAMES)
        seen: list[str] = []
        page = await store.list_messages("chat", limit=3)
        while page:
            seen = ids(page) + seen
            page = await store.list_messages("chat", limit=3, before=page[0].seq)
        assert seen == list(NAMES)

    @promise
    async def test_pages_of_a_branch_are_not_torn_by_the_messages_of_others(
        self, store: ConversationStore
    ) -> None:
        await chat(store, *NAMES)
        await store.append_messages("chat", [said("x5"), said("x6"), said("x7")], after="m4")
        await store.append_messages("chat", [said("y7"), said("y8")], after="x6")
        expected = ["m0", "m1", "m2", "m3", "m4", "x5", "x6", "y7", "y8"]
        assert ids(await store.list_messages("chat")) == expected
        seen: list[str] = []
        page = await store.list_messages("chat", limit=2)
        while page:
            seen = ids(page) + seen
            page = await store.list_messages("chat", limit=2, before=page[0].seq)
        assert seen == expected

    @promise
    async def test_a_page_can_be_of_another_branch(self, store: ConversationStore) -> None:
        await chat(store, *NAMES)
        await store.append_messages("chat", [said("x5")], after="m4")
        assert ids(await store.list_messages("chat", branch="m6", limit=3)) == ["m4", "m5", "m6"]
        assert ids(await store.list_messages("chat", branch="m1")) == ["m0", "m1"]
        assert await store.list_messages("chat", branch="elsewhere") == []
        assert ids(await store.list_messages("chat", limit=2)) == ["m4", "x5"]

    @promise
    async def test_a_page_knows_the_parents_that_lie_before_it(self, store: ConversationStore) -> None:
        await chat(store, *NAMES)
        assert [each.parent_id for each in await store.list_messages("chat", limit=2)] == ["m4", "m5"]

    @promise
    async def test_what_lasts_is_found_in_its_branch_and_nothing_else(self, store: ConversationStore) -> None:
        await chat(store, *NAMES)
        rule = Message(id="rule", role="system", parts=(Text(text="Be kind."),))
        pinned = Message(id="pin", role="user", parts=(Text(text="I am Ada."),), metadata={"pinned": True})
        almost = Message(id="no", role="user", metadata={"pinned": "true"})
        await store.append_messages("chat", [rule, said("x"), almost], after="m1")
        await store.append_messages("chat", [pinned, said("y")], after="x")
        assert ids(await store.list_lasting_messages("chat")) == ["rule", "pin"]
        assert ids(await store.list_lasting_messages("chat", branch="no")) == ["rule"]
        assert await store.list_lasting_messages("chat", branch="m6") == []
        assert await store.list_lasting_messages("chat", branch="nothing") == []
        assert await store.list_lasting_messages("nothing") == []
        assert await store.list_lasting_messages("chat", tenant="other") == []
        (rule_again, _) = await store.list_lasting_messages("chat")
        assert rule_again == await store.get_message("chat", "rule")
