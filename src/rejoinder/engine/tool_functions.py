"""`@tool`: a typed function as a tool. The schema comes from its signature, the descriptions from its docstring.

    @tool
    async def weather(city: Annotated[str, Meta(description="and its country, where that is not obvious")]) -> Forecast:

What a parameter may be is what msgspec reads from JSON (numbers, texts, lists, literals, dataclasses, typed
dictionaries, structs, dates, …), and models of pydantic where that is installed.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, ParamSpec, TypeVar, overload

import msgspec
from msgspec import UNSET, UnsetType

from rejoinder.messages import Json, JsonObject
from rejoinder.ports.tools import (
    OUTPUT_BYTES_MAX,
    TOOL_SECONDS_MAX,
    InvalidTool,
    NeedsApproval,
    Tool,
    ToolContext,
)

Given = ParamSpec("Given")
Result = TypeVar("Result")

_REFERENCE: Final = "#/$defs/{name}"
_SIMPLE: Final = (type(None), bool, int, float, str)
_SECTION: Final = re.compile(r"\s*(Args|Arguments|Parameters|Returns|Yields|Raises|Examples?|Notes?):\s*$")
_ARGUMENTS: Final = ("Args", "Arguments", "Parameters")
_ARGUMENT: Final = re.compile(r"\s*\*{0,2}(?P<name>\w+)\s*(\([^)]*\))?\s*:\s*(?P<text>.*)")
_FIELD: Final = re.compile(r"\s*:(?P<kind>\w+)(?P<about>[^:]*):\s*(?P<text>.*)")


class FunctionTool(Tool, Generic[Given, Result], frozen=True, kw_only=True):
    """A tool that is a function, and can be called as one."""

    function: Callable[Given, Result]

    def __call__(self, *given: Given.args, **named: Given.kwargs) -> Result:
        """Call the function itself."""
        return self.function(*given, **named)


@overload
def tool(function: Callable[Given, Result], /) -> FunctionTool[Given, Result]: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    needs_approval: NeedsApproval = False,
    timeout_seconds: float = TOOL_SECONDS_MAX,
    output_bytes_max: int = OUTPUT_BYTES_MAX,
    strict: bool | None = None,
    client: bool = False,
    to_model_output: Callable[[Json], Json] | None = None,
) -> Callable[[Callable[Given, Result]], FunctionTool[Given, Result]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    needs_approval: NeedsApproval = False,
    timeout_seconds: float = TOOL_SECONDS_MAX,
    output_bytes_max: int = OUTPUT_BYTES_MAX,
    strict: bool | None = None,
    client: bool = False,
    to_model_output: Callable[[Json], Json] | None = None,
) -> Any:
    """Make a tool of a typed function.

    A parameter of the type `ToolContext` is not the model's: it says for which call, and for whom, the tool runs.
    With `client=True` the function only says how the tool is called: the client runs it. Raises `InvalidTool`.
    """

    def made(function: Callable[..., Any]) -> FunctionTool[..., Any]:
        called = str(name or getattr(function, "__name__", ""))
        signature = _Signature(function, called)
        about, _ = described(function)
        return FunctionTool(
            function=function,
            name=called,
            description=description or about,
            schema=signature.schema(),
            run=None if client else _Run(function, signature),
            needs_approval=needs_approval,
            timeout_seconds=timeout_seconds,
            output_bytes_max=output_bytes_max,
            strict=strict,
            check=signature.complaint,
            to_model_output=to_model_output,
        )

    return made if function is None else made(function)


class _Run:
    """Calls the function with what the model gave. Whether it is `async` is asked of `__wrapped__`."""

    def __init__(self, function: Callable[..., Any], signature: _Signature) -> None:
        self.__wrapped__ = function
        self._signature = signature

    def __call__(self, input: JsonObject, context: ToolContext) -> Any:
        return self.__wrapped__(**self._signature.arguments(input, context))


class _Signature:
    """What a function takes, as a struct that reads it from JSON and knows its schema."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._name = name
        self._contexts: list[str] = []
        _, texts = described(function)
        fields: list[tuple[str, Any, Any] | tuple[str, Any]] = []
        hints = _hints(function, name)
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
                raise InvalidTool(
                    f"tool {name!r}: parameter {parameter.name!r} has no name that a model could give it by:"
                    " declare each one by itself"
                )
            if parameter.name not in hints:
                raise InvalidTool(
                    f"tool {name!r}: parameter {parameter.name!r} has no type: write one behind it"
                )
            hint = hints[parameter.name]
            if hint is ToolContext or ToolContext in typing.get_args(hint):
                self._contexts.append(parameter.name)
            else:
                text = texts.get(parameter.name)
                fields.append(_field(parameter, _with_text(hint, text)))
        try:
            self._struct: type[msgspec.Struct] = msgspec.defstruct(
                "Input", fields, kw_only=True, forbid_unknown_fields=True
            )
            self._schema = _schema(self._struct, name)
        except (TypeError, ValueError) as error:
            raise InvalidTool(f"tool {name!r} has a parameter that JSON cannot say: {error}") from error

    def schema(self) -> JsonObject:
        """The JSON Schema of the input."""
        return self._schema

    def complaint(self, input: Json) -> str | None:
        """What is wrong with an input."""
        try:
            self._read(input)
        except msgspec.ValidationError as error:
            return str(error)
        except UnicodeEncodeError:
            return "a text holds half of a character"
        return None

    def arguments(self, input: Json, context: ToolContext) -> dict[str, Any]:
        """What the function is called with. What the model leaves out has the function's own default."""
        read = self._read(input)
        given = {name: getattr(read, name) for name in input}
        return given | dict.fromkeys(self._contexts, context)

    def _read(self, input: Json) -> msgspec.Struct:
        return msgspec.convert(input, self._struct, dec_hook=_decoded)


