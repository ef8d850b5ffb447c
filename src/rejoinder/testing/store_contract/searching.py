"""Promises about the search for conversations: whole words, in titles and texts."""

from __future__ import annotations

import pytest

from rejoinder.messages import Message, Text
from rejoinder.ports.store import ConversationStore
from rejoinder.testing.store_contract.samples import ODD_TEXTS, chat, said
from rejoinder.testing.store_contract.suite import Suite, promise


async def found(store: ConversationStore, search: str) -> set[str]:
    """The ids of what a search finds."""
    return {each.id for each in await store.list_conversations(search=search)}


class Searching(Suite):
    """A conversation is found by the words of its title and its texts."""

    @promise
    async def test_a_search_finds_words_of_titles(self, store: ConversationStore) -> None:
        await store.create_conversation(id="a", title="A trip to Lisbon")
        await store.create_conversation(id="b", title="Taxes")
        await store.create_conversation(id="c")
        assert await found(store, "lisbon") == {"a"}

    @promise
    async def test_a_search_finds_words_of_texts(self, store: ConversationStore) -> None:
        await chat(store, "u1", conversation="a")
        await chat(store, "u1", conversation="b")
        await store.append_messages("b", [said("m", "The kangaroo hops.", role="assistant")])
        assert await found(store, "kangaroo") == {"b"}
        assert await found(store, "this") == {"a", "b"}

    @promise
    async def test_a_search_does_not_mind_upper_and_lower_case(self, store: ConversationStore) -> None:
        await store.create_conversation(id="a", title="Émile und ZÜRICH")
        assert await found(store, "émile zürich") == {"a"}
        assert await found(store, "ÉMILE") == {"a"}

    @promise
    async def test_a_search_wants_all_of_its_words(self, store: ConversationStore) -> None:
        await store.create_conversation(id="a", title="red fox")
        await store.create_conversation(id="b", title="red hen")
        assert await found(store, "fox red") == {"a"}

    @promise
    async def test_a_search_wants_whole_words(self, store: ConversationStore) -> None:
        await store.create_conversation(id="a", title="kangaroo")
        assert await found(store, "kanga") == set()

    @promise
    async def test_a_search_has_no_wildcards(self, store: ConversationStore) -> None:
        await store.create_conversation(id="a", title="abc")
        for search in ("%", "_", "a%", "a_c", "*", "ab*", ".*", "ab:*"):
            assert await found(store, search) == set(), search

    @pytest.mark.parametrize(
        "search",
        [
            "'",
            '"',
            "''",
            '"fox',
            "fox & !",
            "| fox",
            "!fox",
            "fox:*",
            "(",
            "\\",
            "<->",
            "fox <-> hen",
            "$1 %s",
        ],
    )
    @promise
    async def test_a_search_has_no_language(self, store: ConversationStore, search: str) -> None:
        await store.create_conversation(id="a", title="red fox")
        words = [word for word in ("fox", "hen") if word in search]
        assert await found(store, search) == ({"a"} if words == ["fox"] else set())

    @pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
    @promise
    async def test_a_word_is_found_beside_odd_text(self, store: ConversationStore, text: str) -> None:
        await chat(store, "u1")
        await store.append_messages("chat", [said("m", f"{text} kangaroo {text}")])
        assert await found(store, "kangaroo") == {"chat"}

    @pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
    @promise
    async def test_odd_text_can_be_searched_for(self, store: ConversationStore, text: str) -> None:
        await store.create_conversation(id="a", title="red fox")
        assert await found(store, f"{text} elephant") == set()

    @promise
    async def test_a_search_knows_what_was_changed_and_deleted(self, store: ConversationStore) -> None:
        await store.create_conversation(id="a", title="zebra")
        await store.append_messages("a", [said("m1", "lion"), said("m2", "tiger")])
        await store.update_conversation("a", title="gnu")
        await store.upsert_message("a", Message(id="m1", role="user", parts=(Text(text="bear"),)))
        await store.delete_message("a", "m2")
        assert await found(store, "gnu") == await found(store, "bear") == {"a"}
        assert await found(store, "zebra") | await found(store, "lion") | await found(store, "tiger") == set()

    @promise
    async def test_a_search_is_paged_like_any_list(self, store: ConversationStore) -> None:
        for n in range(5):
            await store.create_conversation(id=f"c{n}", title="fox" if n % 2 == 0 else "hen")
        first = await store.list_conversations(search="fox", limit=2)
        bound = (first[-1].updated_at, first[-1].id)
        rest = await store.list_conversations(search="fox", limit=2, before=bound)
        assert len(first) == 2
        assert {each.id for each in first + rest} == {"c0", "c2", "c4"}

    @promise
    async def test_a_search_stays_within_the_tenant(self, store: ConversationStore) -> None:
        await store.create_conversation(id="a", title="fox", tenant="ours")
        await store.create_conversation(id="b", title="fox", tenant="theirs")
        assert [each.id for each in await store.list_conversations(search="fox", tenant="ours")] == ["a"]
