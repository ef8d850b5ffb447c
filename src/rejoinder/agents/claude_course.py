"""How far a run of Claude Code is: what it waits for, and whether it is over. A plain function of what it says."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from rejoinder.messages import Json, JsonObject
from rejoinder.translate.claude_code.system import TASK_ENDED, WAITED_FOR
from rejoinder.translate.fields import object_of, objects_of, text_of, text_or_none


class Question(Struct, frozen=True, kw_only=True):
    """Whether a tool may run."""

    request_id: str
    call_id: str
    tool: str
    input: Json


def is_question(message: JsonObject) -> bool:
    """Whether the program asks if a tool may run."""
    return message.get("type") == "control_request" and _asked(message) == "can_use_tool"


class Course:
    """Hears everything that the program says."""

    def __init__(self) -> None:
        self._questions: dict[str, Question] = {}
        self._speaking = False
        self._result = False
        self._state: str | None = None
        self._tasks: set[str] = set()
        self._announced: dict[str, Question] = {}
        self._begun: set[str] = set()
        self.session: str | None = None

    @property
    def questions(self) -> Mapping[str, Question]:
        """What has been asked and not answered, by the ids of the calls."""
        return MappingProxyType({question.call_id: question for question in self._questions.values()})

    @property
    def queued(self) -> list[Question]:
        """Calls that wait behind one that has been asked about, with nobody asked about them yet."""
        return [call for id, call in self._announced.items() if id not in self._begun]

    @property
    def waiting(self) -> bool:
        """Whether it waits for an answer, and the message in which the model called the tool is complete."""
        return bool(self._questions) and not self._speaking

    @property
    def told(self) -> bool:
        """Whether a result was told: how the program ends then is no news."""
        return self._result

    @property
    def over(self) -> bool:
        """Whether nothing more comes: a result was told, and nothing that the model waits for is under way."""
        return self._result and self._state in (None, "idle") and not self._tasks

    def begin(self) -> None:
        """Something was said to the program: it owes a result again."""
        self._result = False

    def began(self, call_id: str) -> None:
        """The program turns to a call: it runs it, or asks about it."""
        self._begun.add(call_id)

    def answered(self, request_id: str) -> None:
        """A question was answered."""
        self._questions.pop(request_id, None)

    def heard(self, message: JsonObject) -> None:
        """The next message."""
        self.session = text_or_none(message, "session_id") or self.session
        match message.get("type"):
            case "control_request" if is_question(message):
                self._ask(message)
            case "control_cancel_request":
                self.answered(text_of(message, "request_id"))
            case "stream_event" if message.get("parent_tool_use_id") is None:
                self._stream(text_of(message, "event", "type"))
            case "assistant":
                for block in objects_of(message, "message", "content"):
                    self._announce(block)
            case "user":
                for block in objects_of(message, "message", "content"):
                    self._announced.pop(text_of(block, "tool_use_id"), None)
            case "system":
                self._system(message)
            case "result":
                self._result, self._speaking = True, False
                self._questions.clear()
                self._announced.clear()
            case _:
                pass  # says something, and changes nothing of this

    def _ask(self, message: JsonObject) -> None:
        request = object_of(message, "request")
        id = text_of(message, "request_id")
        self._questions[id] = Question(
            request_id=id,
            call_id=text_of(request, "tool_use_id"),
            tool=text_of(request, "tool_name"),
            input=request.get("input"),
        )

    def _announce(self, block: JsonObject) -> None:
        if block.get("type") == "tool_use":
            id = text_of(block, "id")
            self._announced[id] = Question(
                request_id="", call_id=id, tool=text_of(block, "name"), input=block.get("input")
            )

    def _stream(self, kind: str) -> None:
        if kind == "message_start":
            self._speaking = True
        elif kind == "message_stop":
            self._speaking = False

    def _system(self, message: JsonObject) -> None:
        id = text_of(message, "task_id")
        match message.get("subtype"):
            case "session_state_changed":
                self._state = text_of(message, "state")
            case "task_started" if text_of(message, "task_type") in WAITED_FOR:
                self._tasks.add(id)
            case "task_notification":
                self._tasks.discard(id)
            case "task_updated" if text_of(message, "patch", "status") in TASK_ENDED:
                self._tasks.discard(id)
            case _:
                pass


def _asked(message: JsonObject) -> str:
    return text_of(message, "request", "subtype")
