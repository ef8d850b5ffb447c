"""What is wrong at the door or with the tables: a class of error for each thing one can do."""

from __future__ import annotations

import socket
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from rejoinder.ports.journal import (
    Append,
    Seal,
    StoreError,
    StoreMisconfigured,
    StoreUnavailable,
)
from rejoinder.stores.postgres import PostgresConversationStore
from rejoinder.testing.store_contract.samples import begin, ids, new_turn, pages, said
from tests.stores.databases import Databases, server
from tests.stores.walks import opened, refused, walk


@pytest.fixture(scope="module")
def spoilt() -> Iterator[Databases]:
    """A server to do things to that no other test should suffer from."""
    with server(None) as started:
        yield started


# At the door


def test_a_server_that_is_not_there_is_unavailable_and_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

        async def steps() -> None:
            error = await refused(f"postgresql://ada:secret@127.0.0.1:{port}/shop")
            assert isinstance(error, StoreUnavailable)
            assert f"127.0.0.1:{port}/shop" in str(error)
            assert "whether it runs" in str(error)
            assert "secret" not in str(error)

        walk(steps)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("/{database}", "/nowhere"), ("does not exist", "Create the database")),
        (("rejoinder@", "nobody@"), ("does not exist", "Create the user")),
    ],
    ids=["database", "user"],
)
def test_a_name_that_is_not_there_is_a_mistake_of_the_url(
    spoilt: Databases, change: tuple[str, str], words: tuple[str, ...]
) -> None:
    url = spoilt.fresh()
    database = url.split("?")[0].rsplit("/", 1)[1]
    old, new = (each.format(database=database) for each in change)
    assert old in url

    async def steps() -> None:
        error = await refused(url.replace(old, new, 1))
        assert isinstance(error, StoreMisconfigured)
        for word in words:
            assert word in str(error)

    walk(steps)


@contextmanager
def asking_for_passwords(databases: Databases) -> Generator[None]:
    """Make the server of these databases ask everybody but its owner for a password."""
    with psycopg.connect(databases.url, autocommit=True) as connection:
        (file,) = connection.execute("SHOW hba_file").fetchone() or ("",)
        rules = Path(file)
        before = rules.read_text("utf-8")
        connection.execute("CREATE ROLE ada LOGIN PASSWORD 'right'")
        connection.execute("GRANT pg_read_all_data TO ada")
        rules.write_text("local all ada scram-sha-256\n" + before, "utf-8")
        connection.execute("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            rules.write_text(before, "utf-8")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("DROP ROLE ada")


def test_a_wrong_password_is_named_and_not_repeated(spoilt: Databases) -> None:
    url = spoilt.fresh()

    async def steps() -> None:
        for secret, words in (("wrong-secret", "password"), ("", "password")):
            who = f"ada:{secret}@" if secret else "ada@"
            error = await refused(url.replace("rejoinder@", who, 1))
            assert isinstance(error, StoreMisconfigured)
            assert words in str(error)
            assert "Correct the user or the password" in str(error)
            assert "wrong-secret" not in str(error)
        # The right one may come in, and may only read.
        async with opened(url.replace("rejoinder@", "ada:right@", 1)) as store:
            assert await store.list_conversations() == []
            with pytest.raises(StoreMisconfigured, match="Grant the user its rights"):
                await store.create_conversation()

    with asking_for_passwords(spoilt):
        walk(steps)


@pytest.mark.parametrize("url", ["", "nonsense", "mysql://ada:secret@db/shop", "postgresql://[::1/x:secret"])
def test_a_url_that_is_none_is_told_without_its_secrets(url: str) -> None:
    async def steps() -> None:
        with pytest.raises(StoreError) as told:
            await PostgresConversationStore(url or "=").open()
        assert isinstance(told.value, StoreMisconfigured)
        assert "secret" not in str(told.value)

    walk(steps)


# The tables


def test_tables_that_are_missing_too_old_or_too_new_are_told_with_the_way_out(spoilt: Databases) -> None:
    async def steps() -> None:
        error = await refused(spoilt.fresh(with_tables=False))
        assert isinstance(error, StoreMisconfigured)
        assert "rejoinder db upgrade" in str(error)
        for revision, words in (
            ("rejoinder_0001", "too old"),
            ("rejoinder_9999", "too new"),
        ):
            url = spoilt.fresh()
            with psycopg.connect(url) as connection:
                connection.execute("UPDATE rejoinder.migration SET version_num = %s", [revision])
            error = await refused(url)
            assert isinstance(error, StoreMisconfigured)
            assert words in str(error)
            assert ("rejoinder db upgrade" in str(error)) == (words == "too old")
            assert ("Install a newer Rejoinder" in str(error)) == (words == "too new")

    walk(steps)


def test_tables_that_are_taken_away_while_a_store_is_open_are_told(spoilt: Databases) -> None:
    url = spoilt.fresh()

    async def steps() -> None:
        async with opened(url) as store:
            await store.create_conversation(id="chat")
            with psycopg.connect(url) as connection:
                connection.execute("ALTER SCHEMA rejoinder RENAME TO away")
            with pytest.raises(StoreMisconfigured, match="rejoinder db upgrade"):
                await store.get_conversation("chat")
            with psycopg.connect(url) as connection:
                connection.execute("ALTER SCHEMA away RENAME TO rejoinder")
            assert await store.get_conversation("chat") is not None

    walk(steps)


def test_a_database_that_may_not_be_written_is_read_on(spoilt: Databases) -> None:
    url = spoilt.fresh()
    name = url.split("?")[0].rsplit("/", 1)[1]

    def read_only(value: str) -> None:
        with psycopg.connect(spoilt.url, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = {value}".encode())

    async def steps() -> None:
        async with opened(url) as store:
            begun = await begin(store, "turn", said("u1"))
        read_only("on")
        async with opened(url) as store:
            for attempt in (
                store.create_conversation(id="other"),
                store.append_messages("chat", [said("u2")]),
                store.begin_turn(new_turn("next", conversation_id="other")),
                store.append_pages([Append(claim=begun.claim, page=pages(1)[0])]),
                store.end_turn(Seal(claim=begun.claim, status="succeeded")),
            ):
                with pytest.raises(StoreMisconfigured, match="primary server"):
                    await attempt
            assert ids(await store.list_messages("chat")) == ["u1"]
        read_only("off")
        async with opened(url) as store:
            assert (await store.end_turn(Seal(claim=begun.claim, status="succeeded"))).status == "succeeded"
            assert await store.get_conversation("other") is None

    walk(steps)
