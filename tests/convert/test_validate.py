"""Validation: what is refused, where it says so, and what is left of what is accepted."""

from __future__ import annotations

from copy import deepcopy

import pytest

from rejoinder.convert.schemas import InvalidSchema
from rejoinder.convert.validate import screen_ui_messages, validate_ui_messages
from rejoinder.convert.validate_tools import ToolSchemas
from rejoinder.errors import InvalidMessage
from rejoinder.messages import Json, JsonObject

HI: JsonObject = {"type": "text", "text": "hi"}
CITY: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = {"weather": ToolSchemas(input=CITY, output={"type": "number"})}


def user(*parts: Json, **more: Json) -> JsonObject:
    return {"id": "u", "role": "user", "parts": [*parts], **more}


def assistant(*parts: Json) -> JsonObject:
    return {"id": "a", "role": "assistant", "parts": [*parts]}


def call(state: str = "output-available", name: str = "weather", **fields: Json) -> JsonObject:
    return {"type": f"tool-{name}", "toolCallId": "c", "state": state, **fields}


def refusal(messages: Json, sdk: int = 7, tools: dict[str, ToolSchemas] | None = None) -> str:
    with pytest.raises(InvalidMessage) as error:
        validate_ui_messages(messages, sdk=sdk, tools=tools)
    return str(error.value)


