"""What each message of Claude Code means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, assert_never

from rejoinder.messages import Json, JsonObject, ProviderCallStatus, TurnError
from rejoinder.translate.anthropic_sources import Sources
from rejoinder.translate.calls import UNKNOWN_TOOL
from rejoinder.translate.claude_code.accounts import PROVIDER, Accounts, ending_of, metadata_of
from rejoinder.translate.claude_code.blocks import Blocks
from rejoinder.translate.claude_code.results import Results
from rejoinder.translate.claude_code.system import Notices
from rejoinder.translate.emitter import INTERRUPTED, Emitter
from rejoinder.translate.fields import (
    array_of,
    object_of,
    objects_of,
    said_of,
    text_of,
    text_or_none,
    without,
)
from rejoinder.translate.notes import Ending, Failed, Finished, Problem, Remember, Stopped
from rejoinder.translate.sources import SourceIds
from rejoinder.wire import json
from rejoinder.wire.chunks import Chunk
from rejoinder.wire.json import is_object

INIT_FIELDS: Final = ("cwd", "tools", "mcp_servers", "permissionMode", "slash_commands", "skills", "agents")
"""What of a session's first message a client is shown: not the sockets and folders of the machine."""

INTERRUPTION: Final = "[Request interrupted by user"

OWN: Final = "rejoinder"
"""The type of the events that our own agent puts among those of the program."""

QUESTION_LOST: Final = "The program that asked was gone when the answer came: this call has not run."
"""What became of a call that was allowed when nobody was there any more to make it."""


