"""What calls of models cost, by the price list of the extra `prices` (genai-prices).

The price is that of the day of the call, and is kept with the call: what changes later rewrites nothing. A model that
the list does not know has no price, which is not a price of nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Final

from rejoinder.engine.accounts import UNKNOWN, Price
from rejoinder.messages import Cost, JsonObject, ProviderCall

LIST: Final = "genai_prices"
"""The module that has the price list."""


def installed_price() -> Price | None:
    """The price list, if it is installed. It is read here, a tenth of a second, and not while turns run."""
    if find_spec(LIST) is None:
        return None
    import_module(LIST)
    return listed_price


def listed_price(call: ProviderCall) -> Cost | None:
    """What the call cost by the list; None if it does not know the model, or nobody told what was consumed."""
    usage = call.usage
    if usage is None or call.model == UNKNOWN or (usage.input_tokens is None and usage.output_tokens is None):
        return None
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    # A model of the same name at somebody else's is not the vendor's: the model alone decides only where nobody told
    # the provider.
    provider = None if call.provider == UNKNOWN else call.provider
    consumed = Tokens(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    try:
        priced = calc_price(
            consumed,
            model_ref=call.model,
            provider_id=provider,
            genai_request_timestamp=call.started_at,
        )
    except LookupError:
        return None
    prices: JsonObject = {
        "list": LIST,
        "provider": priced.provider.id,
        "model": priced.model.id,
        "input": str(priced.input_price),
        "output": str(priced.output_price),
        "rates": str(priced.model_price),
    }
    return Cost(amount=priced.total_price, prices=prices)
