"""Anthropic's Messages API: `Chat(AnthropicMessages("claude-sonnet-5"))`.

The SDK is the extra `anthropic`; it is imported with the first call.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Final

from rejoinder.agents.anthropic_request import messages_request
from rejoinder.agents.errors import ProviderCutOff, ProviderStalled, ProviderUnavailable, error_for
from rejoinder.agents.provider import (
    CONNECT_SECONDS,
    IDLE_SECONDS,
    RETRIES,
    Response,
    VendorProvider,
    need,
    reason_of,
    server,
    words_of,
)
from rejoinder.messages import Json, JsonObject
from rejoinder.ports.providers import ProviderCallParams
from rejoinder.translate.anthropic import Anthropic as AnthropicTranslator
from rejoinder.translate.fields import text_of

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

MAX_TOKENS: Final = 16_384
"""How long an answer may be where nobody says it: this vendor wants a number, and every model it offers takes it."""

_NO_KEY: Final = "none"
"""What somebody else's server is sent that was given no key: never the one that is meant for Anthropic."""


class AnthropicMessages(VendorProvider["AsyncAnthropic"]):
    """Anthropic's Messages API, or a server that speaks it.

    `base_url` is the server, Anthropic's own by default; the key of the environment is sent to nobody else. `name`
    is what records call the provider. `settings` go into every request as they are (`{"thinking": …}`), and None
    takes a field out; `headers` are for its betas. `retries` are for requests that were refused for load or got no
    answer; `idle_seconds` is how long nothing may come.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        name: str = "anthropic",
        max_tokens: int = MAX_TOKENS,
        settings: Mapping[str, Json] | None = None,
        headers: Mapping[str, str] | None = None,
        retries: int = RETRIES,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        need("anthropic", "anthropic")

        class Named(AnthropicTranslator):
            provider = name

        super().__init__(name, model, Named, settings or {}, idle_seconds)
        self._base_url = None if base_url is None else server(base_url)
        self._api_key = _NO_KEY if api_key is None and base_url is not None else api_key
        self._max_tokens = max_tokens
        self._headers = dict(headers or {})
        self._retries = retries

    def _connect(self) -> AsyncAnthropic:
        import httpx2
        from anthropic import AsyncAnthropic

        client = AsyncAnthropic(
            api_key=self._api_key,
            base_url=self._base_url,
            default_headers=self._headers,
            max_retries=self._retries,
            timeout=httpx2.Timeout(self.idle_seconds, connect=CONNECT_SECONDS),
        )
        if client.api_key is None and client.auth_token is None and client.credentials is None:
            raise self._no_key("ANTHROPIC_API_KEY")
        return client

    async def _close(self, client: AsyncAnthropic) -> None:
        await client.close()

    def _request(self, params: ProviderCallParams) -> JsonObject:
        model = params.metadata.model or self.model
        body = messages_request(params, model, self.name, max_tokens=self._max_tokens)
        return self._overridden(body, params)

    @asynccontextmanager
    async def _response(self, client: AsyncAnthropic, request: JsonObject) -> AsyncGenerator[Response, None]:
        create = client.messages.with_streaming_response.create
        body = {**request, "stream": True}
        with _told(self.name):
            async with create(model=self.model, max_tokens=1, messages=[], extra_body=body) as response:
                whole = "json" in response.headers.get("content-type", "")
                yield Response(response.iter_bytes(), whole=whole)

    def _ends(self, event: Json) -> bool:
        return text_of(event, "type") in ("message_stop", "error")


@contextmanager
def _told(provider: str) -> Generator[None, None, None]:
    """Say in our words what the SDK and its connection raise."""
    import anthropic
    import httpx2

    try:
        yield
    except anthropic.APITimeoutError as error:
        raise ProviderStalled("no answer came in time", provider=provider) from error
    except anthropic.APIConnectionError as error:
        raise ProviderUnavailable(f"no connection: {reason_of(error)}", provider=provider) from error
    except anthropic.APIStatusError as error:
        message, names = words_of(error.body, error.message)
        raise error_for(message, *names, provider=provider, status=error.status_code) from error
    except anthropic.AnthropicError as error:
        raise error_for(str(error), provider=provider) from error
    except httpx2.TimeoutException as error:
        raise ProviderStalled("nothing came for too long", provider=provider) from error
    except httpx2.HTTPError as error:
        raise ProviderCutOff(f"the connection broke: {reason_of(error)}", provider=provider) from error
