"""A bus over Redis or Valkey (the extra `redis`), for wake-ups between processes at a low latency."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any, Final

from rejoinder.ports.bus import BusUnavailable

CONNECT_SECONDS: Final = 1.0
PUBLISH_SECONDS_MAX: Final = 0.5
"""Words are for those who wait now. Later they look by themselves."""

SILENCE_SECONDS: Final = 2.0
"""After so long without a word the server is asked whether it is there; it has as long again to say so."""


class RedisBus:
    """A bus on the server that a URL names: `redis://…`, `rediss://…` or `unix://…`."""

    def __init__(self, url: str) -> None:
        from redis import asyncio as redis
        from redis.backoff import NoBackoff
        from redis.exceptions import RedisError
        from redis.retry import Retry

        self._lost: tuple[type[BaseException], ...] = (RedisError, OSError, asyncio.TimeoutError)
        # redis-py tries again by itself for seconds, in which nobody would look elsewhere.
        self._client: Any = redis.Redis.from_url(  # pyright: ignore[reportUnknownMemberType]  # its keywords have none
            url,
            socket_connect_timeout=CONNECT_SECONDS,
            retry=Retry(NoBackoff(), 0),
            decode_responses=True,
        )

    async def publish(self, channel: str, words: Sequence[str]) -> None:
        """Say words, each by itself."""
        try:
            async with asyncio.timeout(PUBLISH_SECONDS_MAX):
                for word in words:
                    await self._client.publish(channel, word)
        except self._lost as error:
            raise BusUnavailable(f"Redis cannot be reached: {_reason(error)}") from error

    async def listen(self, channel: str, *, heard: Callable[[str], None], ready: Callable[[], None]) -> None:
        """Hand on what is said, until the server is gone or does not answer."""
        listener = self._client.pubsub()
        try:
            async with asyncio.timeout(CONNECT_SECONDS + SILENCE_SECONDS):
                await listener.subscribe(channel)
            asked = False
            while True:
                said = await listener.get_message(timeout=SILENCE_SECONDS)
                if said is None:
                    if asked:
                        raise BusUnavailable(f"Redis has not answered for {SILENCE_SECONDS:g} s")
                    async with asyncio.timeout(SILENCE_SECONDS):
                        await listener.ping()
                    asked = True
                    continue
                asked = False
                if said["type"] == "subscribe":
                    ready()
                elif said["type"] == "message":
                    heard(said["data"])
        except self._lost as error:
            raise BusUnavailable(f"Redis is lost: {_reason(error)}") from error
        finally:
            await self._leave(listener)

    async def close(self) -> None:
        """Let go of all connections."""
        await self._client.aclose()

    async def _leave(self, listener: Any) -> None:
        with contextlib.suppress(*self._lost):
            await listener.aclose()


def _reason(error: BaseException) -> str:
    """What happened, in words. Errors of redis-py have them in what they were raised from, if anywhere."""
    return f"{error}" or f"{error.__cause__ or type(error).__name__}"
