"""Chance with a seed: texts, numbers and JSON values that are odd enough to find what is wrong.

Every case is a function of its seed alone, on every Python version we support: `random.Random` seeded with a
text promises that. Nothing here looks at time, hash order or the machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from typing import Any, Final, TypeAlias, TypeGuard, TypeVar

Json: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]
Value = TypeVar("Value")

TEXTS: Final = (
    "",
    " ",
    "Hello",
    "The answer is 42.",
    "line one\nline two\r\n\ttabbed",
    'quotes " and \\ back/slashes',
    "\x00 and \x1f and \x7f",
    "line\u2028and paragraph\u2029separators",
    "👩‍👩‍👧‍👦 family",
    "🇩🇪🏳️‍🌈",
    "𝒳𝒴𝒵 outside the first plane",
    "שלום עולם \u202eright to left",
    "e\u0301 combined, \ufeffmarked",
    "lone high \ud83d here",
    "lone low \ude00 here",
    "\ude00\ud83d reversed",
    "data: not an event\n\n",
    "[DONE]",
    "__proto__",
    "日本語のテキスト",
    "x" * 300,
)
"""What people and models write, and what breaks those who did not expect it."""

NUMBERS: Final = (
    0,
    1,
    -1,
    42,
    3.14,
    1.0,
    -0.0,
    0.1,
    1e21,
    123456789012345680000,
    12345678901234567890,
    9007199254740993,
    1e-7,
    1.5e-9,
    1e308,
    5e-324,
    -2.5e10,
)
"""Numbers on which JavaScript's doubles and Python's integers part ways, and some on which they do not."""

NUMBER_SPELLINGS: Final = (
    *("0", "-0", "7", "-13", "1.0", "0.50", "1e5", "1E+2", "-1.5e-7", "1e21", "1e400", "-1e400", "5e-324"),
    *("12345678901234567890", "0.1", "100000000000000000000000", "2e-400"),
)
"""Numbers as JSON text may spell them. `1e400` is infinite in JavaScript, and null when it is written again."""

KEYS: Final = (
    "a",
    "b",
    "city",
    "0",
    "10",
    "2",
    "-1",
    "01",
    "",
    "toString",
    "prototype",
    "ключ",
    "n\u2028l",
    "😀",
)
"""Keys of objects; JavaScript puts the integer-like ones first. `__proto__` is left to JSON *text*: no client
accepts it in a chunk."""

IDS: Final = (
    "0",
    "t1",
    "txt-2",
    "",
    "constructor",
    "__proto__",
    "toString",
    "ид",
    "a b",
    "msg_0123456789abcdef",
)
"""Ids, among them the names that live on every JavaScript object."""

BROKEN_JSON: Final = (
    *(
        "",
        " ",
        "{",
        "[",
        '"',
        "{]",
        "[}",
        "[-",
        "[a",
        "-",
        "tru",
        "nul",
        "truex",
        "fals",
        "nulll",
        "+1",
        ".5",
        "01",
    ),
    *(
        "1.",
        "1.e5",
        "1e",
        "1e+",
        "-.",
        "[1,,2]",
        "[,",
        "{,",
        '{"a"',
        '{"a":',
        '{"a" 1',
        "{a:1}",
        "{'a':1}",
        '{"a":1,}',
    ),
    *(
        "[1,2,]",
        '{"a":1}x',
        '{"a":1} {"b"',
        "[1]]",
        "NaN",
        "[Infinity",
        '"\\x41"',
        '"\\',
        '"\\u',
        '"\\u12',
        '"\\u12G4"',
    ),
    *(
        '{"a":"\n"}',
        '["raw\x00nul"',
        '{"__proto__":{"x":1}}',
        '{"a":{"__proto__":1},"b":[2',
        '{"\\u005f_proto__":1}',
    ),
    *(
        '{"constructor":{"prototype":{"x":1}}}',
        '{"constructor":{"a":1}}',
        '{"constructor":',
        "\ufeff{}",
        "\u00a0[1]",
    ),
    *(
        "{}{}",
        "[[[[[[[[",
        '{"a":{"b":{"c":[{"d":',
        '{"1":1,"0":0,"b":',
        '{"a":1,"a":2,"a":',
        '["\ud83d\ude00',
        '"\ud83d',
    ),
    *(
        '"\\ud83d\\ude0',
        '"\\ud83d\\u',
        "t",
        "f",
        "n",
        "[t",
        '{"a":f',
        '[1.5, "x", nul',
        "[1e400,-1e40",
        '{"a":-',
        '{"":""',
    ),
)
"""Text that is not JSON, or not yet: each way that a parser of unfinished JSON may go wrong."""


def is_object(value: Json) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)


def is_list(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list)


class Chance:
    """A seeded source of choices and values."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)

    def maybe(self, probability: float) -> bool:
        return self._random.random() < probability

    def pick(self, values: Sequence[Value]) -> Value:
        return self._random.choice(values)

    def whole(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def weighted(self, table: Sequence[tuple[float, Value]]) -> Value:
        return self._random.choices([value for _, value in table], [weight for weight, _ in table])[0]

    def some(self, values: Sequence[Value], probability: float) -> list[Value]:
        """Each of the values, with a probability, in their order."""
        return [value for value in values if self.maybe(probability)]

    def add(self, into: JsonObject, key: str, probability: float, make: Callable[[], Json]) -> None:
        """An optional key: there or not there, never null."""
        if self.maybe(probability):
            into[key] = make()

    def text(self) -> str:
        return self.pick(TEXTS) if self.maybe(0.7) else self.pick(TEXTS) + self.pick(TEXTS)

    def word(self) -> str:
        return self.pick(("alpha", "beta", "gamma", "delta", "Zürich", "👍", "x"))

    def id(self) -> str:
        return self.pick(IDS)

    def pieces(self, text: str, most: int = 6) -> list[str]:
        """A text cut between any two UTF-16 units, as JavaScript cuts: through emoji, escapes and numbers."""
        units = text.encode("utf-16-le", "surrogatepass")
        length = len(units) // 2
        cuts = sorted(self.whole(0, length) for _ in range(self.whole(0, most - 1)))
        bounds = [0, *cuts, length]
        return [
            units[2 * start : 2 * end].decode("utf-16-le", "surrogatepass") for start, end in pairwise(bounds)
        ]

    def scalar(self) -> Json:
        return self.weighted(
            ((4, self.word()), (2, self.text()), (3, self.pick(NUMBERS)), (2, self.pick((True, False, None))))
        )

    def json(self, depth: int = 2) -> Json:
        """Any JSON value."""
        if depth == 0 or self.maybe(0.4):
            return self.scalar()
        if self.maybe(0.3):
            return [self.json(depth - 1) for _ in range(self.whole(0, 3))]
        return self.object(depth)

    def object(self, depth: int = 2) -> JsonObject:
        made: JsonObject = {}
        for _ in range(self.whole(0, 3)):
            made[self.pick(KEYS)] = self.json(depth - 1)
        # A scalar only: with an object that has a `prototype` below it, clients refuse the whole stream.
        self.add(made, "constructor", 0.03, self.scalar)
        return made

    def provider_metadata(self) -> JsonObject:
        """Two levels of objects, then anything: what every version's schema asks for."""
        return {name: self.object(1) for name in self.some(("openai", "anthropic", "google", "0"), 0.5)}

    def json_text(self) -> str:
        """JSON as text: well-formed in many spellings, or not JSON at all."""
        return self.pick(BROKEN_JSON) if self.maybe(0.25) else self._spelled(2)

    def _spelled(self, depth: int) -> str:
        space = self.pick(("", "", "", " ", "\n  ", "\t"))
        kind = self.weighted(((1, "array"), (5, "object"), (1, "scalar"))) if depth else "scalar"
        if kind == "array":
            return f"[{space}{f'{space},'.join(self._spelled(depth - 1) for _ in range(self.whole(0, 3)))}{space}]"
        if kind == "object":
            # Keys may come twice; the last one holds.
            members = [
                f"{self._spelled_text(self.pick(KEYS))}{space}:{space}{self._spelled(depth - 1)}"
                for _ in range(self.whole(0, 4))
            ]
            return f"{{{space}{f',{space}'.join(members)}{space}}}"
        return self.weighted(
            (
                (4, self._spelled_text(self.text())),
                (3, self.pick(NUMBER_SPELLINGS)),
                (2, self.pick(("true", "false", "null"))),
            )
        )

    def _spelled_text(self, text: str) -> str:
        spelled = json.dumps(text, ensure_ascii=self.maybe(0.4))
        if self.maybe(0.2):
            spelled = spelled.replace("/", "\\/").replace("e", "\\u0065").replace("l", "\\u006C")
        return spelled