@pytest.mark.parametrize("sdk", [5, 6, 7])
@pytest.mark.parametrize(
    ("messages", "text"),
    [
        (None, "Invalid argument for parameter messages: messages parameter must be provided"),
        ({}, "messages: expected an array, got an object"),
        ([], "Messages array must not be empty"),
        ([user(HI), 5], "messages[1]: expected an object, got a number"),
        ([user()], "messages[0].parts: Message must contain at least one part"),
        ([user(HI), user({"type": "text"})], "messages[1].parts[0].text: is required and missing"),
        (
            [user({**HI, "state": None})],
            "messages[0].parts[0].state: expected 'streaming' or 'done', got null",
        ),
        (
            [user({**HI, "providerMetadata": {"a": 1}})],
            "messages[0].parts[0].providerMetadata.a: expected an object",
        ),
        (
            [user({"type": "mystery"})],
            "messages[0].parts[0]: Invalid UI message part type. Expected a known part",
        ),
        ([user(None)], "messages[0].parts[0]: Invalid UI message part type."),
        ([user(HI, metadata=1, role="tool")], "messages[0].role: expected 'system' or 'user' or 'assistant'"),
        ([assistant(call(input={}))], "messages[0].parts[0].output: is required and missing"),
        ([assistant(call("done"))], "messages[0].parts[0].state: expected one of input-streaming"),
        (
            [assistant(call("input-available", input=1, approval=None))],
            ".approval: must be left out in this state",
        ),
        ([user({"type": "data-x"})], "messages[0].parts[0].data: is required and missing"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_where(messages: Json, text: str, sdk: int) -> None:
    assert text in refusal(messages, sdk)


def test_a_refusal_says_how_to_go_on() -> None:
    assert refusal([user({"type": "text"})]).endswith("screen the messages one by one and keep the others.")


def test_a_message_that_fits_comes_back_as_it_is() -> None:
    message = user(HI, metadata=None)
    assert validate_ui_messages([message])[0] is message


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_unknown_fields_are_left_out_and_the_original_keeps_them(sdk: int) -> None:
    message = user({**HI, "odd": 1}, createdAt="today")
    before = deepcopy(message)
    assert validate_ui_messages([message], sdk=sdk) == [user(HI)]
    assert message == before


@pytest.mark.parametrize(
    ("sdk", "kept"),
    [
        (5, {"approval": {"id": "1", "approved": True}}),
        (6, {"toolMetadata": {"a": None}, "approval": {"id": "1", "approved": True, "signature": "s"}}),
        (
            7,
            {
                "title": "T",
                "toolMetadata": {"a": None},
                "approval": {"id": "1", "approved": True, "signature": "s"},
            },
        ),
    ],
)
def test_each_version_keeps_what_it_knows(sdk: int, kept: JsonObject) -> None:
    known = call(input={}, output=None)
    more = {
        "title": "T",
        "toolMetadata": {"a": None},
        "approval": {"id": "1", "approved": True, "signature": "s"},
        "extra": 1,
    }
    assert validate_ui_messages([assistant({**known, **more})], sdk=sdk) == [assistant({**known, **kept})]


@pytest.mark.parametrize("kind", ["custom", "reasoning-file", "steering-message"])
def test_only_version_7_knows_the_parts_of_version_7(kind: str) -> None:
    part = {"type": kind, "kind": "a.b", "mediaType": "a/b", "url": "data:,", "id": "s", "parts": [HI]}
    assert validate_ui_messages([assistant(part)])[0]["parts"][0]["type"] == kind
    for sdk in (5, 6):
        assert "Invalid UI message part type" in refusal([assistant(part)], sdk)


@pytest.mark.parametrize(
    ("state", "approval", "fits"),
    [
        ("approval-requested", {"id": "1"}, True),
        ("approval-requested", {"id": "1", "approved": True}, False),
        ("approval-requested", {"id": "1", "reason": "so"}, False),
        ("approval-responded", {"id": "1", "approved": False, "reason": "no"}, True),
        ("approval-responded", {"id": "1"}, False),
        ("output-denied", {"id": "1", "approved": False}, True),
        ("output-denied", {"id": "1", "approved": True}, False),
        ("output-available", {"id": "1", "approved": True}, True),
        ("output-available", {"id": "1"}, False),
        ("output-error", {"id": "1", "approved": False}, False),
    ],
)
@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_an_approval_fits_its_state(state: str, approval: JsonObject, fits: bool, sdk: int) -> None:  # noqa: FBT001
    part = call(state, input=1, approval=approval)
    if state == "output-available":
        part["output"] = 1
    if state == "output-error":
        part["errorText"] = "no"
    if fits:
        assert validate_ui_messages([assistant(part)], sdk=sdk) == [assistant(part)]
    else:
        assert ".approval" in refusal([assistant(part)], sdk)


def test_prototype_keys_are_passed_over_and_infinite_numbers_refused() -> None:
    odd: JsonObject = {
        **HI,
        "providerMetadata": {"a": {"__proto__": 1, "b": [{"__proto__": {}, "c": 1}]}, "__proto__": 5},
    }
    assert validate_ui_messages([user(odd)]) == [user({**HI, "providerMetadata": {"a": {"b": [{"c": 1}]}}})]
    for number in (float("inf"), 10**400):
        assert "beyond" in refusal([user({**HI, "providerMetadata": {"a": {"b": [number]}}})])


def test_input_of_a_tool_is_held_against_its_schema() -> None:
    good = assistant(call(input={"city": "Ulm"}, output=1))
    assert validate_ui_messages([good], tools=TOOLS) == [good]
    bad = [user(HI), assistant(call(input={"city": 5}, output=1))]
    assert refusal(bad, tools=TOOLS).startswith("messages[1].parts[0].input: the value is not of type")
    assert ".output: " in refusal([assistant(call(input={"city": "Ulm"}, output="1"))], tools=TOOLS)


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_calls_that_no_longer_fit_become_withdrawn_ones(sdk: int) -> None:
    withdrawn = {"type": "dynamic-tool", "toolName": "old", "toolCallId": "c", "dynamic": False}
    done = call(name="old", input={}, output=1)
    kept = validate_ui_messages([assistant(done)], sdk=sdk, tools={})
    assert kept == [assistant({**withdrawn, "state": "output-available", "input": {}, "output": 1})]
    # A call that failed, or that lost its input, must stay readable.
    failed = call("output-error", input=5, errorText="no")
    assert validate_ui_messages([assistant(failed)], sdk=sdk, tools=TOOLS)[0]["parts"][0]["dynamic"] is False
    empty = call(input={}, output=1)
    assert validate_ui_messages([assistant(empty)], sdk=sdk, tools=TOOLS)[0]["parts"][0]["dynamic"] is False
    assert "No tool schema found for tool part old" in refusal(
        [assistant(call("input-available", "old", input=1))], sdk, {}
    )


def test_an_input_that_its_schema_changed_is_what_was_approved() -> None:
    def asked(shown: Json) -> list[JsonObject]:
        approval = {"id": "1", "inputSchemaInput": shown}
        return [assistant(call("approval-requested", input={"city": "Ulm"}, approval=approval))]

    assert validate_ui_messages(asked({"city": "Ulm"}), tools=TOOLS)
    assert "does not match the output reconstructed" in refusal(asked({"city": "Bonn"}), tools=TOOLS)
    assert ".input: " in refusal(asked(None), tools=TOOLS)


def test_data_and_metadata_have_schemas_too() -> None:
    message = user({"type": "data-x", "data": 1}, metadata={"a": 1})
    assert validate_ui_messages([message], data_schemas={"x": {"type": "integer"}}) == [message]
    with pytest.raises(
        InvalidMessage, match=r"messages\[0\]\.parts\[0\]\.data: No data schema found for data part x"
    ):
        validate_ui_messages([message], data_schemas={})
    with pytest.raises(InvalidMessage, match=r"\.data: the value is not of type"):
        validate_ui_messages([message], data_schemas={"x": {"type": "string"}})
    with pytest.raises(InvalidMessage, match=r"messages\[0\]\.metadata: .* \(at a\)"):
        validate_ui_messages([message], metadata_schema={"properties": {"a": {"type": "string"}}})


@pytest.mark.parametrize(
    ("schema", "fits"),
    [
        ({}, True),
        ({"minimum": 3}, True),
        ({"required": ["a"]}, True),
        ({"type": "object"}, False),
        ({"enum": [1]}, False),
    ],
)
def test_missing_metadata_fit_a_schema_that_asks_for_no_type(schema: JsonObject, fits: bool) -> None:  # noqa: FBT001
    if fits:
        assert validate_ui_messages([user(HI)], metadata_schema=schema)
    else:
        with pytest.raises(InvalidMessage, match=r"messages\[0\]\.metadata: is required and missing"):
            validate_ui_messages([user(HI)], metadata_schema=schema)


def test_halves_of_characters_reach_no_validator() -> None:
    data = user({"type": "data-x", "data": {"\ud83d": "\ude00"}})
    with pytest.raises(InvalidMessage, match="city"):
        validate_ui_messages([data], data_schemas={"x": CITY})
    assert validate_ui_messages([data], data_schemas={"x": {"type": "object"}}) == [data]


@pytest.mark.parametrize(
    "schema", [{"type": "nope"}, {"$ref": "https://example.com/a.json"}, {"$ref": "#/nope"}, 5]
)
def test_a_schema_that_is_none_is_the_fault_of_the_schema(schema: Json) -> None:
    with pytest.raises(InvalidSchema, match="The JSON schema for metadata cannot be used"):
        validate_ui_messages([user(HI)], metadata_schema=schema)


def test_screening_keeps_the_chat() -> None:
    bad = {"id": "b", "role": "assistant", "parts": [HI, {"type": "text", "text": 5}]}
    screening = screen_ui_messages([user(HI, odd=1), bad, None, assistant()], tools=TOOLS)
    assert screening.messages == [user(HI), assistant()]
    assert [(problem.index, problem.id, problem.path) for problem in screening.problems] == [
        (1, "b", "parts[1].text"),
        (2, None, ""),
    ]
    assert screening.problems[0].reason == "expected a string, got a number"
    assert screening.problems[0].message is bad


def test_screening_needs_an_array_and_takes_an_empty_one() -> None:
    assert screen_ui_messages([]).messages == []
    with pytest.raises(InvalidMessage):
        screen_ui_messages(None)


def nested(depth: int) -> Json:
    deep: Json = {"__proto__": 1}
    for _ in range(depth):
        deep = {"a": deep}
    return deep


def test_deep_metadata_are_read_as_deep_as_python_goes() -> None:
    part = {**HI, "providerMetadata": {"p": nested(100)}}
    assert validate_ui_messages([user(part)]) != [user(part)]
    part = {**HI, "providerMetadata": {"p": nested(100_000)}}
    assert "nested too deep" in refusal([user(part)])


def test_deep_data_are_held_against_a_schema_or_refused() -> None:
    message = user({"type": "data-x", "data": nested(100)})
    assert validate_ui_messages([message], data_schemas={"x": {"type": "object"}}) == [message]
    message = user({"type": "data-x", "data": nested(100_000)})
    with pytest.raises(InvalidMessage, match="nested too deep"):
        validate_ui_messages([message], data_schemas={"x": {"type": "object"}})


def test_what_a_schema_says_of_deep_data_is_told() -> None:
    tree: JsonObject = {
        "anyOf": [{"type": "integer"}, {"additionalProperties": {"$ref": "#"}, "type": "object"}]
    }
    part: JsonObject = {"type": "data-x", "data": nested(900)}
    assert validate_ui_messages([user(part)], data_schemas={"x": tree}) == [user(part)]
    with pytest.raises(InvalidMessage, match=r"parts\[0\]\.data: "):
        validate_ui_messages([user(part)], data_schemas={"x": {**tree, "maxProperties": 0}})
