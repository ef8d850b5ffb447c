"""How messages go wrong on their way through databases, older clients and other people's programs.

Each function changes one thing in place. Some changes are harmless to the real package, most are not: which ones
is for the package to say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from tests.conformance.values import Chance, Json, JsonObject, is_list, is_object

Spoiler: TypeAlias = Callable[[Chance, list[Json]], None]

NO_PARTS: Final[tuple[Json, ...]] = (
    *(
        {"type": "mystery"},
        {"type": "tool"},
        {"type": ""},
        {"type": None},
        {"type": 7},
        {},
        None,
        "text",
        3,
        [],
        True,
    ),
    *(
        {"type": "tool-weather"},
        {"type": "dynamic-tool"},
        {"type": "data-"},
        {"type": "text"},
        {"type": "toString"},
    ),
    *(
        {"type": "tool-x", "toolCallId": "c", "state": "done"},
        {"type": "tool-x", "toolCallId": "c", "state": None},
    ),
    *(
        {"type": "reasoning-file"},
        {"type": "file", "mediaType": "a/b"},
        {"type": "steering-message", "id": "s"},
    ),
)
WRONG: Final[tuple[Json, ...]] = (
    None,
    5,
    -0.0,
    10**30,
    True,
    "",
    "text",
    "\ud83d",
    [],
    {},
    ["a"],
    [None],
    {"a": 1},
)
NO_LISTS: Final[tuple[Json, ...]] = (None, {}, "parts", 3, [[]])
NO_MESSAGES: Final[tuple[Json, ...]] = (None, "message", 5, [], {}, True)
ROLES: Final[tuple[Json, ...]] = ("tool", "data", "developer", "Assistant", "\ud83d", "", None, 1)


def lose_a_key(chance: Chance, messages: list[Json]) -> None:
    thing = _any_part(chance, messages)
    if thing:
        del thing[chance.pick(tuple(thing))]


def null_a_key(chance: Chance, messages: list[Json]) -> None:
    """A database column that was empty comes back as null, which no optional field accepts."""
    thing = _any_part(chance, messages)
    if thing:
        key = chance.pick((*thing, "providerMetadata", "state", "approval", "output", "errorText"))
        thing[key] = None


def mistype_a_key(chance: Chance, messages: list[Json]) -> None:
    thing = _any_part(chance, messages)
    if thing:
        thing[chance.pick(tuple(thing))] = chance.pick(WRONG)


def add_a_key(chance: Chance, messages: list[Json]) -> None:
    thing = _any_message(chance, messages)
    if chance.maybe(0.6):
        thing = _any_part(chance, messages) or {}
    key = chance.pick(
        ("createdAt", "content", "0", "constructor", "extra", "errorText", "output", "approval")
    )
    thing[key] = chance.pick((*WRONG, "2025-01-01"))


def break_inside(chance: Chance, messages: list[Json]) -> None:
    """One level deeper: in metadata, approvals, citations."""
    part = _any_part(chance, messages) or {}
    keys = [
        key
        for key, value in part.items()
        if isinstance(value, dict) and value and key not in {"input", "data"}
    ]
    if keys:
        inner = part[chance.pick(keys)]
        inner[chance.pick(tuple(inner))] = chance.pick(WRONG)


def misjudge_an_approval(chance: Chance, messages: list[Json]) -> None:
    """What a server keeps that never saw the client's answer, or saw another one."""
    tools = [part for part in _parts(messages) if "toolCallId" in part]
    if tools:
        part = chance.pick(tools)
        approval: JsonObject = {"id": "approval-1"}
        chance.add(approval, "approved", 0.7, lambda: chance.pick((True, False, None, "yes")))
        chance.add(approval, "reason", 0.3, chance.word)
        part["approval"] = approval


def change_a_state(chance: Chance, messages: list[Json]) -> None:
    """A call whose state moved on while its other fields did not."""
    tools = [part for part in _parts(messages) if "toolCallId" in part]
    if tools:
        states = (
            "input-streaming",
            "input-available",
            "output-available",
            "output-error",
            "output-denied",
            "result",
        )
        chance.pick(tools)["state"] = chance.pick((*states, "approval-responded", "call"))


def add_a_stranger(chance: Chance, messages: list[Json]) -> None:
    message = _any_message(chance, messages)
    if isinstance(message.get("parts"), list):
        message["parts"].insert(chance.whole(0, len(message["parts"])), chance.pick(NO_PARTS))


def change_a_role(chance: Chance, messages: list[Json]) -> None:
    _any_message(chance, messages)["role"] = chance.pick(ROLES)


def lose_the_role_or_id(chance: Chance, messages: list[Json]) -> None:
    _any_message(chance, messages).pop(chance.pick(("role", "id")), None)


def replace_the_parts(chance: Chance, messages: list[Json]) -> None:
    message = _any_message(chance, messages)
    if chance.maybe(0.3):
        message.pop("parts", None)
    else:
        message["parts"] = chance.pick(NO_LISTS)


def empty_the_parts(chance: Chance, messages: list[Json]) -> None:
    _any_message(chance, messages)["parts"] = []


def replace_a_message(chance: Chance, messages: list[Json]) -> None:
    if messages:
        messages[chance.whole(0, len(messages) - 1)] = chance.pick(NO_MESSAGES)


def empty_the_list(chance: Chance, messages: list[Json]) -> None:
    messages.clear()


SPOILERS: Final[tuple[tuple[float, Spoiler], ...]] = (
    (4, lose_a_key),
    (4, null_a_key),
    (4, mistype_a_key),
    (3, add_a_key),
    (2, break_inside),
    (2, misjudge_an_approval),
    (2, change_a_state),
    (4, add_a_stranger),
    (4, change_a_role),
    (1, lose_the_role_or_id),
    (2, replace_the_parts),
    (1.5, empty_the_parts),
    (1.5, replace_a_message),
    (0.5, empty_the_list),
)


def spoil(chance: Chance, messages: list[Json]) -> None:
    """Change one thing."""
    chance.weighted(SPOILERS)(chance, messages)


def _parts(messages: list[Json]) -> list[JsonObject]:
    lists = [message.get("parts") for message in messages if is_object(message)]
    return [part for parts in lists if is_list(parts) for part in parts if is_object(part)]


def _any_part(chance: Chance, messages: list[Json]) -> JsonObject | None:
    parts = [part for part in _parts(messages) if part]
    return chance.pick(parts) if parts else None


def _any_message(chance: Chance, messages: list[Json]) -> JsonObject:
    found = [message for message in messages if is_object(message)]
    return chance.pick(found) if found else {}
