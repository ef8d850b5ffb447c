"""A history of 1,000 messages, parsed, validated and converted for a model: us, `ai@7` in Node, Pydantic AI.

    .venv/bin/python bench/convert.py [--messages 1000] [--rounds 5] [--turns 3]

All three read the same JSON text in one run on one machine, in turns; each number is the best of all rounds. Pydantic
AI validates with its own types and makes its own model messages.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pydantic import TypeAdapter
from pydantic_ai.ui.vercel_ai import VercelAIAdapter
from pydantic_ai.ui.vercel_ai.request_types import UIMessage

from bench.rows import OURS, Row, tell
from rejoinder.convert.model import ui_to_model_messages
from rejoinder.convert.validate import validate_ui_messages
from rejoinder.testing.oracle import find_node
from rejoinder.wire.json import decode

ROUNDS = 5
"""As a server meets a history: warm, but not compiled for this very one. After forty rounds Node is twice as quick."""
MODULES = Path(__file__).parent.parent / "tests" / "oracle" / "node_modules"


def history(count: int) -> bytes:
    """Questions, and answers with thoughts, two calls of tools and a text."""
    messages: list[dict[str, object]] = []
    for number in range(count // 2):
        messages.append(
            {
                "id": f"u{number}",
                "role": "user",
                "parts": [{"type": "text", "text": f"Question {number}: " + "what of it? " * 8}],
            }
        )
        calls = [
            {
                "type": "tool-search",
                "toolCallId": f"c{number}-{place}",
                "state": "output-available",
                "input": {"query": f"query {number}", "limit": 10},
                "output": {"hits": [{"title": f"hit {hit}", "score": hit / 7} for hit in range(5)]},
            }
            for place in range(2)
        ]
        messages.append(
            {
                "id": f"a{number}",
                "role": "assistant",
                "parts": [
                    {"type": "step-start"},
                    {"type": "reasoning", "text": "One has to look it up. " * 4, "state": "done"},
                    *calls,
                    {"type": "step-start"},
                    {"type": "text", "text": "The answer is this. " * 20, "state": "done"},
                ],
            }
        )
    return json.dumps(messages).encode()


def best(run: Callable[[], object], rounds: int) -> float:
    fastest = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        kept = run()
        # Throwing the result away is not counted: in Node that happens later, too.
        fastest = min(fastest, time.perf_counter() - began)
        assert kept
    return fastest


def theirs(data: bytes, rounds: int) -> float:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        script = Path(__file__).with_suffix(".mjs")
        run = subprocess.run(
            [str(find_node()), str(script), str(MODULES), file.name, str(rounds)],
            capture_output=True,
            text=True,
            check=True,
        )
    seconds: float = json.loads(run.stdout)["seconds"]
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    count, rounds = arguments.messages, arguments.rounds
    data = history(count)
    adapter = TypeAdapter(list[UIMessage])
    contenders: dict[str, Callable[[], float]] = {
        OURS: lambda: best(lambda: ui_to_model_messages(validate_ui_messages(decode(data)), sdk=7), rounds),
        "ai@7": lambda: theirs(data, rounds),
        "Pydantic AI": lambda: best(
            lambda: VercelAIAdapter.load_messages(adapter.validate_json(data)), rounds
        ),
    }
    # In turns, so that a moment in which the machine is busy with something else hits all of them.
    turns = [{name: run() for name, run in contenders.items()} for _ in range(arguments.turns)]
    seconds = {name: min(turn[name] for turn in turns) for name in contenders}
    print(f"{'':<12} {'ms':>8} {'us/message':>11} {'ratio':>7}   {count:,} messages, {len(data):,} bytes")
    for name, each in seconds.items():
        ratio = each / seconds[OURS]
        table = "A history, parsed, validated and converted for a model"
        tell(Row(table=table, line=f"{count:,} messages", who=name, value=each * 1e3, unit="ms"))
        print(f"{name:<12} {each * 1e3:>8.1f} {each / count * 1e6:>11.1f} {ratio:>6.1f}x")


if __name__ == "__main__":
    main()
