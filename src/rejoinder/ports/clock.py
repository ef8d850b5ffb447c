"""Time and chance. Everybody takes them as arguments; here is what stands for them where nobody passes in others."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol, TypeAlias


class Clock(Protocol):
    """The present moment, and waiting for a later one."""

    def now(self) -> datetime:
        """What time it is, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Come back when so much time has passed."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """What time it is, in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Come back when so much time has passed."""
        await asyncio.sleep(seconds)


NewId: TypeAlias = Callable[[], str]
"""Makes an id that nobody has."""


def random_id() -> str:
    """An id that nobody has."""
    return uuid.uuid4().hex
