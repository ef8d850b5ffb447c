"""An edit takes the id of the message that it replaces, in every store, and loses nothing."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs

from rejoinder.messages import Message, Text
from rejoinder.ports.journal import ROOT, NewTurn, NoSuchMessage, Seal, TurnBegun, replaced_id
from rejoinder.ports.store import ConversationStore
from tests.chat.conftest import Opened

pytestmark = pytest.mark.usefixtures("stores")


def said(id: str, text: str, role: str = "user") -> Message:
    return Message(id=id, role="user" if role == "user" else "assistant", parts=(Text(text=text),))


NEW = NewTurn(
    id="t1",
    conversation_id="c",
    assistant_message_id="a1",
    owner="w",
    lease_seconds=10,
    tenant="default",
    messages=(said("u1", "first"),),
)


async def begun(store: ConversationStore, new: NewTurn) -> TurnBegun:
    opening = await store.begin_turn(new)
    assert isinstance(opening, TurnBegun)
    return opening


def test_the_old_message_stays_as_a_sibling_with_its_answers(stores: Opened) -> None:
    async def walk(store: ConversationStore) -> None:
        first = await begun(store, NEW)
        await store.end_turn(
            Seal(claim=first.claim, status="succeeded", messages=(said("a1", "one", "assistant"),))
        )
        second = structs.replace(
            NEW,
            id="t2",
            assistant_message_id="a2",
            messages=(said("u1", "second"),),
            after=ROOT,
            replaces="u1",
        )
        opening = await begun(store, second)
        assert [stored.message.parts for stored in opening.past] == [(Text(text="second"),)]
        siblings = await store.list_siblings("c", "u1")
        assert [stored.message.id for stored in siblings] == [replaced_id("u1", 0), "u1"]
        old = await store.list_messages("c", branch="a1")
        assert [stored.message.id for stored in old] == [replaced_id("u1", 0), "a1"]
        assert old[1].parent_id == replaced_id("u1", 0)

    asyncio.run(stores(walk))


def test_what_is_not_there_cannot_be_replaced_and_nothing_changes(stores: Opened) -> None:
    async def walk(store: ConversationStore) -> None:
        first = await begun(store, NEW)
        await store.end_turn(Seal(claim=first.claim, status="succeeded"))
        before = await store.list_messages("c")
        for replaced, after in (("nobody", ROOT), ("u1", "nobody")):
            with pytest.raises(NoSuchMessage):
                await store.begin_turn(
                    structs.replace(
                        NEW, id="t2", messages=(said(replaced, "x"),), after=after, replaces=replaced
                    )
                )
        assert await store.list_messages("c") == before
        assert await store.live_turn("c") is None

    asyncio.run(stores(walk))
