"""OpenAI, and every server that speaks its APIs: Responses, and Chat Completions.

    Chat(OpenAIResponses("gpt-5-mini"))
    Chat(OpenAIChat("llama3.2", base_url="http://localhost:11434/v1", name="ollama"))

The SDK is the extra `openai`; it is imported with the first call.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Final

from rejoinder.agents.errors import ProviderCutOff, ProviderStalled, ProviderUnavailable, error_for
from rejoinder.agents.openai_chat_request import chat_request
from rejoinder.agents.openai_responses_request import responses_request
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
from rejoinder.translate import Translator
from rejoinder.translate.fields import object_of, objects_of, text_of
from rejoinder.translate.openai_chat import OpenAIChat as ChatTranslator
from rejoinder.translate.openai_responses import OpenAIResponses as ResponsesTranslator

if TYPE_CHECKING:
    from openai import AsyncAPIResponse, AsyncOpenAI

_ENDINGS: Final = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled", "error"}
)
_NO_KEY: Final = "none"
"""What somebody else's server is sent that was given no key: never the one that is meant for OpenAI."""


class _OpenAI(VendorProvider["AsyncOpenAI"]):
    """What both of OpenAI's APIs have in common.

    `base_url` is the server, OpenAI's own by default; the key of the environment is sent to nobody else. `name` is
    what records call the provider. `settings` go into every request as they are (`{"temperature": 0}`), and None
    takes a field out. `retries` are for requests that were refused for load or got no answer; `idle_seconds` is how
    long nothing may come.
    """

    _vendor: type[ChatTranslator | ResponsesTranslator]

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        name: str = "openai",
        settings: Mapping[str, Json] | None = None,
        headers: Mapping[str, str] | None = None,
        retries: int = RETRIES,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        need("openai", "openai")
        super().__init__(name, model, self._understands(name), settings or {}, idle_seconds)
        self._base_url = None if base_url is None else server(base_url)
        self._api_key = _NO_KEY if api_key is None and base_url is not None else api_key
        self._headers = dict(headers or {})
        self._retries = retries

    def _connect(self) -> AsyncOpenAI:
        import httpx2
        from openai import AsyncOpenAI, OpenAIError

        try:
            return AsyncOpenAI(
                api_key=self._api_key,
                base_url=self._base_url,
                default_headers=self._headers,
                max_retries=self._retries,
                timeout=httpx2.Timeout(self.idle_seconds, connect=CONNECT_SECONDS),
            )
        except OpenAIError as error:
            raise self._no_key("OPENAI_API_KEY") from error

    async def _close(self, client: AsyncOpenAI) -> None:
        await client.close()

    @asynccontextmanager
    async def _response(self, client: AsyncOpenAI, request: JsonObject) -> AsyncGenerator[Response, None]:
        with _told(self.name):
            async with self._sent(client, {**request, "stream": True}) as response:
                whole = "json" in response.headers.get("content-type", "")
                yield Response(response.iter_bytes(), whole=whole)

    @staticmethod
    @abstractmethod
    def _understands(name: str) -> Translator:
        """The translator of the API, for a provider of that name."""

    @abstractmethod
    def _sent(
        self, client: AsyncOpenAI, request: JsonObject
    ) -> AbstractAsyncContextManager[AsyncAPIResponse[Any]]:
        """The request under way; the SDK is given its body as it is."""


class OpenAIResponses(_OpenAI):
    """OpenAI's Responses API: `OpenAIResponses("gpt-5-mini")`."""

    @staticmethod
    def _understands(name: str) -> Translator:
        class Named(ResponsesTranslator):
            provider = name

        return Named

    def _request(self, params: ProviderCallParams) -> JsonObject:
        model = params.metadata.model or self.model
        return self._overridden(responses_request(params, model, self.name), params)

    def _sent(
        self, client: AsyncOpenAI, request: JsonObject
    ) -> AbstractAsyncContextManager[AsyncAPIResponse[Any]]:
        return client.responses.with_streaming_response.create(extra_body=request)

    def _ends(self, event: Json) -> bool:
        return text_of(event, "type") in _ENDINGS or bool(object_of(event, "error"))


class OpenAIChat(_OpenAI):
    """Chat Completions, OpenAI's or any other server's: `OpenAIChat("llama3.2", base_url=…, name="ollama")`."""

    @staticmethod
    def _understands(name: str) -> Translator:
        class Named(ChatTranslator):
            provider = name

        return Named

    def _request(self, params: ProviderCallParams) -> JsonObject:
        model = params.metadata.model or self.model
        body = chat_request(params, model, self.name, ours=self._base_url is None)
        return self._overridden(body, params)

    def _sent(
        self, client: AsyncOpenAI, request: JsonObject
    ) -> AbstractAsyncContextManager[AsyncAPIResponse[Any]]:
        create = client.chat.completions.with_streaming_response.create
        return create(model=self.model, messages=[], extra_body=request)

    def _ends(self, event: Json) -> bool:
        chosen = any(text_of(choice, "finish_reason") for choice in objects_of(event, "choices"))
        return chosen or bool(object_of(event, "error"))


@contextmanager
def _told(provider: str) -> Generator[None, None, None]:
    """Say in our words what the SDK and its connection raise."""
    import httpx2
    import openai

    try:
        yield
    except openai.APITimeoutError as error:
        raise ProviderStalled("no answer came in time", provider=provider) from error
    except openai.APIConnectionError as error:
        raise ProviderUnavailable(f"no connection: {reason_of(error)}", provider=provider) from error
    except openai.APIStatusError as error:
        message, names = words_of(error.body, error.message)
        raise error_for(message, *names, provider=provider, status=error.status_code) from error
    except openai.OpenAIError as error:
        raise error_for(str(error), provider=provider) from error
    except httpx2.TimeoutException as error:
        raise ProviderStalled("nothing came for too long", provider=provider) from error
    except httpx2.HTTPError as error:
        raise ProviderCutOff(f"the connection broke: {reason_of(error)}", provider=provider) from error
