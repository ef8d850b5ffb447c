"""Drives real chat clients: a Node process in which they live, and a handle for each of them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rejoinder.testing.oracle import MODULES_VARIABLE, find_modules, find_node, find_script

SCRIPT = Path(__file__).with_name("driver.mjs")

State = dict[str, Any]
"""What a client shows: `status`, `error`, `messages`, and which `requests` it made."""


class Clients:
    """The process. A context manager; commands are answered one after the other."""

    def __init__(self) -> None:
        modules = find_modules(find_script())
        self._process = subprocess.Popen(
            [str(find_node()), str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, MODULES_VARIABLE: str(modules.resolve())},
        )
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def new(self, sdk: str, api: str, conversation: str, **options: Any) -> Client:
        """A client of that release, as a page that has just been loaded with these `messages`.

        `7-socket` is release 7 over its WebSocket.
        """
        self._count += 1
        sdk, _, way = sdk.partition("-")
        name = f"client-{self._count}"
        headers = {"x-rejoinder-dialect": f"ai-sdk/{sdk}"} | options.pop("headers", {})
        self.tell(
            {
                "do": "new",
                "name": name,
                "sdk": sdk,
                "api": api,
                "id": conversation,
                "headers": headers,
                "socket": way == "socket",
                **options,
            }
        )
        return Client(self, name)

    def tell(self, command: State) -> State:
        """Give a command, and take the answer."""
        pipe_in, pipe_out = self._process.stdin, self._process.stdout
        assert pipe_in is not None
        assert pipe_out is not None
        pipe_in.write(json.dumps(command).encode() + b"\n")
        pipe_in.flush()
        answer: State = json.loads(pipe_out.readline())
        assert "failure" not in answer, answer
        return answer


class Client:
    """One chat."""

    def __init__(self, clients: Clients, name: str) -> None:
        self._clients = clients
        self._name = name

    def __call__(self, command: str, **details: Any) -> State:
        return self._clients.tell({"do": command, "name": self._name, **details})
