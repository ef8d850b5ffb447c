"""Transcripts of vendors' sessions, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rejoinder.ports.store import DEFAULT_TENANT
from rejoinder.ports.transcripts import TranscriptEntry, TranscriptInfo, TranscriptKey
from rejoinder.stores.memory.shelf import Shelf, Shelves


@dataclass
class Transcript:
    """One transcript, and whose it is."""

    modified_at: datetime
    owner: Shelf | None = None
    entries: list[bytes] = field(default_factory=list[bytes])
    seen: set[TranscriptEntry] = field(default_factory=set[TranscriptEntry])


class Transcripts:
    """The methods of `TranscriptStore`."""

    _shelves: Shelves
    _transcripts: dict[tuple[str, TranscriptKey], Transcript]

    async def append_transcript(
        self,
        key: TranscriptKey,
        entries: Sequence[TranscriptEntry],
        *,
        conversation_id: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> None:
        if not entries:
            return
        self._forget_orphans()
        now = self._shelves.clock()
        transcript = self._transcripts.get((tenant, key))
        if transcript is None:
            owner = None if conversation_id is None else self._shelves.find(tenant, conversation_id)
            transcript = self._transcripts[tenant, key] = Transcript(now, owner)
        transcript.modified_at = now
        for entry in entries:
            if entry.id is None or entry not in transcript.seen:
                transcript.entries.append(entry.body)
                transcript.seen.add(entry)

    async def read_transcript(
        self, key: TranscriptKey, *, tenant: str = DEFAULT_TENANT
    ) -> list[bytes] | None:
        self._forget_orphans()
        transcript = self._transcripts.get((tenant, key))
        return None if transcript is None else [*transcript.entries]

    async def list_transcripts(self, project: str, *, tenant: str = DEFAULT_TENANT) -> list[TranscriptInfo]:
        self._forget_orphans()
        return [
            TranscriptInfo(session=key.session, modified_at=transcript.modified_at)
            for (owner, key), transcript in self._transcripts.items()
            if owner == tenant and key.project == project and not key.part
        ]

    async def list_transcript_parts(
        self, project: str, session: str, *, tenant: str = DEFAULT_TENANT
    ) -> list[str]:
        self._forget_orphans()
        return sorted(
            key.part
            for owner, key in self._transcripts
            if owner == tenant and key.project == project and key.session == session and key.part
        )

    async def delete_transcript(self, key: TranscriptKey, *, tenant: str = DEFAULT_TENANT) -> None:
        for owner, each in [*self._transcripts]:
            is_it = each.part == key.part or not key.part
            if (owner, each.project, each.session) == (tenant, key.project, key.session) and is_it:
                del self._transcripts[owner, each]

    def _forget_orphans(self) -> None:
        """Transcripts go when their conversation goes."""
        for (tenant, key), transcript in [*self._transcripts.items()]:
            owner = transcript.owner
            if owner is not None and self._shelves.find(tenant, owner.conversation.id) is not owner:
                del self._transcripts[tenant, key]
