"""Transcripts of vendors' sessions, in the database."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from rejoinder.ports.store import DEFAULT_TENANT
from rejoinder.ports.transcripts import TranscriptEntry, TranscriptInfo, TranscriptKey
from rejoinder.stores.postgres.database import Database
from rejoinder.stores.postgres.values import Bodies, Texts


class Transcripts:
    """The methods of `TranscriptStore`. Each is one statement."""

    _database: Database

    async def append_transcript(
        self,
        key: TranscriptKey,
        entries: Sequence[TranscriptEntry],
        *,
        conversation_id: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> None:
        if entries:
            await self._database.ask(
                "append_transcript",
                tenant,
                conversation_id,
                key.project,
                key.session,
                key.part,
                Texts([entry.id for entry in entries]),
                Texts([hashlib.sha256(entry.body).hexdigest() for entry in entries]),
                Bodies([entry.body for entry in entries]),
            )

    async def read_transcript(
        self, key: TranscriptKey, *, tenant: str = DEFAULT_TENANT
    ) -> list[bytes] | None:
        rows = await self._database.ask("read_transcript", tenant, key.project, key.session, key.part)
        return [bytes(body) for (body,) in rows] or None

    async def list_transcripts(self, project: str, *, tenant: str = DEFAULT_TENANT) -> list[TranscriptInfo]:
        rows = await self._database.ask("list_transcripts", tenant, project)
        return [TranscriptInfo(session=session, modified_at=modified_at) for session, modified_at in rows]

    async def list_transcript_parts(
        self, project: str, session: str, *, tenant: str = DEFAULT_TENANT
    ) -> list[str]:
        return [
            part for (part,) in await self._database.ask("list_transcript_parts", tenant, project, session)
        ]

    async def delete_transcript(self, key: TranscriptKey, *, tenant: str = DEFAULT_TENANT) -> None:
        await self._database.ask("delete_transcript", tenant, key.project, key.session, key.part)
