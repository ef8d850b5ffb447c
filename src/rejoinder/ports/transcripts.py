"""Where the transcripts of vendors' own sessions are kept, so that an agent can go on with them on any host.

A vendor's program keeps a session of its own, in files. An agent copies what the program writes into these, entry by
entry, and gives it back to a program elsewhere. Entries are bytes, in the order in which they came; nobody here knows
what is in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from msgspec import Struct

from rejoinder.ports.store import DEFAULT_TENANT


class TranscriptKey(Struct, frozen=True, kw_only=True):
    """Which transcript: a session of a project, or a part of it (that of a subagent); the session's own is no part."""

    project: str
    session: str
    part: str = ""


class TranscriptEntry(Struct, frozen=True, kw_only=True):
    """One entry. The same content under the same id is kept once: whoever is not sure sends it again."""

    body: bytes
    id: str | None = None


class TranscriptInfo(Struct, frozen=True, kw_only=True):
    """A session of a project, and when something was added to it."""

    session: str
    modified_at: datetime


@runtime_checkable
class TranscriptStore(Protocol):
    """Keeps transcripts. A tenant's are none of another's business. Whatever fails raises `StoreError`."""

    async def append_transcript(
        self,
        key: TranscriptKey,
        entries: Sequence[TranscriptEntry],
        *,
        conversation_id: str | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> None:
        """Put entries behind those that are there, all or none.

        A transcript belongs to the conversation that it began with, if that is there, and goes when it goes.
        """
        ...

    async def read_transcript(
        self, key: TranscriptKey, *, tenant: str = DEFAULT_TENANT
    ) -> list[bytes] | None:
        """All entries in order; None if there are none."""
        ...

    async def list_transcripts(self, project: str, *, tenant: str = DEFAULT_TENANT) -> list[TranscriptInfo]:
        """The sessions of a project that have a transcript of their own."""
        ...

    async def list_transcript_parts(
        self, project: str, session: str, *, tenant: str = DEFAULT_TENANT
    ) -> list[str]:
        """The parts of a session."""
        ...

    async def delete_transcript(self, key: TranscriptKey, *, tenant: str = DEFAULT_TENANT) -> None:
        """Delete a part; or a session, with all its parts."""
        ...