def _field(parameter: inspect.Parameter, hint: Any) -> tuple[str, Any, Any] | tuple[str, Any]:
    default = parameter.default
    if default is parameter.empty:
        return (parameter.name, hint)
    if isinstance(default, _SIMPLE):
        return (parameter.name, hint, default)
    # The schema cannot say it; that it need not be given, it can.
    return (parameter.name, hint | UnsetType, UNSET)


def _with_text(hint: Any, text: str | None) -> Any:
    told = any(
        isinstance(meta, msgspec.Meta) and meta.description is not None
        for meta in getattr(hint, "__metadata__", ())
    )
    if text is None or told:
        return hint
    return typing.Annotated[hint, msgspec.Meta(description=text)]


def _hints(function: Callable[..., Any], name: str) -> Mapping[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise InvalidTool(
            f"tool {name!r} has a type that cannot be found ({error}): define it in the module, not in a function"
        ) from error


# Types that are not msgspec's: pydantic models, by the methods they have


def _decoded(kind: Any, value: Json) -> Any:
    return kind.model_validate(value)


def _schema(struct: type[msgspec.Struct], name: str) -> JsonObject:
    """The schema of a struct in one object: what it refers to stands in its own `$defs`."""
    found: JsonObject = {}

    def hook(kind: Any) -> JsonObject:
        said = getattr(kind, "model_json_schema", None)
        if said is None:
            raise TypeError(f"{kind!r} is no type of JSON's, no dataclass and no model")
        schema: JsonObject = said()
        for key, definition in schema.pop("$defs", {}).items():
            if found.setdefault(key, definition) != definition:
                raise TypeError(f"two models are called {key!r}")
        if schema.get("$ref", "").startswith("#/$defs/"):
            schema |= found[schema.pop("$ref").removeprefix("#/$defs/")]
        return schema

    _, components = msgspec.json.schema_components([struct], schema_hook=hook, ref_template=_REFERENCE)
    schema: JsonObject = components.pop(struct.__name__)
    schema.pop("title", None)
    clash = components.keys() & found.keys()
    if clash:
        raise TypeError(f"two types are called {min(clash)!r}")
    definitions = {**components, **found}
    return {**schema, "$defs": definitions} if definitions else schema


# Docstrings


def described(function: Callable[..., Any]) -> tuple[str | None, Mapping[str, str]]:
    """What a function's docstring says of it, and of its parameters (`Args:` sections and `:param name:` fields)."""
    about: list[str] = []
    texts: dict[str, str] = {}
    section, latest = "", ""
    for line in (inspect.getdoc(function) or "").splitlines():
        field, heading = _FIELD.fullmatch(line), _SECTION.fullmatch(line)
        if heading is not None:
            section, latest = heading[1], ""
        elif field is not None:
            section, latest = "fields", ""
            if field["kind"] in ("param", "parameter", "arg") and field["about"].split():
                latest = field["about"].split()[-1]
                texts[latest] = field["text"]
        elif not section:
            about.append(line)
        else:
            latest = _argument(line, section, latest, texts)
    said = "\n".join(about).strip()
    return said or None, {name: text.strip() for name, text in texts.items() if text.strip()}


def _argument(line: str, section: str, latest: str, texts: dict[str, str]) -> str:
    """Take in a line below a heading; gives the parameter that the next line may go on about."""
    found = _ARGUMENT.fullmatch(line) if section in _ARGUMENTS else None
    deeper = len(line) - len(line.lstrip()) > 4
    if found is not None and not (deeper and latest):
        texts[found["name"]] = found["text"]
        return found["name"]
    if latest and line.strip():
        texts[latest] = f"{texts[latest]} {line.strip()}"
    return latest if line.strip() else ""
