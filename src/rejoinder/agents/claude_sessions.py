"""Sessions of Claude Code in our store: the SDK's `SessionStore` over `TranscriptStore`.

The program still writes its own files; what it writes comes here as well, so that any host can go on with it.
"""

from __future__ import annotations

from claude_agent_sdk import (
    SessionKey,
    SessionListSubkeysKey,
    SessionStore,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
    fold_session_summary,
)

from rejoinder.ports.store import DEFAULT_TENANT
from rejoinder.ports.transcripts import TranscriptEntry, TranscriptKey, TranscriptStore
from rejoinder.wire import json


class Sessions(SessionStore):
    """The sessions of a tenant. Those that are written for a conversation go when it goes."""

    def __init__(
        self,
        store: TranscriptStore,
        *,
        tenant: str = DEFAULT_TENANT,
        conversation_id: str | None = None,
    ) -> None:
        self._store = store
        self._tenant = tenant
        self._conversation_id = conversation_id

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Keep what the program has written."""
        await self._store.append_transcript(
            _key(key),
            [TranscriptEntry(body=json.encode(entry), id=_id(entry)) for entry in entries],
            conversation_id=self._conversation_id,
            tenant=self._tenant,
        )

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """All that was written."""
        bodies = await self._store.read_transcript(_key(key), tenant=self._tenant)
        return None if bodies is None else [json.decode(body) for body in bodies]

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """The sessions of a project."""
        return [
            {"session_id": each.session, "mtime": int(each.modified_at.timestamp() * 1000)}
            for each in await self._store.list_transcripts(project_key, tenant=self._tenant)
        ]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """What the SDK makes of each session. It is made anew each time, and so is never behind."""
        summaries: list[SessionSummaryEntry] = []
        for listed in await self.list_sessions(project_key):
            key: SessionKey = {"project_key": project_key, "session_id": listed["session_id"]}
            summary = fold_session_summary(None, key, await self.load(key) or [])
            summary["mtime"] = listed["mtime"]
            summaries.append(summary)
        return summaries

    async def delete(self, key: SessionKey) -> None:
        """Delete a session with its subagents, or one of these."""
        await self._store.delete_transcript(_key(key), tenant=self._tenant)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """The subagents of a session."""
        return await self._store.list_transcript_parts(
            key["project_key"], key["session_id"], tenant=self._tenant
        )


def _key(key: SessionKey) -> TranscriptKey:
    return TranscriptKey(project=key["project_key"], session=key["session_id"], part=key.get("subpath") or "")


def _id(entry: SessionStoreEntry) -> str | None:
    return entry.get("uuid") or None
