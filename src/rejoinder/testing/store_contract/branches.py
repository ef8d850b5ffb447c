"""Promises about the tree of messages: branches, siblings, deletion, forks."""

from __future__ import annotations

import pytest

from rejoinder.messages import Message
from rejoinder.ports.journal import ROOT, AlreadyExists, NoSuchConversation, NoSuchMessage, NoSuchTurn
from rejoinder.ports.store import ConversationStore
from rejoinder.testing.store_contract.samples import (
    NOON,
    PARTS,
    append,
    begin,
    chat,
    ids,
    new_turn,
    pages,
    said,
)
from rejoinder.testing.store_contract.suite import Advance, Suite, promise


async def active(store: ConversationStore, conversation: str = "chat") -> list[str]:
    """The ids of the active branch."""
    return ids(await store.list_messages(conversation))


class Branches(Suite):
    """A message that was answered before can be answered again; one of the branches is the active one."""

    @promise
    async def test_a_second_answer_begins_a_branch_that_is_active(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1", "u2")
        (stored,) = await store.append_messages("chat", [said("a1b", role="assistant")], after="u1")
        assert (stored.seq, stored.parent_id) == (3, "u1")
        assert await active(store) == ["u1", "a1b"]
        assert ids(await store.list_messages("chat", branch="u2")) == ["u1", "a1", "u2"]

    @promise
    async def test_what_follows_goes_on_with_the_active_branch(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1", "u2")
        await store.append_messages("chat", [said("a1b")], after="u1")
        await store.append_messages("chat", [said("u2b")])
        await store.upsert_message("chat", said("a2b"))
        assert await active(store) == ["u1", "a1b", "u2b", "a2b"]

    @promise
    async def test_the_first_message_can_have_siblings(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        await store.append_messages("chat", [said("u1b"), said("a1b")], after=ROOT)
        assert await active(store) == ["u1b", "a1b"]
        assert ids(await store.list_siblings("chat", "u1")) == ["u1", "u1b"]

    @promise
    async def test_siblings_are_given_oldest_first_and_whole(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        for n in range(3):
            message = Message(id=f"a1-{n}", role="assistant", parts=tuple(PARTS.values()))
            await store.append_messages("chat", [message], after="u1")
        siblings = await store.list_siblings("chat", "a1-1")
        assert ids(siblings) == ["a1", "a1-0", "a1-1", "a1-2"]
        assert siblings[1] == await store.get_message("chat", "a1-0")
        assert ids(await store.list_siblings("chat", "u1")) == ["u1"]

    @promise
    async def test_forks_of_a_page_are_listed_in_one_look(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1", "u2")
        await store.append_messages("chat", [said("a1b"), said("u2b")], after="u1")
        await store.append_messages("chat", [said("u1b")], after=ROOT)
        forks = {"u1": ("u1", "u1b"), "a1b": ("a1", "a1b")}
        assert await store.list_forks("chat", ["u1", "a1b", "u2b", "nobody"]) == forks
        assert await store.list_forks("chat", []) == {}
        assert await store.list_forks("chat", ["u1"], tenant="other") == {}

    @promise
    async def test_a_branch_is_chosen_with_all_that_came_after(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1", "u2", "a2")
        await store.append_messages("chat", [said("a1b"), said("u2b")], after="u1")
        await store.choose_branch("chat", "a1")
        assert await active(store) == ["u1", "a1", "u2", "a2"]
        await store.choose_branch("chat", "a1b")
        assert await active(store) == ["u1", "a1b", "u2b"]

    @promise
    async def test_choosing_a_message_above_a_fork_leads_to_the_newest(
        self, store: ConversationStore
    ) -> None:
        await chat(store, "u1", "a1", "u2")
        await store.append_messages("chat", [said("a1b")], after="u1")
        await store.choose_branch("chat", "u2")
        await store.choose_branch("chat", "u1")
        assert await active(store) == ["u1", "a1b"]

    @promise
    async def test_a_branch_that_is_not_there_cannot_be_chosen(self, store: ConversationStore) -> None:
        with pytest.raises(NoSuchConversation):
            await store.choose_branch("chat", "u1")
        await chat(store, "u1")
        with pytest.raises(NoSuchMessage):
            await store.choose_branch("chat", "elsewhere")
        assert await active(store) == ["u1"]

    @promise
    async def test_a_tree_of_many_turnings_stays_a_tree(self, store: ConversationStore) -> None:
        await chat(store, "0")
        paths = {"0": ["0"]}
        # Each message answers one of the earlier ones, many of which have been answered before.
        for n in range(1, 40):
            parent = str(n * 7 % n if n % 3 else n - 1)
            await store.append_messages("chat", [said(str(n))], after=parent)
            paths[str(n)] = [*paths[parent], str(n)]
            assert await active(store) == paths[str(n)]
        for id, path in paths.items():
            assert ids(await store.list_messages("chat", branch=id)) == path

    @promise
    async def test_a_deletion_takes_along_all_that_came_after(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1", "u2", "a2")
        await store.append_messages("chat", [said("a2b")], after="u2")
        assert await store.delete_message("chat", "u2") == 3
        assert await active(store) == ["u1", "a1"]
        for gone in ("u2", "a2", "a2b"):
            assert await store.get_message("chat", gone) is None

    @promise
    async def test_a_deletion_does_not_go_by_time(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat")
        tied = [Message(id=f"m{n}", role="user", created_at=NOON) for n in range(4)]
        await store.append_messages("chat", tied)
        assert await store.delete_message("chat", "m2") == 2
        assert await active(store) == ["m0", "m1"]

    @promise
    async def test_a_deletion_leaves_other_branches_alone(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1", "u2")
        await store.append_messages("chat", [said("a1b"), said("u2b")], after="u1")
        assert await store.delete_message("chat", "a1") == 2
        assert await active(store) == ["u1", "a1b", "u2b"]
        assert ids(await store.list_siblings("chat", "a1b")) == ["a1b"]

    @promise
    async def test_ids_are_free_after_a_deletion_and_seqs_are_not(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        await store.delete_message("chat", "a1")
        (stored,) = await store.append_messages("chat", [said("a1", "Other")])
        assert (stored.seq, stored.parent_id) == (2, "u1")

    @promise
    async def test_a_branch_whose_end_was_deleted_goes_on(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1", "u2")
        await store.append_messages("chat", [said("a1b")], after="u1")
        await store.delete_message("chat", "a1")
        await store.append_messages("chat", [said("a1c"), said("u2c")], after="u1")
        assert await active(store) == ["u1", "a1c", "u2c"]
        assert ids(await store.list_messages("chat", branch="a1b")) == ["u1", "a1b"]

    @promise
    async def test_after_the_first_message_nothing_is_left(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        assert await store.delete_message("chat", "u1") == 2
        assert await active(store) == []
        (stored,) = await store.append_messages("chat", [said("u1")])
        assert (stored.seq, stored.parent_id) == (2, None)
        assert await active(store) == ["u1"]

    @promise
    async def test_a_deletion_moves_the_conversation_to_the_top(
        self, store: ConversationStore, advance: Advance
    ) -> None:
        await chat(store, "u1", "a1")
        await advance(1)
        await store.create_conversation(id="other")
        await advance(1)
        await store.delete_message("chat", "a1")
        assert [each.id for each in await store.list_conversations()] == ["chat", "other"]


class Forks(Suite):
    """A fork is a copy of a branch that knows where it came from."""

    @promise
    async def test_a_fork_copies_the_active_branch(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat", title="Trip", metadata={"n": 1})
        await store.append_messages("chat", [said("u1"), said("a1"), said("u2")], turn_id="turn")
        whole = Message(
            id="a1b", role="assistant", parts=tuple(PARTS.values()), metadata=None, status="complete"
        )
        await store.append_messages("chat", [whole], after="u1")
        fork = await store.fork_conversation("chat", new_id="fork")
        assert (fork.id, fork.title, fork.metadata, fork.parent_id) == ("fork", "Trip", {"n": 1}, "chat")
        assert await store.get_conversation("fork") == fork
        copies = await store.list_messages("fork")
        originals = await store.list_messages("chat")
        assert [each.message for each in copies] == [each.message for each in originals]
        assert [(each.seq, each.parent_id) for each in copies] == [(0, None), (1, "u1")]

    @promise
    async def test_a_fork_can_end_earlier(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1", "u2", "a2")
        await store.fork_conversation("chat", at="a1", new_id="fork")
        assert await active(store, "fork") == ["u1", "a1"]

    @promise
    async def test_a_fork_can_be_of_a_branch_that_is_not_active(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1", "u2")
        await store.append_messages("chat", [said("a1b")], after="u1")
        await store.fork_conversation("chat", at="u2", new_id="fork")
        assert await active(store, "fork") == ["u1", "a1", "u2"]

    @promise
    async def test_a_fork_and_its_original_go_separate_ways(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        await store.fork_conversation("chat", new_id="fork")
        await store.append_messages("fork", [said("u2", "there")])
        await store.append_messages("chat", [said("u2", "here")])
        await store.delete_message("fork", "a1")
        assert await active(store) == ["u1", "a1", "u2"]
        assert await active(store, "fork") == ["u1"]
        await store.delete_conversation("chat")
        assert await active(store, "fork") == ["u1"]
        fork = await store.get_conversation("fork")
        assert fork is not None
        assert fork.parent_id == "chat"

    @promise
    async def test_a_fork_can_be_answered_and_forked_again(self, store: ConversationStore) -> None:
        await chat(store, "u1", "a1")
        await store.fork_conversation("chat", new_id="fork")
        begun = await begin(store, "turn", said("u2"), conversation_id="fork")
        assert [stored.seq for stored in begun.past] == [0, 1, 2]
        await store.fork_conversation("fork", new_id="again")
        assert await active(store, "again") == ["u1", "a1", "u2"]
        assert await store.live_turn("again") is None

    @promise
    async def test_the_journal_stays_behind(self, store: ConversationStore) -> None:
        begun = await begin(store, "turn", said("u1"), idempotency_key="key")
        await append(store, begun.claim, *pages(1))
        await store.fork_conversation("chat", new_id="fork")
        assert await store.list_turns("fork") == []
        (copy,) = await store.list_messages("fork")
        assert copy.turn_id is None
        with pytest.raises(NoSuchTurn):
            await store.read_pages("elsewhere")
        opening = await store.begin_turn(new_turn("other", conversation_id="fork", idempotency_key="key"))
        assert opening.turn.id == "other"

    @promise
    async def test_a_fork_of_nothing_is_nothing(self, store: ConversationStore) -> None:
        await store.create_conversation(id="chat")
        await store.fork_conversation("chat", new_id="fork")
        assert await active(store, "fork") == []
        await store.append_messages("fork", [said("u1")])
        assert await active(store, "fork") == ["u1"]

    @promise
    async def test_a_fork_without_an_id_gets_one_of_its_own(self, store: ConversationStore) -> None:
        await chat(store, "u1")
        one, two = await store.fork_conversation("chat"), await store.fork_conversation("chat")
        assert len({one.id, two.id, "chat"}) == 3
        assert await active(store, one.id) == await active(store, two.id) == ["u1"]

    @promise
    async def test_a_fork_that_cannot_be_is_refused(self, store: ConversationStore) -> None:
        with pytest.raises(NoSuchConversation):
            await store.fork_conversation("chat", new_id="fork")
        await chat(store, "u1")
        with pytest.raises(NoSuchMessage):
            await store.fork_conversation("chat", at="elsewhere", new_id="fork")
        assert await store.get_conversation("fork") is None
        with pytest.raises(AlreadyExists):
            await store.fork_conversation("chat", new_id="chat")
        assert await active(store) == ["u1"]
