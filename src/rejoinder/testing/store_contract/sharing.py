"""Promises about many at once: tenants that know nothing of each other, and workers that race."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Final, TypeVar

from msgspec import structs

from rejoinder.messages import Conversation, Message
from rejoinder.ports.journal import (
    Append,
    Appended,
    Claim,
    ConversationBusy,
    Fenced,
    Opening,
    Seal,
    StoredMessage,
    StoreError,
    TurnBegun,
    TurnExists,
)
from rejoinder.ports.store import ConversationStore
from rejoinder.testing.store_contract.keeping import checkpoint
from rejoinder.testing.store_contract.samples import (
    LEASE_SECONDS,
    append,
    begin,
    call,
    chat,
    frame,
    ids,
    new_turn,
    page,
    pages,
    record,
    said,
)
from rejoinder.testing.store_contract.suite import Advance, Suite, promise

Answer = TypeVar("Answer")

WRITERS: Final = 16
"""So many write at the same time, half of them through another worker."""

PLACES: Final = (("ada", "chat"), ("ada", "other"), ("bob", "chat"), ("bob", "other"))
"""Two tenants and two conversations of each, for the same ids everywhere."""


class Tenants(Suite):
    """What is another tenant's is not there, and the same ids are no collision."""

    @promise
    async def test_every_tenant_is_listed_once(self, store: ConversationStore) -> None:
        assert await store.list_tenants() == []
        for tenant in ("beta", "alpha", "gamma", "alpha"):
            await store.create_conversation(tenant=tenant)
        assert await store.list_tenants() == ["alpha", "beta", "gamma"]

    @promise
    async def test_two_tenants_and_two_conversations_use_the_same_ids_for_everything(
        self, store: ConversationStore
    ) -> None:
        for tenant, conversation in PLACES:
            text = f"{tenant} in {conversation}"
            turn = f"turn of {conversation}"  # a tenant's turns have ids of their own
            begun = await store.begin_turn(
                new_turn(
                    turn,
                    said("u1", text),
                    conversation_id=conversation,
                    tenant=tenant,
                    idempotency_key="key",
                    title=text,
                )
            )
            assert isinstance(begun, TurnBegun)
            assert [each.message.parts for each in begun.past] == [said("u1", text).parts]
            await append(store, begun.claim, page(0, 0, text.encode(), events=[text.encode()]))
            await store.end_turn(
                Seal(
                    claim=begun.claim,
                    status="succeeded",
                    messages=(said("a1", text, role="assistant"),),
                    provider_calls=(call("call", model=text),),
                )
            )
            await store.add_checkpoint(
                checkpoint("k1", conversation_id=conversation, strategy=text), tenant=tenant
            )
        for tenant, conversation in PLACES:
            text = f"{tenant} in {conversation}"
            turn = f"turn of {conversation}"
            stored = await store.list_messages(conversation, tenant=tenant)
            assert ids(stored) == ["u1", "a1"]
            assert all(each.message.parts == said("u1", text).parts for each in stored)
            found = await store.get_conversation(conversation, tenant=tenant)
            assert found is not None
            assert found.title == text
            assert [each.id for each in await store.list_turns(conversation, tenant=tenant)] == [turn]
            (written,) = (await store.read_pages(turn, events=True, tenant=tenant)).pages
            assert (written.frames, written.events[0].body) == (text.encode(), text.encode())
            (called,) = await store.list_provider_calls(turn, tenant=tenant)
            assert called.model == text
            (kept,) = await store.list_checkpoints(conversation, tenant=tenant)
            assert kept.strategy == text
        assert await store.delete_message("chat", "u1", tenant="ada") == 2
        assert await store.delete_conversation("other", tenant="ada")
        for conversation in ("chat", "other"):
            assert len(await store.list_messages(conversation, tenant="bob")) == 2

    @promise
    async def test_nothing_of_another_tenant_can_be_read(self, store: ConversationStore) -> None:
        begun = await begin(store, "turn", said("u1"), tenant="ada", idempotency_key="key")
        await append(store, begun.claim, *pages(1))
        await store.add_checkpoint(checkpoint(), tenant="ada")
        assert await store.get_conversation("chat", tenant="bob") is None
        assert await store.list_conversations(tenant="bob") == []
        assert await store.list_conversations(tenant="bob", search="hello") == []
        assert await store.list_messages("chat", tenant="bob") == []
        assert await store.list_messages("chat", branch="u1", tenant="bob") == []
        assert await store.get_message("chat", "u1", tenant="bob") is None
        assert await store.list_siblings("chat", "u1", tenant="bob") == []
        assert await store.get_turn("turn", tenant="bob") is None
        assert await store.list_turns("chat", tenant="bob") == []
        assert await store.live_turn("chat", tenant="bob") is None
        assert await store.list_provider_calls("turn", tenant="bob") == []
        assert await store.list_checkpoints("chat", undone=True, tenant="bob") == []

    @promise
    async def test_nothing_of_another_tenant_can_be_written(self, store: ConversationStore) -> None:
        begun = await begin(store, "turn", said("u1"), tenant="ada")
        await store.add_checkpoint(checkpoint(), tenant="ada")
        before = await _everything(store, "ada")
        theirs = structs.replace(begun.claim, tenant="bob")

        async def trespass() -> None:
            assert not await store.delete_conversation("chat", tenant="bob")
            assert await store.update_conversation("chat", title="mine", tenant="bob") is None
            assert await store.delete_message("chat", "u1", tenant="bob") == 0
            assert not await store.undo_checkpoint("chat", "k1", tenant="bob")
            assert not await store.request_stop("turn", tenant="bob")
            assert await store.renew([theirs], lease_seconds=LEASE_SECONDS) == [None]
            assert await append(store, theirs, *pages(1)) == [Fenced(reason="unknown-turn")]
            for attempt in (
                store.append_messages("chat", [said("u2")], tenant="bob"),
                store.upsert_message("chat", said("u1", "mine"), tenant="bob"),
                store.choose_branch("chat", "u1", tenant="bob"),
                store.fork_conversation("chat", tenant="bob"),
                store.append_turn(record("of bob"), tenant="bob"),
                store.add_checkpoint(checkpoint("k2"), tenant="bob"),
                store.end_turn(Seal(claim=theirs, status="failed")),
                store.begin_turn(new_turn("t", tenant="bob", after="u1")),
            ):
                try:
                    await attempt
                except StoreError:
                    continue
                raise AssertionError("this has to be refused")

        await trespass()
        assert await _everything(store, "ada") == before
        assert await store.list_conversations(tenant="bob") == []


