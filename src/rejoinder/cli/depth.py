"""Filters that read values as deeply nested as Node reads them, and refuse deeper ones in words.

Python stops at a thousand frames, and a JSON value nested five hundred deep takes as many. More frames need more
stack than a main thread may have (it is the shell's to say), so a filter runs in a thread whose stack we choose.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import wraps
from typing import Final, ParamSpec

P = ParamSpec("P")

FRAMES_MAX: Final = 9_000
"""Two frames a level for most of what we do: 4,000 levels, which is where Node gives up as well."""

STACK_BYTES: Final = 64 * 2**20
"""Some 2 KiB a frame were measured at most; what is not used costs nothing."""

INTERRUPTED: Final = 130
"""The exit code of whoever was interrupted, as shells have it."""


def deeply(command: Callable[P, None]) -> Callable[P, None]:
    """The command, with room for deeply nested values."""

    @wraps(command)
    def run(*arguments: P.args, **options: P.kwargs) -> None:
        outcome: Future[None] = Future()

        def work() -> None:
            try:
                command(*arguments, **options)
                outcome.set_result(None)
            except BaseException as error:  # noqa: BLE001  raised again by whoever waits
                outcome.set_exception(error)

        sys.setrecursionlimit(FRAMES_MAX)
        threading.stack_size(STACK_BYTES)
        try:
            # A daemon: it may wait for input that never comes, and an interrupt does not wait for it.
            threading.Thread(target=work, daemon=True).start()
            outcome.result()
        except KeyboardInterrupt:
            os._exit(INTERRUPTED)

    return run
