"""Letting go of a task that somebody else wrote."""

from __future__ import annotations

import asyncio
from typing import Final

from rejoinder.ports.clock import Clock

CANCELLATIONS_MAX: Final = 3
"""Some swallow the first cancellation by mistake. Who swallows three does it on purpose."""


async def dismiss(task: asyncio.Task[None], *, clock: Clock, seconds: float) -> bool:
    """Cancel a task and wait until it is gone. Answers whether it is, after so many seconds."""
    for _ in range(CANCELLATIONS_MAX):
        if task.done():
            break
        task.cancel()
        patience = asyncio.ensure_future(clock.sleep(seconds / CANCELLATIONS_MAX))
        try:
            await asyncio.wait({task, patience}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            patience.cancel()
    if task.done() and not task.cancelled():
        task.exception()  # so that nobody complains that it was not looked at
    return task.done()
