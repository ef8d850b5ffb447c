"""Erasing what belongs to a subject: found first, then taken away, a conversation in each transaction.

Whoever is interrupted does it again: what is gone is not found any more, and forks go before what they were forked
from, by which they are found. What a blob belongs to is written nowhere: it goes if something names its digest that
goes, or if it is JSON that names the conversation, and if nothing that stays names it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final, NamedTuple

import psycopg

from rejoinder.convert.escapes import load_text
from rejoinder.errors import InvalidJson
from rejoinder.ports.store import DEFAULT_TENANT
from rejoinder.stores.postgres.database import Database, Step
from rejoinder.stores.postgres.statements import statements
from rejoinder.stores.postgres.values import Numbers, Texts, adapters
from rejoinder.wire import json

BLOBS_AT_ONCE: Final = 100
"""So many are held in memory at a time: each may have megabytes."""

_TEXT: Final = re.compile(rb'"(?:[^"\\]|\\.)*"')
"""A text in JSON."""


class Erasure(NamedTuple):
    """What of a conversation goes: all of it (`whole`), or these messages. `blobs` are digests."""

    conversation_id: str
    whole: bool
    seqs: tuple[int, ...]
    message_ids: tuple[str, ...]
    blobs: tuple[str, ...] = ()


class Erased(NamedTuple):
    """How much went, or would go."""

    turns: int = 0
    messages: int = 0
    parts: int = 0
    pages: int = 0
    provider_calls: int = 0
    checkpoints: int = 0
    transcript_entries: int = 0
    blobs: int = 0

    def plus(self, other: Erased) -> Erased:
        """Both together."""
        return Erased(*(one + another for one, another in zip(self, other, strict=True)))


class Erasing:
    """Erasing, in the database."""

    _database: Database
    schema: str

    async def list_erasures(self, subject: str, *, tenant: str = DEFAULT_TENANT) -> list[Erasure]:
        """What there is of a subject, in the order in which it has to go.

        A conversation goes whole if its turns name no other subject. Reads every turn of the tenant, and if it has
        blobs, all that could name one: that takes as long as it takes.
        """
        queries = statements(self.schema)
        async with await psycopg.AsyncConnection.connect(
            self._database.url, autocommit=True, context=adapters(), cursor_factory=psycopg.AsyncRawCursor
        ) as connection:
            cursor = await connection.execute(
                queries["list_erasures"], (tenant, subject), prepare=False, binary=True
            )
            found = [
                Erasure(load_text(id), whole, tuple(seqs), tuple(map(load_text, ids)))
                async for id, whole, seqs, ids in cursor
            ]
            digests: Mapping[str, set[str]] = {}
            if found and await self._database.ask("list_blobs", tenant, "", 1):
                cursor = await connection.execute(
                    queries["blob_mentions"], (tenant, subject), prepare=False, binary=True
                )
                digests = await self._blobs(found, await cursor.fetchall(), tenant)
        return [each._replace(blobs=tuple(sorted(digests.get(each.conversation_id, ())))) for each in found]

    async def erase(
        self, subject: str, erasure: Erasure, *, tenant: str = DEFAULT_TENANT, dry_run: bool = False
    ) -> Erased | None:
        """Take it away, in one transaction, and say how much it was; with `dry_run` only say it.

        None: the conversation is gone, or it has come to name somebody else since it was listed. List again.
        """
        place = (tenant, subject, erasure.conversation_id, not dry_run)
        steps: list[Step] = [("lock_conversation", (tenant, erasure.conversation_id))]
        if erasure.whole:
            steps.append(("erase_conversation", place))
        else:
            steps.append(("erase_in_conversation", (*place, Numbers(erasure.seqs))))
            steps.append(("say_erased", (tenant, erasure.conversation_id)))
        if not dry_run:
            must_be_gone = erasure.conversation_id if erasure.whole else None
            steps.append(("erase_blobs", (tenant, Texts(erasure.blobs), must_be_gone)))
        answers = await self._database.run(*steps)
        counts = answers[1]
        if not counts:
            return None
        return Erased._make((*counts[0], len(erasure.blobs) if dry_run else len(answers[-1])))

    async def _blobs(
        self, found: Iterable[Erasure], mentions: Iterable[tuple[str, bool, str]], tenant: str
    ) -> Mapping[str, set[str]]:
        """The digests of the blobs that go, by the conversations that they go with."""
        going: defaultdict[str, set[str]] = defaultdict(set)
        staying: set[str] = set()
        for conversation_id, goes, digest in mentions:
            if goes:
                going[load_text(conversation_id)].add(digest)
            else:
                staying.add(digest)
        names = {each.conversation_id: each for each in found}
        async for digest, texts in self._texts(tenant):
            for conversation_id in texts & names.keys():
                each = names[conversation_id]
                if each.whole or not texts.isdisjoint(each.message_ids):
                    going[conversation_id].add(digest)
        return {conversation_id: digests - staying for conversation_id, digests in going.items()}

    async def _texts(self, tenant: str) -> AsyncIterator[tuple[str, set[str]]]:
        """The texts in each blob of JSON."""
        digest = ""
        while blobs := await self._database.ask("list_blobs", tenant, digest, BLOBS_AT_ONCE):
            for digest, content in blobs:
                if content is not None:
                    yield digest, set(_texts_of(bytes(content)))


def _texts_of(content: bytes) -> Iterator[str]:
    for found in _TEXT.findall(content):
        # A row that could not be imported is kept as it came, whatever that is.
        with suppress(InvalidJson):
            yield str(json.decode(found))
