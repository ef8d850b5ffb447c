"""What a message takes of a budget, by each counter."""

from __future__ import annotations

import pytest
import tiktoken

from rejoinder.engine.exact_tokens import NoVocabulary, TiktokenCounter
from rejoinder.history.tokens import (
    MESSAGE_TOKENS,
    RATIO_MAX,
    CalibratedCounter,
    TextTokenCounter,
    calibrated,
    characters_of,
    estimated,
)
from rejoinder.messages import Data, File, Message, Part, Reasoning, SourceUrl, StepStart, Text, ToolCall

CALL = ToolCall(name="look", call_id="c", state="output-available", input={"q": "Rome"}, output=["x" * 100])
BYTES = tiktoken.Encoding(
    "bytes",
    pat_str=r".+",
    mergeable_ranks={bytes([n]): n for n in range(256)},
    special_tokens={"<|end|>": 256},
)


def message(*parts: Part) -> Message:
    return Message(id="m", role="assistant", parts=parts)


def test_everything_that_a_model_is_shown_counts_and_nothing_else() -> None:
    empty = estimated(message())
    shown: list[Part] = [
        Text(text="word"),
        Reasoning(text="thought"),
        CALL,
        File(media_type="image/png", url="u"),
    ]
    for part in shown:
        assert estimated(message(part)) > empty
    hidden: list[Part] = [StepStart(), SourceUrl(source_id="s", url="u"), Data(name="n", data="x" * 1_000)]
    for part in hidden:
        assert estimated(message(part)) == empty
    assert characters_of(message(CALL)) == len("look") + len('{"q":"Rome"}') + 104


def test_a_file_costs_what_vendors_make_of_it_and_not_the_length_of_its_url() -> None:
    small, large = (File(media_type="image/png", url="data:" + "x" * n) for n in (1, 100_000))
    assert estimated(message(small)) == estimated(message(large))


def test_an_estimate_follows_what_was_counted_within_bounds() -> None:
    text = message(Text(text="x" * 350))
    assert CalibratedCounter().count(text) == MESSAGE_TOKENS + 100
    assert calibrated(100, 150).count(text) == 156
    assert calibrated(10, 5_000).ratio == RATIO_MAX
    assert calibrated(0, 5_000).ratio == 1


def test_who_can_count_a_text_can_count_a_message() -> None:
    assert TextTokenCounter(len).count(message(Text(text="four"), CALL)) == MESSAGE_TOKENS + 4 + 4 + 12 + 104


def test_tiktoken_counts_texts_as_texts() -> None:
    counter = TiktokenCounter(encoding=BYTES)
    assert counter.vocabulary == "bytes"
    assert counter.count(message(Text(text="four"))) == MESSAGE_TOKENS + 4
    assert counter.count(message(Text(text="<|end|>"))) == MESSAGE_TOKENS + 7
    assert counter.count(message(Text(text="\ud800é"))) == MESSAGE_TOKENS + 5


@pytest.mark.parametrize("model", [None, "gpt-4o", "a model of tomorrow"])
def test_a_vocabulary_that_cannot_be_fetched_is_named(
    model: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path_factory.mktemp("empty")))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    with pytest.raises(NoVocabulary, match="o200k_base"):
        TiktokenCounter(model)
