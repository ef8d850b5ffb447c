"""What Claude Code says about itself (`system` messages and their like): data parts, most of them transient.

A table says for each kind what a client is told. What is not in it is kept in the record only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from rejoinder.messages import JsonObject
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import kind_of, object_of, text_of, text_or_none, without
from rejoinder.translate.notes import Problem
from rejoinder.wire.chunks import Chunk


class Notice(Struct, frozen=True):
    """A data part: its name, whether it is kept in the message, and the field that tells one from another."""

    name: str
    kept: bool = False
    key: str | None = None


NOTICES: Final[dict[str, Notice]] = {
    "api_retry": Notice("retry"),
    "task_started": Notice("task", kept=True, key="task_id"),
    "task_progress": Notice("task", kept=True, key="task_id"),
    "task_updated": Notice("task", kept=True, key="task_id"),
    "task_notification": Notice("task", kept=True, key="task_id"),
    "background_tasks_changed": Notice("background-tasks"),
    "thinking_tokens": Notice("thinking-tokens"),
    "notification": Notice("notice"),
    "informational": Notice("notice"),
    "mirror_error": Notice("mirror-error"),
}

OTHERS: Final[dict[str, Notice]] = {
    "tool_progress": Notice("tool-progress", key="tool_use_id"),
    "rate_limit_event": Notice("rate-limit"),
    "conversation_reset": Notice("conversation-reset", kept=True),
    "prompt_suggestion": Notice("prompt-suggestion"),
}
"""Messages of a type of their own that are told in the same way."""

RECORDED: Final = frozenset(
    {
        "session_state_changed",
        "hook_started",
        "hook_progress",
        "commands_changed",
        "memory_recall",
        "plugin_install",
        "files_persisted",
        "elicitation_complete",
        "local_command_output",
        "worker_shutting_down",
        "control_request_progress",
        "permission_denied",
        "tool_use_summary",
        "auth_status",
        "keep_alive",
    }
)
"""What is kept in the record, and says nothing that a client could show."""

WAITED_FOR: Final = frozenset({"local_agent", "local_workflow"})
"""Tasks of these types wake the model when they are done. Others may run for ever."""

TASK_ENDED: Final = frozenset({"completed", "failed", "stopped", "killed"})

_ENVELOPE: Final = ("type", "subtype", "uuid", "session_id")


class Notices:
    """Says notices. What is known of a task is collected: its last state has what all its messages told."""

    def __init__(self) -> None:
        self._tasks: dict[str, JsonObject] = {}
        self._tokens = 0
        self._compactions = 0
        self._compacted: JsonObject = {}
        self._bounded = False

    @property
    def working(self) -> bool:
        """Whether a task is under way whose end the model waits for."""
        return any(
            text_of(task, "task_type") in WAITED_FOR and text_of(task, "status") not in TASK_ENDED
            for task in self._tasks.values()
        )

    def system(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        """A `system` message other than `init`."""
        subtype = text_of(event, "subtype")
        if subtype == "hook_response":
            return self._hook(say, event)
        if subtype in ("status", "compact_boundary"):
            return self._compaction(say, event)
        if subtype == "thinking_tokens":
            return self._thinking(say, event)
        notice = NOTICES.get(subtype)
        if notice is not None:
            return self._say(say, notice, event)
        if subtype not in RECORDED:
            say.note(Problem(text=f"a system message {kind_of(event, 'subtype')} is not known: it is kept"))
        return ()

    def other(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        """A message of another type."""
        kind = text_of(event, "type")
        notice = OTHERS.get(kind)
        if notice is not None:
            return self._say(say, notice, event)
        if kind not in RECORDED:
            say.note(Problem(text=f"a message {kind_of(event, 'type')} is not known: it is kept as it came"))
        return ()

    def _compaction(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        """What the model remembers was made shorter. A boundary says so, or a status, or both: the part is the same."""
        told = text_of(event, "subtype") == "compact_boundary"
        if text_of(event, "status") == "compacting" or (told and self._bounded):
            # Where no status announces it, a second boundary is that of a second compaction.
            self._compactions += 1
            self._compacted = {}
        self._bounded = told or (self._bounded and text_of(event, "status") != "compacting")
        if told or event.get("compact_result") is not None or event.get("compact_error") is not None:
            self._compacted.update(object_of(event, "compact_metadata"))
            self._compacted.update(without(event, *_ENVELOPE, "status", "permissionMode", "compact_metadata"))
            yield from say.data("compaction", dict(self._compacted), id=f"compaction-{self._compactions}")
        if not told:
            yield from say.data("status", without(event, *_ENVELOPE), transient=True)

    def _say(self, say: Emitter, notice: Notice, event: JsonObject) -> list[Chunk]:
        said = without(event, *_ENVELOPE)
        key = text_or_none(event, notice.key) if notice.key is not None else None
        if notice.name == "rate-limit" and text_of(said, "rate_limit_info", "status") == "rejected":
            return say.data(notice.name, said)
        if notice.name == "task":
            said = self._task(event, said)
        return say.data(notice.name, said, id=key, transient=None if notice.kept else True)

    def _task(self, event: JsonObject, said: JsonObject) -> JsonObject:
        patch = object_of(said, "patch")
        known = self._tasks.setdefault(text_of(event, "task_id"), {})
        known.update(without(said, "patch") | patch)
        known.setdefault("status", "running")
        return dict(known)

    def _thinking(self, say: Emitter, event: JsonObject) -> list[Chunk]:
        # Each block starts its own count; what is told is how much was thought in the turn.
        delta = event.get("estimated_tokens_delta")
        self._tokens += delta if isinstance(delta, int) else 0
        return say.data("thinking-tokens", {"estimatedTokens": self._tokens}, transient=True)

    def _hook(self, say: Emitter, event: JsonObject) -> list[Chunk]:
        if text_of(event, "outcome") not in ("blocked", "block", "blocking", "error"):
            return []
        return say.data("hook", without(event, *_ENVELOPE))
