"""JSON that is still arriving, against the real `parsePartialJson`: cut anywhere, broken anywhere."""

from __future__ import annotations

import json
from random import Random

import pytest

from rejoinder.fold import PartialJson, parse_partial_json
from rejoinder.messages import ABSENT, Json
from rejoinder.testing.oracle import Oracle
from rejoinder.wire.json import as_javascript
from tests.scale import scale

TEXTS = scale(1_500, 20_000)

_KEYS = ["a", 'b"c', "é", "__proto__", "constructor", "prototype", "k😀", "1", ""]
_NUMBERS: list[Json] = [0, -1, 12, 1.5e300, -0.0, 123456789012345678901, 1e-7]
_SCALARS: list[Json] = [True, False, None, *_NUMBERS, "x", '\n\t"\\', "\u2028😀", "\\u12", "true", ""]
_NOISE = [*'{}[]",:0-eE.tfn u\\\n', "1e400", "NaN", "nul", "trua", "\\ud83d", "\ud83d"]


def value(random: Random, depth: int = 0) -> Json:
    choice = random.random()
    if depth < 4 and choice < 0.3:
        return {random.choice(_KEYS): value(random, depth + 1) for _ in range(random.randint(0, 3))}
    if depth < 4 and choice < 0.5:
        return [value(random, depth + 1) for _ in range(random.randint(0, 3))]
    return random.choice(_SCALARS)


def text(seed: int) -> str:
    random = Random(seed)
    whole = json.dumps(
        value(random), ensure_ascii=random.random() < 0.5, indent=random.choice([None, None, 1])
    )
    if random.random() < 0.8:
        whole = whole[: random.randint(0, len(whole))]
    if random.random() < 0.2:
        at = random.randint(0, len(whole))
        whole = whole[:at] + random.choice(_NOISE) + whole[at:]
    return whole[: random.randint(0, len(whole))] if random.random() < 0.3 else whole


def said(found: Json) -> Json:
    return {} if found is ABSENT else {"value": as_javascript(found)}


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_we_read_what_the_package_reads(oracle: Oracle, sdk: int) -> None:
    texts = [text(seed) for seed in range(TEXTS)]
    answers = oracle.ask_many({"do": "partial", "sdk": str(sdk), "text": each} for each in texts)
    for seed, (each, theirs) in enumerate(zip(texts, answers, strict=True)):
        theirs.pop("state")
        assert said(parse_partial_json(each, sdk=sdk)) == theirs, f"seed {seed}: {each!r}"


@pytest.mark.parametrize("sdk", [5, 6, 7])
def test_reading_on_after_every_letter_is_reading_the_whole(sdk: int) -> None:
    for seed in range(300):
        whole = text(seed)
        partial = PartialJson(sdk)
        for end in range(1, len(whole) + 1):
            partial.feed(whole[end - 1])
            if seed % 3 == 0 or end == len(whole):
                assert said(partial.value) == said(parse_partial_json(whole[:end], sdk=sdk)), (seed, end)
