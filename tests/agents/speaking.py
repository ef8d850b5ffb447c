"""Whether what a turn said to clients is legal, and whether the real packages read of it what we store."""

from __future__ import annotations

from typing import Final

from rejoinder.convert.ui import to_ui
from rejoinder.messages import Message
from rejoinder.testing.oracle import Oracle
from rejoinder.translate.known_calls import grammar_of
from rejoinder.wire.codec import chunk_to_json
from rejoinder.wire.dialects import dialect, problems
from rejoinder.wire.downlevel import downlevel
from rejoinder.wire.json import as_javascript
from tests.engine.stage import Stage

RELEASES: Final = ("5.0.277", "6.0.326", "7.0.173")
STRICT: Final = ("5.0.0", "6.0.0", "7.0.0")


async def check_speech(
    on: Stage, oracle: Oracle, turn: str = "turn", answer: str = "", before: Message | None = None
) -> None:
    """The journal of a turn is legal, clients of 5, 6 and 7 can hear it, and 7's message is the stored one."""
    said = await on.journal(turn)
    grammar = grammar_of(before)
    for chunk in said:
        grammar.check(chunk)
    assert grammar.ended
    onto = None if before is None else to_ui(before)
    for release in (*RELEASES, *STRICT):
        spoken = [*downlevel(said, dialect(release), message=onto)]
        assert [found for chunk in spoken for found in problems(dialect(release), chunk)] == []
        sdk = release[0] if release in RELEASES else release
        chunks = [chunk_to_json(chunk) for chunk in spoken]
        results = oracle.ask({"do": "schema", "sdk": sdk, "chunks": chunks})["results"]
        assert [result for result in results if result is not None] == [], release
        read = oracle.ask({"do": "fold", "sdk": sdk, "chunks": chunks, "onto": onto})
        assert "error" not in read, (release, read)
        if release == "7.0.173":
            stored = to_ui(await on.answer(answer or turn))
            assert read["message"] == as_javascript(stored)