class ClaudeCode:
    """Translates one turn. Subagents speak in threads of their own, told by `parent_tool_use_id`."""

    def __init__(self) -> None:
        self._sources = Sources(SourceIds())
        self._threads: dict[str | None, Blocks] = {None: Blocks(self._sources)}
        self._results = Results()
        self._accounts = Accounts()
        self._notices = Notices()
        self._heard: set[tuple[str, int]] = set()
        self._uuids: set[str] = set()
        self._session: str | None = None
        self._ending: Ending | None = None
        self._last: str | None = None
        self._steps: dict[str | None, str] = {}
        self._asked: dict[str, str] = {}
        self._remembered: tuple[str, str | None] | None = None

    def __call__(self, say: Emitter, event: Json, /) -> Iterable[Chunk]:
        """One `SDKMessage`."""
        if not is_object(event):
            say.note(Problem(text="an event of Claude Code is a JSON object: this one is kept and left out"))
            return ()
        if self._is_repeated(event):
            return ()
        match event.get("type"):
            case "stream_event":
                return self._stream(say, event)
            case "assistant":
                return self._assistant(say, event)
            case "user":
                return self._user(say, event)
            case "result":
                return self._result(say, event)
            case "system":
                return self._system(say, event)
            case "conversation_reset":
                self._remember(say, text_or_none(event, "new_conversation_id"))
                return self._notices.other(say, event)
            case "control_request":
                return self._question(say, event)
            case "control_response":
                return self._answer(say, event)
            case "control_cancel_request":
                self._asked.pop(text_of(event, "request_id"), None)
                return ()
            case "rejoinder":
                return self._own(say, event)
            case _:
                return self._notices.other(say, event)

    def close(self, say: Emitter) -> Iterable[Chunk]:
        """No event will come any more. A run that gave no result waits for the user, or was cut off."""
        self._remember(say, self._session)
        if self._ending is not None:
            say.note(self._ending)
        elif any(not say.answered(call_id) for call_id in self._asked.values()):
            say.note(Finished(reason="tool-calls"))
        else:
            error = TurnError(message="Claude Code ended without a result", provider=PROVIDER)
            say.note(Failed(error=error, error_text="The agent ended before its answer was complete."))
        return [chunk for thread in self._threads.values() for chunk in thread.close(say)]

    def _is_repeated(self, event: JsonObject) -> bool:
        """Whether this very message was heard before: resumed sessions and retried batches say things again."""
        uuid = text_of(event, "uuid")
        if not uuid:
            return False
        heard = (uuid, hash(json.encode(event)))
        if heard in self._heard:
            return True
        self._heard.add(heard)
        return False

    def _thread(self, event: JsonObject) -> tuple[Blocks, str | None]:
        parent = text_or_none(event, "parent_tool_use_id")
        if parent not in self._threads:
            self._threads[parent] = Blocks(self._sources, parent)
        return self._threads[parent], parent

    # What streams

    def _stream(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        thread, parent = self._thread(event)
        inner = object_of(event, "event")
        if parent is None:
            self._uuids.add(text_of(event, "uuid"))
        match inner.get("type"):
            case "message_start":
                message = object_of(inner, "message")
                self._accounts.begin(say, message)
                thread.begin(text_of(message, "id"))
                yield from self._begin_step(say, text_of(message, "id"), parent)
            case "content_block_start":
                yield from thread.start(say, inner)
            case "content_block_delta":
                yield from thread.delta(say, inner)
            case "content_block_stop":
                yield from thread.stop(say, inner)
            case "message_delta":
                self._accounts.more(thread.message_id, inner)
            case "message_stop":
                self._accounts.stop(say, thread.message_id)
            case "ping":
                pass
            case "error":
                error = object_of(inner, "error")
                yield from say.data("claude-error", error or {"message": said_of(inner)})
            case kind:
                say.note(
                    Problem(text=f"a stream event {kind!r} of Claude is not known: it is kept as it came")
                )

    def _begin_step(self, say: Emitter, message_id: str, parent: str | None) -> list[Chunk]:
        """A message is a step. Its tools run within it, so it ends where the next begins.

        Where subagents and others speak at the same time, their messages stay in the step in which they began.
        """
        if message_id and message_id == self._steps.get(parent):
            return []
        self._steps[parent] = message_id
        if parent is None:
            self._uuids.clear()
        elif any(thread.speaking for thread in self._threads.values()):
            return []
        return say.step()

    def _assistant(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        thread, parent = self._thread(event)
        message = object_of(event, "message")
        message_id = text_of(message, "id") or text_of(event, "uuid")
        self._accounts.begin(say, message)
        yield from self._begin_step(say, message_id, parent)
        if parent is None:
            yield from self._retract(say, event, "supersedes")
            self._uuids.add(text_of(event, "uuid"))
            self._last = text_or_none(event, "uuid") or self._last
        yield from thread.snapshot(say, message_id, message.get("content"))
        error = event.get("error")
        if error is not None:
            yield from say.data("claude-error", {"error": error})

    # What the user's side says: results of tools, and what was put into its mouth

    def _user(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        _, parent = self._thread(event)
        if parent is None:
            self._last = text_or_none(event, "uuid") or self._last
        yield from self._results.of_message(say, event, parent)
        origin = text_of(event, "origin", "kind")
        if parent is None and origin not in ("", "human") and event.get("isReplay") is not True:
            content = object_of(event, "message").get("content")
            texts = (
                [content] if isinstance(content, str) else [text_of(b, "text") for b in objects_of(content)]
            )
            text = "\n".join(text for text in texts if text)
            if text and not text.startswith(INTERRUPTION):
                yield from say.data("injected-message", {"origin": event["origin"], "text": text})

    def _question(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        """Whether a tool may run. The program asks it over its control channel; our agent puts it among the events."""
        request = object_of(event, "request")
        if text_of(request, "subtype") == "can_use_tool":
            yield from self._ask(say, request, event_id=text_of(event, "request_id"))

    def _ask(self, say: Emitter, request: JsonObject, *, event_id: str) -> Iterator[Chunk]:
        call_id = text_of(request, "tool_use_id")
        if not call_id:
            return
        if not say.knows(call_id):
            name = text_of(request, "tool_name") or UNKNOWN_TOOL
            yield from say.tool_input(
                call_id, name, request.get("input"), dynamic=True, provider_executed=True
            )
        yield from say.tool_input_end(call_id)
        if say.asked(call_id):
            return  # it was asked about before its turn
        self._asked[event_id] = call_id
        reason = text_or_none(request, "decision_reason") or text_or_none(request, "description")
        yield from say.approval_request(approval_id_of(call_id), call_id, reason=reason)

    def _answer(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        """What was answered to such a question."""
        response = object_of(event, "response")
        call_id = self._asked.pop(text_of(response, "request_id"), None)
        behavior = text_of(response, "response", "behavior")
        if call_id is None or behavior not in ("allow", "deny"):
            return ()
        reason = text_or_none(response, "response", "message")
        return say.approval_response(approval_id_of(call_id), approved=behavior == "allow", reason=reason)

    def _own(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        """What our agent has to say of a session, or of a question, that the program has lost."""
        call_id = text_of(event, "tool_use_id")
        match event.get("subtype"):
            case "question":
                return self._ask(say, event, event_id=call_id)
            case "session_lost":
                return say.data("claude-session-lost", {"sessionId": event.get("session_id")})
            case "question_lost" if event.get("approved") is True:
                return say.tool_error(call_id, QUESTION_LOST)
            case "question_lost":
                return say.tool_denied(call_id)
            case _:
                return ()

    # What the program says

    def _system(self, say: Emitter, event: JsonObject) -> Iterable[Chunk]:
        match event.get("subtype"):
            case "init":
                return self._init(say, event)
            case "permission_denied":
                self._results.denied(event)
                return ()
            case "model_refusal_fallback" | "model_refusal_no_fallback":
                return self._refusal(say, event)
            case _:
                return self._notices.system(say, event)

    def _init(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        session = text_or_none(event, "session_id")
        self._remember(say, session)
        said = {"model": event.get("model"), "sessionId": session}
        yield from say.metadata({name: value for name, value in said.items() if value is not None})
        shown = {name: event[name] for name in INIT_FIELDS if name in event}
        yield from say.data("claude-init", shown, transient=True)

    def _remember(self, say: Emitter, session: str | None) -> None:
        """The session, and the last message in it: a session that went on elsewhere is taken up where we left it."""
        if session is None:
            return
        if self._session not in (None, session):
            self._last = None
        self._session = session
        last: JsonObject = {} if self._last is None else {"lastMessage": self._last}
        if self._remembered != (session, self._last):
            self._remembered = (session, self._last)
            say.note(Remember(memory={"sessionId": session, **last}))

    def _refusal(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        yield from self._retract(say, event, "retracted_message_uuids")
        yield from say.data("refusal", without(event, "type", "subtype", "uuid", "session_id"))

    def _retract(self, say: Emitter, event: JsonObject, field: str) -> list[Chunk]:
        """Take back what the step has said, if the messages that are taken back are of this step."""
        retracted = {item for item in array_of(event, field) if isinstance(item, str)}
        if not retracted & self._uuids:
            return []
        self._uuids -= retracted
        self._threads[None].forget()
        return say.reset_step()

    # The end

    def _result(self, say: Emitter, event: JsonObject) -> Iterator[Chunk]:
        self._remember(say, text_or_none(event, "session_id"))
        ending = ending_of(event)
        yield from self._threads[None].close(say)
        if event.get("structured_output") is not None:
            yield from say.data("structured-output", event["structured_output"])
        elif not self._threads[None].spoke and not isinstance(ending, Failed):
            yield from say.text(text_of(event, "result"))
        if not object_of(event, "deferred_tool_use") and not self._notices.working:
            # What a task still does goes on; whatever else is open has been left.
            for thread in self._threads.values():
                yield from thread.close(say)
            yield from say.close(INTERRUPTED)
            yield from self._results.denied_unseen(say, event)
            yield from say.settle(INTERRUPTED)
        yield from say.metadata(metadata_of(event))
        self._accounts.settle(say, event, _status_of(ending))
        self._ending = ending
        if not self._notices.working:
            # Tasks that still run wake the model when they are done: that is not the last word then.
            say.note(ending)


def approval_id_of(call_id: str) -> str:
    """Under which id the user is asked whether this call may run."""
    return f"permission:{call_id}"


def _status_of(ending: Ending) -> ProviderCallStatus:
    match ending:
        case Finished():
            return "succeeded"
        case Failed():
            return "failed"
        case Stopped():
            return "cancelled"
        case _:
            assert_never(ending)
