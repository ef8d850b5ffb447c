"""Promises about blobs and checkpoints."""

from __future__ import annotations

import hashlib

import pytest
from msgspec import structs

from rejoinder.messages import Message
from rejoinder.ports.journal import AlreadyExists, Checkpoint, NoSuchConversation
from rejoinder.ports.store import ConversationStore
from rejoinder.testing.store_contract.samples import NOON, ODD_TEXTS, PARTS, chat, said
from rejoinder.testing.store_contract.suite import Suite, promise


def checkpoint(id: str = "k1", **changes: object) -> Checkpoint:
    """A summary that stands for the first two messages of the conversation `chat`."""
    plain = Checkpoint(
        id=id,
        conversation_id="chat",
        through_seq=1,
        summary=said(f"summary of {id}", role="system"),
        strategy="sliding-window",
        created_at=NOON,
    )
    return structs.replace(plain, **changes)


class Blobs(Suite):
    """Contents are kept under what they are."""

    @pytest.mark.parametrize("content", [b"", b"\x00\xff", bytes(range(256)) * 8192])
    @promise
    async def test_a_content_comes_back_with_its_type(self, store: ConversationStore, content: bytes) -> None:
        digest = await store.put_blob(content, media_type="image/png")
        assert digest == hashlib.sha256(content).hexdigest()
        assert await store.get_blob(digest) == (content, "image/png")

    @promise
    async def test_a_content_is_kept_once_a_tenant(self, store: ConversationStore) -> None:
        first = await store.put_blob(b"same", media_type="text/plain")
        assert await store.put_blob(b"same", media_type="text/html") == first
        assert await store.get_blob(first) == (b"same", "text/plain")
        assert await store.get_blob(first, tenant="somebody else") is None
        await store.put_blob(b"same", media_type="text/html", tenant="somebody else")
        assert await store.get_blob(first, tenant="somebody else") == (b"same", "text/html")

    @promise
    async def test_what_was_not_kept_is_not_there(self, store: ConversationStore) -> None:
        assert await store.get_blob("0" * 64) is None


class Checkpoints(Suite):
    """What a summary stands for is remembered, and can be taken back."""

    @promise
    async def test_a_checkpoint_comes_back_as_it_was(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        whole = checkpoint(
            summary=Message(id="s", role="system", parts=(*PARTS.values(),), created_at=NOON),
            metadata={"dropped": 7, "odd": ODD_TEXTS["nul"]},
        )
        await store.add_checkpoint(whole)
        assert await store.list_checkpoints("chat") == [whole]

    @pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
    @promise
    async def test_a_checkpoint_keeps_odd_text(self, store: ConversationStore, text: str) -> None:
        await chat(store, "u1")
        odd = checkpoint(summary=said("s", text, role="system"), strategy=text or "-", metadata={"a": text})
        await store.add_checkpoint(odd)
        assert await store.list_checkpoints("chat") == [odd]

    @promise
    async def test_checkpoints_are_listed_in_the_order_in_which_they_came(
        self, store: ConversationStore
    ) -> None:
        await chat(store, "u1", "a1")
        for id in ("b", "a", "c"):
            await store.add_checkpoint(checkpoint(id))
        assert [each.id for each in await store.list_checkpoints("chat")] == ["b", "a", "c"]

    @promise
    async def test_a_checkpoint_is_undone_once(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        await store.add_checkpoint(checkpoint())
        assert await store.undo_checkpoint("chat", "k1")
        assert not await store.undo_checkpoint("chat", "k1")
        assert not await store.undo_checkpoint("chat", "elsewhere")
        assert not await store.undo_checkpoint("elsewhere", "k1")
        assert await store.list_checkpoints("chat") == []
        (undone,) = await store.list_checkpoints("chat", undone=True)
        assert undone.undone_at is not None
        assert structs.replace(undone, undone_at=None) == checkpoint()
        assert len(await store.list_messages("chat")) == 2

    @promise
    async def test_a_checkpoint_that_cannot_be_is_refused(self, store: ConversationStore) -> None:
        with pytest.raises(NoSuchConversation):
            await store.add_checkpoint(checkpoint())
        await chat(store, "u1", "a1")
        await store.add_checkpoint(checkpoint())
        with pytest.raises(AlreadyExists):
            await store.add_checkpoint(checkpoint(through_seq=0))
        assert await store.list_checkpoints("chat") == [checkpoint()]

    @promise
    async def test_ids_belong_to_their_conversation(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        await chat(store, "u1", "a1", conversation="other")
        await store.add_checkpoint(checkpoint())
        await store.add_checkpoint(checkpoint(conversation_id="other", through_seq=0))
        assert [each.through_seq for each in await store.list_checkpoints("other")] == [0]
        assert await store.list_checkpoints("nothing") == []
        await store.delete_conversation("chat")
        assert await store.list_checkpoints("chat", undone=True) == []
        assert len(await store.list_checkpoints("other")) == 1
