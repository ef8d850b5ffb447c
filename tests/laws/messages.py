"""Generators of every part and message that we keep, for all tests that state a law.

What is generated is what a reader of somebody's JSON could have made: `extra` is absent or has keys that no field
is named like, an `Opaque` part is not a known one in disguise, and halves of a character never stand side by side
(JavaScript, and our reader, join those).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, TypeAlias, get_args

from hypothesis import strategies as st
from msgspec import Struct, structs

from rejoinder.messages import (
    ABSENT,
    Approval,
    Custom,
    Data,
    File,
    Json,
    JsonObject,
    Maybe,
    Message,
    MessageStatus,
    Opaque,
    Part,
    Reasoning,
    ReasoningFile,
    Role,
    SourceDocument,
    SourceUrl,
    Steering,
    StepStart,
    Text,
    ToolCall,
    ToolState,
)
from rejoinder.wire.json import is_array, is_object, rejoin_surrogates

Values: TypeAlias = st.SearchStrategy[Json]

ODD_TEXT: Final = (
    "",
    "\x00",
    "a\x00b",
    "\ud83d",
    "\ude00",
    "x\udfffy",
    "\U0001f600",
    "👩‍👩‍👧‍👦",
    "␛",
    "␛0",
    "␛␛#1e9",
    '"\\u0000"',
    "\\",
    "\u2028\ufeff\ufffd",
    "e\u0301 שלום",
    "__proto__",
    "\r\n\t\x1b[0m\x7f",
)
"""Text that has broken somebody: NUL, half a character, our own escapes, invisible and combining characters."""

ODD_NUMBERS: Final = (
    -0.0,
    1e2,
    1e16,
    1e22,
    1.5e300,
    1.7976931348623157e308,
    5e-324,
    1e-7,
    float("inf"),
    float("-inf"),
    2**53 + 1,
    -(2**63) - 1,
    2**64,
    10**400,
)
"""Numbers that a database, a double or a JSON writer changes. Infinity is what `1e400` reads as."""


def texts() -> st.SearchStrategy[str]:
    """Any text that JavaScript can hold."""
    return st.one_of(
        st.text(st.characters(codec="utf-8"), max_size=12),
        st.lists(st.sampled_from(ODD_TEXT), max_size=3).map("".join),
        st.text(st.characters(categories=["Cs", "Cc", "Lu"]), max_size=4),
    ).map(rejoin_surrogates)


def identifiers() -> st.SearchStrategy[str]:
    """What names something: never empty, mostly plain."""
    return st.one_of(st.from_regex(r"[a-z][a-zA-Z0-9_.:-]{0,11}", fullmatch=True), texts().filter(bool))


def names() -> st.SearchStrategy[str]:
    """Names of tools and data parts, hyphens included."""
    return st.from_regex(r"[a-z][a-zA-Z0-9_]{0,8}(-[a-z0-9]{1,4}){0,2}", fullmatch=True)


def json_values(*, odd_numbers: bool = False) -> Values:
    """Any JSON value. With `odd_numbers` also those that do not survive a JSON writer or a database."""
    numbers: list[st.SearchStrategy[int | float]] = [
        st.integers(-(2**53) + 1, 2**53 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
    ]
    if odd_numbers:
        numbers.append(st.sampled_from(ODD_NUMBERS))
    leaves = st.one_of(st.none(), st.booleans(), texts(), *numbers)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts(), inner, max_size=3)),
        max_leaves=4,
    )


JSON_VALUES: Final = json_values()


def json_objects(values: Values = JSON_VALUES) -> st.SearchStrategy[JsonObject]:
    """Any JSON object."""
    return st.dictionaries(texts(), values, max_size=3)


def extras(values: Values = JSON_VALUES) -> st.SearchStrategy[JsonObject | None]:
    """Fields that no field of ours is named like, or none at all (which is None, never an empty object)."""
    keys = texts().map(lambda text: f"x{text}")
    return st.none() | st.dictionaries(keys, values, min_size=1, max_size=2)


def maybe(values: Values = JSON_VALUES) -> st.SearchStrategy[Maybe]:
    """A payload or its absence."""
    return st.just(ABSENT) | st.none() | values


def provider_metadata(values: Values = JSON_VALUES) -> st.SearchStrategy[JsonObject | None]:
    """What a provider adds, under its own name."""
    return st.none() | st.dictionaries(names(), json_objects(values), max_size=2)


def approvals(values: Values = JSON_VALUES) -> st.SearchStrategy[Approval]:
    """Questions to the user, answered and not."""
    return st.builds(
        Approval,
        id=identifiers(),
        approved=st.none() | st.booleans(),
        reason=st.none() | texts(),
        request_reason=st.none() | texts(),
        descriptor=maybe(values),
        input_schema_input=maybe(values),
        is_automatic=st.none() | st.booleans(),
        signature=st.none() | texts(),
        extra=extras(values),
    )


def text_parts(values: Values = JSON_VALUES) -> st.SearchStrategy[Text]:
    """Texts, with and without citations."""
    return st.builds(
        Text,
        text=texts(),
        state=st.sampled_from([None, "streaming", "done"]),
        provider_metadata=provider_metadata(values),
        citations=st.none() | st.lists(json_objects(values), max_size=2),
        extra=extras(values),
    )


def reasoning_parts(values: Values = JSON_VALUES) -> st.SearchStrategy[Reasoning]:
    """Thoughts, some of them signed."""
    signed = st.fixed_dictionaries({"anthropic": st.fixed_dictionaries({"signature": texts()})})
    return st.builds(
        Reasoning,
        text=texts(),
        id=st.none() | texts(),
        state=st.sampled_from([None, "streaming", "done"]),
        provider_metadata=st.one_of(provider_metadata(values), signed),
        extra=extras(values),
    )


def file_parts(values: Values = JSON_VALUES) -> st.SearchStrategy[File]:
    """Files by address, inline and by reference."""
    return st.builds(
        File,
        media_type=_media_types(),
        url=_urls(),
        filename=st.none() | texts(),
        provider_metadata=provider_metadata(values),
        provider_reference=st.none() | st.dictionaries(names(), texts(), max_size=2),
        extra=extras(values),
    )


def tool_calls(values: Values = JSON_VALUES) -> st.SearchStrategy[ToolCall]:
    """Calls in every state, also with fields that the state does not call for."""
    states: Sequence[ToolState] = get_args(ToolState)
    return st.builds(
        ToolCall,
        name=names(),
        call_id=identifiers() | st.sampled_from(["call_0", "call_1"]),
        state=st.sampled_from(states),
        dynamic=st.booleans(),
        withdrawn=st.booleans(),
        input=maybe(values),
        raw_input=maybe(values),
        input_encoding=st.sampled_from([None, "json", "text"]),
        output=maybe(values),
        error_text=st.none() | texts(),
        approval=st.none() | approvals(values),
        preliminary=st.none() | st.booleans(),
        provider_executed=st.none() | st.booleans(),
        title=st.none() | texts(),
        metadata=st.none() | json_objects(values),
        call_provider_metadata=provider_metadata(values),
        result_provider_metadata=provider_metadata(values),
        extra=extras(values),
    )


def opaque_parts(values: Values = JSON_VALUES) -> st.SearchStrategy[Opaque]:
    """Parts of some future, and parts that are none: no `type`, or one that is not text."""
    kinds: Values = st.sampled_from(
        ["audio", "video", "x-new", "", "TEXT", "tool", "data", None, 7, ["text"]]
    )
    fields = extras(values)

    def opaque(kind: Json, body: JsonObject | None) -> Opaque:
        return Opaque(body={"type": kind, **(body or {})})

    def untyped(body: JsonObject | None) -> Opaque:
        return Opaque(body=body or {})

    return st.builds(opaque, kinds, fields) | st.builds(untyped, fields)


def parts(values: Values = JSON_VALUES) -> st.SearchStrategy[Part]:
    """Every part there is. `values` are the payloads, by default what every JSON writer can say."""
    return st.one_of(
        text_parts(values),
        reasoning_parts(values),
        tool_calls(values),
        file_parts(values),
        st.builds(
            ReasoningFile,
            media_type=_media_types(),
            url=_urls(),
            provider_metadata=provider_metadata(values),
            extra=extras(values),
        ),
        st.builds(
            SourceUrl,
            source_id=texts(),
            url=texts(),
            title=st.none() | texts(),
            provider_metadata=provider_metadata(values),
            extra=extras(values),
        ),
        st.builds(
            SourceDocument,
            source_id=texts(),
            media_type=_media_types(),
            title=texts(),
            filename=st.none() | texts(),
            provider_metadata=provider_metadata(values),
            extra=extras(values),
        ),
        st.builds(StepStart, extra=extras(values)),
        st.builds(Data, name=names(), id=st.none() | identifiers(), data=maybe(values), extra=extras(values)),
        st.builds(Custom, kind=texts(), provider_metadata=provider_metadata(values), extra=extras(values)),
        st.builds(
            Steering,
            id=identifiers(),
            parts=st.lists(text_parts(values) | file_parts(values), max_size=2).map(tuple),
            extra=extras(values),
        ),
        opaque_parts(values),
    )


def messages(
    values: Values = JSON_VALUES,
    *,
    roles: Sequence[Role] = get_args(Role),
    stored: bool = False,
    parts_max: int = 4,
) -> st.SearchStrategy[Message]:
    """Messages of any role and content. A `stored` one may also have what only the store gives."""
    times = st.none() | st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis wants naive bounds and adds the zone
    statuses: Sequence[MessageStatus] = get_args(MessageStatus)
    return st.builds(
        Message,
        id=identifiers(),
        role=st.sampled_from(roles),
        parts=st.lists(parts(values), max_size=parts_max).map(tuple),
        metadata=maybe(values),
        created_at=times if stored else st.none(),
        status=st.none() | st.sampled_from(statuses) if stored else st.none(),
        extra=extras(values),
    )


def exactly(value: Json) -> Json:
    """Make a copy that compares as JSON does, not as Python: 1, 1.0 and true differ, and so do 0.0 and -0.0."""
    if is_object(value):
        return {key: exactly(item) for key, item in value.items()}
    if is_array(value):
        return [exactly(item) for item in value]
    match value:
        case tuple():
            return exactly([*value])
        case Struct():
            return [type(value).__name__, exactly(structs.asdict(value))]
        case bool() | int() | float():
            return f"{type(value).__name__} {value!r}"
        case str():
            return f"str {value}"
        case _:
            return value


def address(part: File | ReasoningFile) -> str:
    """Where a file is, for those who have content in that place: what reads as base64 comes back as content."""
    reads_as_content = re.fullmatch(r"[A-Za-z0-9+/_-]+={0,2}", part.url) and len(part.url) % 4 == 0
    return f"data:{part.media_type};base64,{part.url}" if reads_as_content else part.url


def _media_types() -> st.SearchStrategy[str]:
    return st.sampled_from(["image/png", "text/plain", "application/pdf", "x"]) | texts()


def _urls() -> st.SearchStrategy[str]:
    return (
        st.sampled_from(
            [
                "https://example.com/a.png",
                "data:image/png;base64,iVBORw0KGgo=",
                "data:text/plain;base64,aGk=",
                "data:text/plain,hi",
                "/files/abcd",
                "iVBORw0KGgo=",
            ]
        )
        | texts()
    )
