"""The SDKs' clients that a run has opened, so that whoever runs it can close them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

OPEN: Final[list[Any]] = []


@asynccontextmanager
async def closing() -> AsyncGenerator[None, None]:
    """Close what is opened within."""
    try:
        yield
    finally:
        while OPEN:
            await OPEN.pop().close()
