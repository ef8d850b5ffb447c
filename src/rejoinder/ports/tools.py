"""A tool: a name, the schema of its input, and what to call. One without anything to call is the client's.

`@tool` makes one of a typed function; who has a JSON Schema already writes `Tool(name=…, schema=…, run=…)`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from rejoinder.convert.schemas import JsonSchema
from rejoinder.errors import RejoinderError
from rejoinder.messages import Json, JsonObject
from rejoinder.ports.agents import Call

TOOL_SECONDS_MAX: Final = 300.0
"""A tool that takes longer than this and has not said that it will is taken for one that hangs."""

OUTPUT_BYTES_MAX: Final = 1024 * 1024
"""One output, as JSON: it goes into the message, to the client, and into every later prompt."""

NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What every vendor takes for the name of a tool."""


class InvalidTool(RejoinderError):
    """A tool cannot be offered to a model: its name, its signature or its schema is not right. Mend its definition."""

    code = "invalid-tool"


class ToolError(RejoinderError):
    """Raise it in a tool to tell the model, and the user, what went wrong: they read the message as it is.

    Of any other exception they learn only that the tool failed; the log has the rest.
    """

    code = "tool"


class ToolContext(Struct, frozen=True, kw_only=True):
    """What a tool may want to know beside its input: for which call of which turn it runs, and for whom."""

    call: Call
    call_id: str
    tool: str

    @property
    def tenant(self) -> str:
        """Whose data the tool works on."""
        return self.call.tenant

    @property
    def subject(self) -> str | None:
        """Who asks, within the tenant."""
        return self.call.subject


ToolFunction: TypeAlias = Callable[[JsonObject, ToolContext], Any]
"""Gives the output, or an awaitable of it, or a generator: what that yields before its last value is preliminary.
What is not `async` runs in a thread of its own."""

NeedsApproval: TypeAlias = bool | Callable[[JsonObject], bool | Awaitable[bool]]
"""Whether the user is asked before the tool runs: always, never, or as a function of the input says."""


def _no_input() -> JsonObject:
    return {"type": "object", "properties": {}}


class Tool(Struct, frozen=True, kw_only=True):
    """A tool that a model may call.

    `schema` is the JSON Schema of its input, an object. Without `run` the client runs the tool: the turn waits for
    its answer. `check` says what is wrong with an input, in words for the model; by default it is held against the
    schema. `to_model_output` says what the model is shown of an output, where that is not all of it. With
    `provider_tool`, in the vendor's words, it is one of the vendor's own kinds, which needs no schema.
    """

    name: str
    description: str | None = None
    schema: JsonObject = field(default_factory=_no_input)
    run: ToolFunction | None = None
    needs_approval: NeedsApproval = False
    timeout_seconds: float = TOOL_SECONDS_MAX
    output_bytes_max: int = OUTPUT_BYTES_MAX
    strict: bool | None = None
    check: Callable[[Json], str | None] | None = None
    to_model_output: Callable[[Json], Json] | None = None
    provider_tool: JsonObject | None = None

    def __post_init__(self) -> None:
        if NAME.fullmatch(self.name) is None:
            raise InvalidTool(
                f"{self.name!r} is no name for a tool: use up to 64 of the characters a-z, A-Z, 0-9, _ and -"
            )
        if self.schema.get("type") != "object":
            raise InvalidTool(f'the schema of tool {self.name!r} x: "object"')
        if self.timeout_seconds <= 0:
            raise InvalidTool(f"tool {self.name!r} has no time to run: give it some timeout_seconds")

    def complaint(self, input: Json) -> str | None:
        """What is wrong with an input; None if nothing is."""
        if self.check is not None:
            return self.check(input)
        if self.provider_tool is not None:
            return None
        return JsonSchema(self.schema, f"the input of tool {self.name!r}").complaint(input)
