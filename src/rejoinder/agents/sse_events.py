"""The events of another server: a request, and the data of the server-sent events that answer it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Final

from rejoinder.agents.errors import ProviderCutOff, ProviderStalled, ProviderUnavailable, error_for
from rejoinder.agents.provider import CONNECT_SECONDS, DONE, IDLE_SECONDS, WORDS_MAX, need, reason_of
from rejoinder.messages import JsonObject
from rejoinder.wire import json
from rejoinder.wire.sse import EventReader

_LINES: Final = "ndjson"
"""What is in the content type of a response that has an event a line."""


async def events_from(
    url: str, body: JsonObject, *, headers: Mapping[str, str], provider: str, extra: str
) -> AsyncGenerator[bytes, None]:
    """Post the body and yield the events, byte for byte. Closing the iterator closes the connection."""
    need("httpx", extra)
    import httpx

    told = {"accept": "text/event-stream", "content-type": "application/json", **headers}
    timeout = httpx.Timeout(IDLE_SECONDS, connect=CONNECT_SECONDS)
    try:
        async with (
            httpx.AsyncClient(timeout=timeout) as client,
            client.stream("POST", url, content=json.encode(body), headers=told) as response,
        ):
            if response.status_code >= 400:
                words = (await response.aread())[:WORDS_MAX].decode("utf-8", "replace")
                raise error_for(words, provider=provider, status=response.status_code)
            if _LINES in response.headers.get("content-type", ""):
                async for line in response.aiter_lines():
                    if line.strip():
                        yield line.encode()
                return
            reader = EventReader()
            async for piece in response.aiter_bytes():
                for data in reader.feed(piece):
                    if data.strip() != DONE:
                        yield data
    except httpx.TimeoutException as error:
        raise ProviderStalled("nothing came for too long", provider=provider) from error
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise ProviderUnavailable(f"no connection: {reason_of(error)}", provider=provider) from error
    except httpx.HTTPError as error:
        raise ProviderCutOff(f"the connection broke: {reason_of(error)}", provider=provider) from error
