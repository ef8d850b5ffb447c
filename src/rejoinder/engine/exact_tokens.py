"""Tokens counted exactly, as OpenAI's models do, by the extra `tokens` (tiktoken).

A vocabulary is fetched from the vendor once and kept in tiktoken's cache (`TIKTOKEN_CACHE_DIR` says where); on a
machine that reaches nothing, put it there beforehand, or take the default counter, which needs none.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rejoinder.errors import RejoinderError
from rejoinder.history.tokens import TextTokenCounter

if TYPE_CHECKING:
    from tiktoken import Encoding

NEWEST: Final = "o200k_base"
"""The vocabulary of the vendor's models of today, for those whose names tiktoken does not know yet."""

REMEMBERED_TEXTS: Final = 4_096
"""So many texts are not counted again: a conversation is counted anew at each of its turns."""


class NoVocabulary(RejoinderError):
    """Tokens cannot be counted: the extra is not installed, or the vocabulary cannot be fetched. The message says
    what to do.
    """

    code = "no-vocabulary"


class TiktokenCounter(TextTokenCounter):
    """Counts as the tokenizer of a model does. `encoding` is one of your own. Raises `NoVocabulary`."""

    def __init__(self, model: str | None = None, *, encoding: Encoding | None = None) -> None:
        found = _encoding(model) if encoding is None else encoding
        self.vocabulary: Final = found.name

        @lru_cache(REMEMBERED_TEXTS)
        def count(text: str) -> int:
            # What looks like a special token in a text is a text. Half a surrogate pair is no UTF-8.
            plain = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return len(found.encode_ordinary(plain))

        super().__init__(count)


def _encoding(model: str | None) -> Encoding:
    try:
        import tiktoken
    except ImportError as error:
        raise NoVocabulary("counting tokens needs tiktoken: pip install 'rejoinder[tokens]'") from error
    try:
        name = NEWEST if model is None else tiktoken.encoding_name_for_model(model)
    except KeyError:
        name = NEWEST
    try:
        return tiktoken.get_encoding(name)
    except Exception as error:
        raise NoVocabulary(
            f"the vocabulary {name} cannot be fetched ({type(error).__name__}): put it into TIKTOKEN_CACHE_DIR"
        ) from error
