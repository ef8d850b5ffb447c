"""A program in the place of Claude Code that behaves badly, in the way that it is asked to."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

FLOOD_LINES = 20_000


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def complain(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def say(message: dict[str, Any]) -> None:
    tell(json.dumps(message))


def stream(event: dict[str, Any]) -> None:
    say({"type": "stream_event", "event": event, "session_id": "s", "parent_tool_use_id": None, "uuid": ""})


def begin() -> None:
    say({"type": "system", "subtype": "init", "session_id": "s", "model": "m", "uuid": "1"})
    stream({"type": "message_start", "message": {"id": "m1", "usage": {}}})
    stream({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    stream({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "So far so "}})


def behave(how: str) -> None:
    match how:
        case "die":
            complain("out of memory, key sk-ant-secret-canary")
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            complain("cannot go on")
            sys.exit(3)
        case "leave":
            sys.exit(0)
        case "flood":
            for number in range(FLOOD_LINES):
                complain(f"{number} " + "x" * 1000)
            stream(
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "good."}}
            )
            stream({"type": "content_block_stop", "index": 0})
            result()
        case "garble":
            tell('{"type": "assistant", "mess')
        case "cling":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            result()
            while True:
                signal.pause()
        case _:
            signal.pause()


def result() -> None:
    say({"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "uuid": "9"})


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "control_request":
            response = {"subtype": "success", "request_id": message["request_id"]}
            say({"type": "control_response", "response": {**response, "response": json.loads("{}")}})
        elif message["type"] == "user":
            begin()
            behave(message["message"]["content"][-1]["text"])


if __name__ == "__main__":
    main()
