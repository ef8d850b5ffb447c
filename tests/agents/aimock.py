"""Aimock on loopback: an independent program that speaks the vendors' wires, and answers as fixtures say."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rejoinder.messages import JsonObject
from rejoinder.testing.oracle import find_modules, find_node, find_script


@contextmanager
def serving(fixtures: Sequence[JsonObject], folder: Path) -> Generator[str]:
    """Its address, while it runs."""
    program = find_modules(find_script()) / "@copilotkit" / "aimock" / "dist" / "cli.js"
    assert program.is_file(), "aimock is not installed: npm ci --prefix tests/oracle"
    file = folder / "fixtures.json"
    file.write_text(json.dumps({"fixtures": fixtures}))
    command = [str(find_node()), str(program), "-p", "0", "-f", str(file), "-c", "8", "--strict"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                listening = re.search(r"listening on (http://\S+)", line)
                if listening is not None:
                    yield listening[1]
                    return
            raise AssertionError("aimock did not start")
        finally:
            process.kill()
