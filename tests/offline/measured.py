"""A command that says how much memory it had."""

from __future__ import annotations

from typing import Final

MEASURED: Final = """
import pathlib, re, resource, sys
from rejoinder.cli import main
try:
    main()
finally:
    status = pathlib.Path("/proc/self/status")
    if status.exists():
        kib = int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1])
    else:
        kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(kib, file=sys.stderr)
"""
"""A program that runs a command, and then says its peak of memory in KiB on standard error.

Linux has it in /proc for this program alone: what the kernel tells elsewhere begins with that of whoever started it.
"""