async def _everything(store: ConversationStore, tenant: str) -> tuple[object, ...]:
    found = await store.list_conversations(tenant=tenant)
    return (
        found,
        [await store.list_messages(each.id, tenant=tenant) for each in found],
        [await store.list_turns(each.id, tenant=tenant) for each in found],
        [await store.list_checkpoints(each.id, undone=True, tenant=tenant) for each in found],
    )


class Races(Suite):
    """Whoever comes at the same moment comes one after the other."""

    @promise
    async def test_sixteen_writers_of_one_conversation_leave_no_gap(
        self, store: ConversationStore, peer: ConversationStore
    ) -> None:
        await store.create_conversation(id="chat")

        async def write(writer: int) -> list[list[StoredMessage]]:
            through = (store, peer)[writer % 2]
            return [
                await through.append_messages(
                    "chat", [said(f"{writer}-{number}-{place}") for place in range(1 + number % 3)]
                )
                for number in range(6)
            ]

        written = [each for writer in await _at_once(write) for each in writer]
        stored = await store.list_messages("chat")
        assert [each.seq for each in stored] == list(range(len(stored)))
        assert len(stored) == sum(map(len, written)) == WRITERS * 12
        # Each call's messages stand together, and in the place that the call was told.
        for group in written:
            assert stored[group[0].seq : group[-1].seq + 1] == group
        # One line: each answers the one before it.
        assert [each.parent_id for each in stored] == [None, *ids(stored)[:-1]]

    @promise
    async def test_writers_of_all_kinds_leave_no_gap(
        self, store: ConversationStore, peer: ConversationStore
    ) -> None:
        await store.create_conversation(id="chat")

        async def write(writer: int) -> None:
            through = (store, peer)[writer % 2]
            await through.append_messages("chat", [said(f"a{writer}")])
            await through.upsert_message("chat", said(f"b{writer}"))
            await through.upsert_message("chat", said(f"a{writer}", "again"))
            opening = await through.begin_turn(new_turn(f"t{writer}", said(f"c{writer}")))
            if isinstance(opening, TurnBegun):
                await through.end_turn(
                    Seal(claim=opening.claim, status="succeeded", messages=(said(f"d{writer}"),))
                )

        await _at_once(write)
        stored = await store.list_messages("chat")
        assert [each.seq for each in stored] == list(range(len(stored)))
        assert {f"{kind}{n}" for kind in "ab" for n in range(WRITERS)} <= set(ids(stored))

    @promise
    async def test_of_workers_that_race_for_a_conversation_one_wins(
        self, store: ConversationStore, peer: ConversationStore
    ) -> None:
        for number in range(10):
            conversation = f"chat-{number}"

            async def race(worker: int, conversation: str = conversation) -> Opening:
                through = (store, peer)[worker % 2]
                return await through.begin_turn(
                    new_turn(f"{conversation}-{worker}", said(f"u{worker}"), conversation_id=conversation)
                )

            openings = await _at_once(race, 4)
            (won,) = [opening for opening in openings if isinstance(opening, TurnBegun)]
            assert [each.turn.id for each in openings if isinstance(each, ConversationBusy)] == [
                won.turn.id
            ] * 3
            assert ids(await store.list_messages(conversation)) == ids(won.past)
            assert len(won.past) == 1

    @promise
    async def test_of_the_same_requests_at_the_same_moment_one_begins_a_turn(
        self, store: ConversationStore, peer: ConversationStore
    ) -> None:
        for number in range(10):
            conversation = f"chat-{number}"

            async def race(worker: int, conversation: str = conversation) -> Opening:
                through = (store, peer)[worker % 2]
                return await through.begin_turn(
                    new_turn(
                        f"{conversation}-{worker}",
                        said("u1"),
                        conversation_id=conversation,
                        idempotency_key="key",
                        fingerprint="same",
                    )
                )

            openings = await _at_once(race, 4)
            (won,) = [opening for opening in openings if isinstance(opening, TurnBegun)]
            assert [each.turn.id for each in openings if isinstance(each, TurnExists)] == [won.turn.id] * 3
            assert len(await store.list_turns(conversation)) == 1

    @promise
    async def test_a_turn_without_an_owner_is_taken_by_one_of_those_who_race_for_it(
        self, store: ConversationStore, peer: ConversationStore, advance: Advance
    ) -> None:
        turns = [f"turn-{number}" for number in range(12)]
        for turn in turns:
            await begin(store, turn, conversation_id=turn)
        await advance(2 * LEASE_SECONDS)

        async def take(worker: int) -> list[Claim]:
            through = (store, peer)[worker % 2]
            return await through.stale_turns(owner=f"w{worker}", lease_seconds=LEASE_SECONDS, limit=3)

        taken = [claim for claims in await _at_once(take, 8) for claim in claims]
        left = await store.stale_turns(owner="last", lease_seconds=LEASE_SECONDS, limit=99)
        assert sorted(claim.turn_id for claim in (*taken, *left)) == sorted(turns)
        assert {claim.epoch for claim in (*taken, *left)} == {2}

    @promise
    async def test_of_pages_for_one_place_one_is_taken(
        self, store: ConversationStore, peer: ConversationStore
    ) -> None:
        begun = await begin(store)

        async def write(writer: int) -> Appended | Fenced:
            through = (store, peer)[writer % 2]
            (answer,) = await through.append_pages(
                [Append(claim=begun.claim, page=page(0, 0, b"%d" % writer))]
            )
            return answer

        answers = await _at_once(write)
        (won,) = [writer for writer, answer in enumerate(answers) if isinstance(answer, Appended)]
        assert {each.reason for each in answers if isinstance(each, Fenced)} == {"taken"}
        assert (await store.read_pages("turn")).pages == (page(0, 0, b"%d" % won),)

    @promise
    async def test_a_turn_that_is_ended_twice_at_the_same_moment_ends_once(
        self, store: ConversationStore, peer: ConversationStore
    ) -> None:
        begun = await begin(store)

        async def end(worker: int) -> Message | None:
            through = (store, peer)[worker % 2]
            said_last = said("answer", f"{worker}", role="assistant")
            await through.end_turn(Seal(claim=begun.claim, status="succeeded", messages=(said_last,)))
            stored = await through.get_message("chat", "answer")
            return None if stored is None else stored.message

        seen = await _at_once(end, 6)
        assert seen[0] is not None
        assert all(each == seen[0] for each in seen)
        assert len(await store.list_messages("chat")) == 1

    @promise
    async def test_a_conversation_that_is_deleted_meanwhile_is_gone_whole(
        self, store: ConversationStore, peer: ConversationStore
    ) -> None:
        await chat(store, "u0")

        async def work(worker: int) -> Conversation | None:
            if worker == 3:
                await asyncio.sleep(0)
                assert await store.delete_conversation("chat")
                return None
            try:
                await peer.append_messages("chat", [said(f"m{worker}")])
            except StoreError:
                return None
            return await peer.get_conversation("chat")

        await _at_once(work, 8)
        assert await store.get_conversation("chat") is None
        await store.create_conversation(id="chat")
        assert await store.list_messages("chat") == []

    @promise
    async def test_readers_of_pages_see_no_page_twice_and_none_torn(
        self, store: ConversationStore, peer: ConversationStore
    ) -> None:
        begun = await begin(store)
        count = 40

        async def write() -> None:
            for number in range(count):
                await append(store, begun.claim, page(number, number, frame(number)))
            await store.end_turn(Seal(claim=begun.claim, status="succeeded"))

        async def read() -> Sequence[bytes]:
            return [each.frames async for each in peer.follow("turn")]

        async with asyncio.TaskGroup() as group:
            group.create_task(write())
            readers = [group.create_task(read()) for _ in range(5)]
        for reader in readers:
            assert reader.result() == [frame(number) for number in range(count)]


async def _at_once(
    work: Callable[[int], Coroutine[None, None, Answer]], count: int = WRITERS
) -> list[Answer]:
    """What each of so many workers answers who begin at the same moment."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work(number)) for number in range(count)]
    return [task.result() for task in tasks]
