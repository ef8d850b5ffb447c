"""What the providers have in common: bytes of a response → events, and the calls of the conversation core."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from importlib.util import find_spec
from typing import Final, Generic, TypeVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from msgspec import Struct

from rejoinder.agents.answers import Answer
from rejoinder.agents.errors import ProviderCredentials, ProviderCutOff, ProviderGarbled
from rejoinder.errors import InvalidJson, RejoinderError
from rejoinder.messages import Json, JsonObject
from rejoinder.ports.agents import ALIVE
from rejoinder.ports.providers import ProviderCallParams, ProviderCallResult
from rejoinder.translate import Translator
from rejoinder.translate.fields import object_of, text_of
from rejoinder.wire import json
from rejoinder.wire.sse import EventReader

CONNECT_SECONDS: Final = 10.0
"""Who has not taken a connection by then is not there."""

IDLE_SECONDS: Final = 180.0
"""A model that thinks in silence may be silent for minutes; longer than this has not been seen to end well."""

RETRIES: Final = 3
"""How often a request is sent again that was refused for load, or got no answer. The SDKs wait between them."""

DONE: Final = b"[DONE]"
"""The word, no JSON, with which some servers end a stream. It is handed on as a JSON text."""

Client = TypeVar("Client")


WORDS_MAX: Final = 2_000
"""So much of a refusal is kept: some proxies answer with a page."""


class InvalidSetting(RejoinderError):
    """A setting that cannot be right. The message says which, and what would be."""

    code = "invalid-setting"


class NotInstalled(RejoinderError):
    """What this needs is an extra, and is not installed. The message says how to install it."""

    code = "not-installed"


class Response(Struct):
    """A response that has begun: its bytes, decompressed, and whether it is one JSON text and no stream."""

    pieces: AsyncIterator[bytes]
    whole: bool = False


class VendorProvider(ABC, Generic[Client]):
    """A provider on top of a vendor's SDK, which owns authentication, retries and time-outs.

    There is one client for each event loop that calls, made with the first call; `aclose` gives back the one of the
    running loop. `idle_seconds` is how long nothing at all may come.
    """

    def __init__(
        self, name: str, model: str, translate: Translator, settings: Mapping[str, Json], idle_seconds: float
    ) -> None:
        self.name: Final = name
        self.model: Final = model
        self.translate: Final = translate
        self.settings: Final = dict(settings)
        self.idle_seconds: Final = idle_seconds
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Client] = WeakKeyDictionary()

    async def events(self, params: ProviderCallParams) -> AsyncGenerator[bytes, None]:
        """Make a call and yield the vendor's events. Closing the iterator closes the connection."""
        async with aclosing(self.signs(params)) as signs:
            async for sign in signs:
                if sign != ALIVE:
                    yield sign

    async def signs(self, params: ProviderCallParams) -> AsyncGenerator[bytes, None]:
        """The same, with `ALIVE` wherever bytes came and no event: vendors keep a line alive while a model thinks."""
        async with aclosing(self._call(self._request(params))) as signs:
            async for sign in signs:
                yield sign

    async def complete(self, params: ProviderCallParams) -> ProviderCallResult:
        """Make a call and wait for all of the answer."""
        async with aclosing(self.events(params)) as events:
            return await Answer(events, self.translate, provider=self.name).final

    async def complete_stream(self, params: ProviderCallParams) -> Answer:
        """Make a call and hear of the answer as it comes."""
        return Answer(self.events(params), self.translate, provider=self.name)

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await self._close(client)

    async def _call(self, request: JsonObject) -> AsyncGenerator[bytes, None]:
        ended = False
        async with self._response(self._client(), request) as response:
            async for data in _data(response):
                if data == ALIVE:
                    yield data
                    continue
                try:
                    event = json.decode(data)
                except InvalidJson as error:
                    if data.strip() == DONE:
                        ended = True
                        yield json.encode(data.decode().strip())
                        continue
                    yield json.encode(data.decode("utf-8", "replace"))
                    raise ProviderGarbled(f"an event is no JSON: {error}", provider=self.name) from error
                ended = ended or response.whole or self._ends(event)
                yield data
        if not ended:
            raise ProviderCutOff("the stream ended before the answer did", provider=self.name)

    def _client(self) -> Client:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = self._connect()
        return client

    def _overridden(self, request: JsonObject, params: ProviderCallParams) -> JsonObject:
        """The request with the settings, the call's before the provider's before ours; None takes a field out."""
        said = {**request, **self.settings, **(params.settings or {})}
        return {name: value for name, value in said.items() if value is not None}

    def _no_key(self, variable: str) -> ProviderCredentials:
        return ProviderCredentials(
            f"there is no key: set {variable} in the environment, or pass api_key", provider=self.name
        )

    @abstractmethod
    def _connect(self) -> Client: ...

    @abstractmethod
    async def _close(self, client: Client) -> None: ...

    @abstractmethod
    def _request(self, params: ProviderCallParams) -> JsonObject:
        """The body of the request."""

    @abstractmethod
    def _response(self, client: Client, request: JsonObject) -> AbstractAsyncContextManager[Response]:
        """Send it. Raises errors of ours, also while the response is read."""

    @abstractmethod
    def _ends(self, event: Json) -> bool:
        """Whether the vendor has said, with this event, that the answer is over."""


def need(module: str, extra: str) -> None:
    """See that an SDK is there, without importing it."""
    if find_spec(module) is None:
        raise NotInstalled(f"this needs the distribution {module}: pip install 'rejoinder[{extra}]'")


def server(base_url: str) -> str:
    """The address of a server, if it is one."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidSetting(f"base_url={base_url!r} is no address: write it like http://localhost:8080/v1")
    return base_url


def words_of(body: object, message: str) -> tuple[str, tuple[str, str]]:
    """What the body of a refusal says, and its names for it; else what the SDK says."""
    error = object_of(body, "error") or object_of(body)
    said = text_of(error, "message") or text_of(body, "detail") or message
    return said[:WORDS_MAX], (text_of(error, "code"), text_of(error, "type"))


def reason_of(error: BaseException) -> str:
    """Why there is no connection: what lies at the bottom says most."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__


async def _data(response: Response) -> AsyncIterator[bytes]:
    """The data of the events, or `ALIVE` for a piece that completes none; what was not streamed is one event."""
    if response.whole:
        yield b"".join([piece async for piece in response.pieces])
        return
    reader = EventReader()
    async for piece in response.pieces:
        for data in [*reader.feed(piece)] or [ALIVE]:
            yield data
