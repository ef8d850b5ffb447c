"""What a model call consumed, what that cost, and the record of the call itself."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal, TypeAlias

from msgspec import Struct

from rejoinder.messages.json_values import ABSENT, JsonObject, Maybe

ProviderOperation: TypeAlias = Literal["chat", "embedding", "other"]

ProviderCallStatus: TypeAlias = Literal["running", "succeeded", "failed", "cancelled", "interrupted"]


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Tokens of one model call, or of several added up. None is "not told", which is not zero.

    `input_tokens` contains what came from and went to the cache, `output_tokens` contains reasoning.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None

    @property
    def total(self) -> int | None:
        """All tokens: as the provider told it, else input and output together, as far as they are known."""
        if self.total_tokens is not None:
            return self.total_tokens
        return _sum(self.input_tokens, self.output_tokens)

    def __add__(self, other: Usage) -> Usage:
        # A call that tells nothing (it was cancelled, say) must not make the others unknown: what is known is
        # added up, and only what no call has told stays unknown. So `Usage()` is a neutral start for sums.
        told = self.total_tokens is not None or other.total_tokens is not None
        return Usage(
            input_tokens=_sum(self.input_tokens, other.input_tokens),
            output_tokens=_sum(self.output_tokens, other.output_tokens),
            total_tokens=_sum(self.total, other.total) if told else None,
            cache_read_tokens=_sum(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens=_sum(self.cache_write_tokens, other.cache_write_tokens),
            reasoning_tokens=_sum(self.reasoning_tokens, other.reasoning_tokens),
        )


class Cost(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What something cost, at the prices of its day: later price changes do not rewrite it."""

    amount: Decimal
    currency: str = "USD"
    prices: JsonObject | None = None


class ProviderCallMetadata(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Which model of which provider, and the labels of the request."""

    provider: str
    model: str
    extensions: JsonObject | None = None


class ProviderCall(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One call of one model, recorded also when it failed or was cancelled.

    `extensions` are the labels of the request (`ai.tenant`, request and correlation ids); `raw` is the
    provider's answer in its own words, where it is kept.
    """

    id: str
    provider: str
    model: str
    started_at: datetime
    operation: ProviderOperation = "chat"
    status: ProviderCallStatus = "running"
    extensions: JsonObject | None = None
    usage: Usage | None = None
    cost: Cost | None = None
    first_token_at: datetime | None = None
    finished_at: datetime | None = None
    raw: Maybe = ABSENT

    @property
    def created_at(self) -> datetime:
        """When it began, in the words of the conversation-core specification."""
        return self.started_at

    @property
    def metadata(self) -> ProviderCallMetadata:
        """Which model of which provider, and the labels, in one."""
        return ProviderCallMetadata(provider=self.provider, model=self.model, extensions=self.extensions)


def _sum(left: int | None, right: int | None) -> int | None:
    if left is None:
        return right
    return left if right is None else left + right
