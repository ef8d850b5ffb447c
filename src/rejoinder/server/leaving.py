"""Being told to leave. Servers first wait for open connections, and tell an application last; an answer would hold
them up until they are killed. So the signal is heard here too, and turns begin to come to their end at once.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def told_to_leave(act: Callable[[], None]) -> Generator[None]:
    """Have `act` called in this loop when the process gets a signal to end, and the server's own handler as well."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are for the main thread: whoever runs us in another one ends us himself
        return
    loop = asyncio.get_running_loop()
    # Where nobody handles a signal, the process just ends, and there is nobody to wait for us.
    before = {number: handler for number in SIGNALS if callable(handler := signal.getsignal(number))}

    def told(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(act)
        before[signal.Signals(number)](number, frame)

    for number in before:
        signal.signal(number, told)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is told:
                signal.signal(number, handler)
