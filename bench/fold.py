"""Chunks a second, decoded, checked, folded and encoded: us and `ai@7` in Node, in one run on one machine.

    .venv/bin/python bench/fold.py [--most 50000]

Two kinds of stream: an answer of text deltas, and a tool call whose input arrives in deltas. Both sides read the
same bytes of server-sent events, hold the message at the end, and write events again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.rows import OURS, Row, tell  # noqa: E402  # the path comes first
from rejoinder.fold import Accumulator  # noqa: E402
from rejoinder.testing.oracle import find_node  # noqa: E402
from rejoinder.wire.chunks import Chunk  # noqa: E402
from rejoinder.wire.codec import DONE, decode_chunk, encode_event  # noqa: E402
from rejoinder.wire.grammar import Grammar  # noqa: E402
from rejoinder.wire.sse import EventReader  # noqa: E402

SIZES = (1_000, 5_000, 10_000, 50_000)
MODULES = Path(__file__).parent.parent / "tests" / "oracle" / "node_modules"
READ_BYTES = 16_384


def text_stream(count: int) -> Iterator[dict[str, object]]:
    yield {"type": "start", "messageId": "m1"}
    yield {"type": "start-step"}
    yield {"type": "text-start", "id": "t1"}
    for number in range(count):
        yield {"type": "text-delta", "id": "t1", "delta": f"word {number} "}
    yield {"type": "text-end", "id": "t1"}
    yield {"type": "finish-step"}
    yield {"type": "finish"}


def tool_stream(count: int) -> Iterator[dict[str, object]]:
    yield {"type": "start", "messageId": "m1"}
    yield {"type": "start-step"}
    yield {"type": "tool-input-start", "toolCallId": "c1", "toolName": "write"}
    yield {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": '{"lines":["'}
    for number in range(count):
        yield {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": f"{number:04},"}
    yield {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": '"]}'}
    yield {"type": "tool-input-available", "toolCallId": "c1", "toolName": "write", "input": {"lines": []}}
    yield {"type": "tool-output-available", "toolCallId": "c1", "output": "done"}
    yield {"type": "finish-step"}
    yield {"type": "finish"}


def events(stream: Iterator[dict[str, object]]) -> bytes:
    return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in stream) + DONE


def ours(data: bytes) -> float:
    began = time.perf_counter()
    reader, grammar, accumulator = EventReader(), Grammar(), Accumulator()
    written = 0
    for at in range(0, len(data), READ_BYTES):
        for event in reader.feed(data[at : at + READ_BYTES]):
            if event == b"[DONE]":
                continue
            chunk: Chunk = decode_chunk(event)
            grammar.check(chunk)
            accumulator.apply(chunk)
            written += len(encode_event(chunk))
    written += len(DONE)
    assert accumulator.message.parts
    assert written
    return time.perf_counter() - began


def theirs(data: bytes, *, warm: bool) -> float:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        command = [str(find_node()), str(Path(__file__).with_suffix(".mjs")), str(MODULES), file.name]
        run = subprocess.run(
            [*command, *(["warm"] if warm else [])], capture_output=True, text=True, check=True
        )
    seconds: float = json.loads(run.stdout)["seconds"]
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=int, default=max(SIZES), help="leave out longer streams")
    most = parser.parse_args().most
    print(f"{'stream':<6} {'deltas':>7} {'ours, chunks/s':>15} {'ai@7, chunks/s':>15} {'ratio':>8}")
    for kind, make in (("text", text_stream), ("tool", tool_stream)):
        costs: dict[int, tuple[float, float]] = {}
        for size in (size for size in SIZES if size <= most):
            data = events(make(size))
            chunks = sum(1 for _ in make(size))
            us = min(ours(data) for _ in range(3))
            them = theirs(data, warm=size <= 10_000)
            costs[size] = us / chunks, them / chunks
            for who, seconds in ((OURS, us), ("ai@7 in Node", them)):
                tell(
                    Row(
                        table=f"Chunks of a {kind} stream: read, checked, folded, written",
                        line=f"{size:,} deltas",
                        who=who,
                        value=chunks / seconds,
                        unit="chunks/s",
                        more_is_better=True,
                        at=size,
                    )
                )
            print(
                f"{kind:<6} {size:>7,} {chunks / us:>15,.0f} {chunks / them:>15,.0f} {them / us:>7.1f}x",
                flush=True,
            )
        small, large = costs[min(costs)], costs[max(costs)]
        print(
            f"{kind:<6} cost of a chunk, {max(costs):,} deltas against {min(costs):,}: "
            f"ours {large[0] / small[0]:.2f}x, ai@7 {large[1] / small[1]:.2f}x\n",
            flush=True,
        )


if __name__ == "__main__":
    main()
