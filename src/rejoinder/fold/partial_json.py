"""JSON that is still arriving: what it says so far, by the repair rules of each AI SDK.

The scanner remembers where it stands, so that a delta costs its own length and no more; the value is built
only when somebody asks.
"""

from __future__ import annotations

import re
from typing import Final

from rejoinder.errors import InvalidJson
from rejoinder.messages import ABSENT, Maybe
from rejoinder.wire.json import decode, has_key, pollutes, rejoin_surrogates

# Where the scanner can stand. The innermost open thing is the top of the stack.
ROOT: Final = "root"
DONE: Final = "done"
STRING: Final = "string"
ESCAPE: Final = "escape"
UNICODE: Final = "unicode escape"
LITERAL: Final = "literal"
NUMBER: Final = "number"
OBJECT_START: Final = "object start"
OBJECT_KEY: Final = "object key"
OBJECT_COLON: Final = "object before colon"
OBJECT_VALUE: Final = "object before value"
OBJECT_AFTER: Final = "object after value"
OBJECT_COMMA: Final = "object after comma"
ARRAY_START: Final = "array start"
ARRAY_AFTER: Final = "array after value"
ARRAY_COMMA: Final = "array after comma"

_CLOSERS: Final = {
    STRING: '"',
    OBJECT_START: "}",
    OBJECT_KEY: "}",
    OBJECT_COLON: "}",
    OBJECT_VALUE: "}",
    OBJECT_AFTER: "}",
    OBJECT_COMMA: "}",
    ARRAY_START: "]",
    ARRAY_AFTER: "]",
    ARRAY_COMMA: "]",
}

_AFTER_VALUE: Final = {
    ROOT: DONE,
    OBJECT_VALUE: OBJECT_AFTER,
    ARRAY_START: ARRAY_AFTER,
    ARRAY_COMMA: ARRAY_AFTER,
}
"""What stands on the stack under a value that begins here."""

_VALUE_STARTS: Final = {
    '"': STRING,
    "t": LITERAL,
    "f": LITERAL,
    "n": LITERAL,
    "{": OBJECT_START,
    "[": ARRAY_START,
    "-": NUMBER,
    **dict.fromkeys("0123456789", NUMBER),
}

_STEPS: Final[dict[str, dict[str, str | None]]] = {
    OBJECT_START: {'"': OBJECT_KEY, "}": None},
    OBJECT_COMMA: {'"': OBJECT_KEY},
    OBJECT_COLON: {":": OBJECT_VALUE},
    OBJECT_AFTER: {",": OBJECT_COMMA, "}": None},
    ARRAY_AFTER: {",": ARRAY_COMMA, "]": None},
}
"""State, character → next state; None closes the thing. Any other character leaves the state as it is."""

_STRING_END: Final = re.compile(r'["\\]')
_NUMBER_END: Final = re.compile(r"[^0-9eE.\-]")
_DIGIT: Final = re.compile(r"[0-9]")
_LITERALS: Final = ("true", "false", "null")


class PartialJson:
    """One JSON text that arrives in deltas."""

    __slots__ = ("_hex_digits", "_literal", "_pieces", "_scanned", "_sdk", "_stack", "_text", "_valid")

    def __init__(self, sdk: int = 7) -> None:
        self._sdk = sdk
        self._pieces: list[str] = []
        self._text = ""
        self._scanned = 0
        self._stack = [ROOT]
        self._valid = 0  # the text is sound up to here, exclusive
        self._literal = 0  # where the literal began that we are in
        self._hex_digits = 0

    def feed(self, delta: str) -> None:
        """Take the next piece. Constant work: nothing is looked at before somebody asks."""
        self._pieces.append(delta)

    @property
    def text(self) -> str:
        """All that has arrived."""
        if self._pieces:
            self._text = rejoin_surrogates("".join((self._text, *self._pieces)))
            self._pieces.clear()
        return self._text

    @property
    def value(self) -> Maybe:
        """What the text says so far; `ABSENT` when it says nothing, or nothing that can be repaired."""
        text = self.text
        complete = _parse(text)
        if complete is not ABSENT:
            return complete
        self._scan(text)
        return _parse(text[: self._valid] + "".join(map(self._closer, reversed(self._stack))))

    def _closer(self, state: str) -> str:
        if state is LITERAL:
            begun = self._text[self._literal :]
            return next((word[len(begun) :] for word in _LITERALS if word.startswith(begun)), "")
        return _CLOSERS.get(state, "")

    def _scan(self, text: str) -> None:
        at, end = self._scanned, len(text)
        while at < end:
            at = self._step(text, at)
        self._scanned = end

    def _step(self, text: str, at: int) -> int:
        """Consume at least one character from `at` on, and say where to go on."""
        state = self._stack[-1]
        if state is STRING:
            return self._string(text, at)
        if state is NUMBER:
            return self._number(text, at)
        if state is OBJECT_KEY:
            # A quote ends a key even behind a backslash: that is how the SDK's repair reads keys.
            end = text.find('"', at)
            if end >= 0:
                self._stack[-1] = OBJECT_COLON
            return end + 1 if end >= 0 else len(text)
        character = text[at]
        if state is ESCAPE:
            self._escape(character, at)
        elif state is UNICODE:
            self._unicode(character, at)
        elif state is LITERAL:
            self._in_literal(text, at)
        elif state in _AFTER_VALUE:
            self._value_start(state, character, at)
        elif state is not DONE:
            self._structure(state, character, at)
        return at + 1

    def _structure(self, state: str, character: str, at: int) -> None:
        steps = _STEPS[state]
        if character not in steps:
            if state is ARRAY_AFTER:
                self._valid = at + 1
            return
        following = steps[character]
        if following is None:
            self._stack.pop()
            self._valid = at + 1
        else:
            self._stack[-1] = following

    def _value_start(self, state: str, character: str, at: int) -> None:
        if state is ARRAY_START:
            if character == "]":
                self._stack.pop()
                self._valid = at + 1
                return
            if self._sdk < 7:
                self._valid = at + 1
        value = _VALUE_STARTS.get(character)
        if value is None:
            return
        if character != "-":
            self._valid = at + 1
        self._literal = at
        self._stack[-1] = _AFTER_VALUE[state]
        self._stack.append(value)

    def _string(self, text: str, at: int) -> int:
        found = _STRING_END.search(text, at)
        if found is None:
            self._valid = len(text)
            return len(text)
        if found.start() > at:
            self._valid = found.start()
        if found[0] == '"':
            self._stack.pop()
            self._valid = found.end()
        else:
            self._stack.append(ESCAPE)
        return found.end()

    def _escape(self, character: str, at: int) -> None:
        self._stack.pop()
        if character == "u" and self._sdk > 5:
            self._hex_digits = 0
            self._stack.append(UNICODE)
        else:
            self._valid = at + 1

    def _unicode(self, character: str, at: int) -> None:
        if character in "0123456789abcdefABCDEF":
            self._hex_digits += 1
            if self._hex_digits == 4:
                self._stack.pop()
                self._valid = at + 1

    def _number(self, text: str, at: int) -> int:
        found = _NUMBER_END.search(text, at)
        end = len(text) if found is None else found.start()
        for last in range(end - 1, at - 1, -1):
            if _DIGIT.match(text, last):
                self._valid = last + 1
                break
        if found is None:
            return end
        self._stack.pop()
        self._after_scalar(found[0], end)
        return end + 1

    def _in_literal(self, text: str, at: int) -> None:
        begun = text[self._literal : at + 1]
        if any(word.startswith(begun) for word in _LITERALS):
            self._valid = at + 1
            return
        self._stack.pop()
        self._after_scalar(text[at], at)

    def _after_scalar(self, character: str, at: int) -> None:
        """The character that ended a number or a literal may also be a comma or a closer."""
        state = self._stack[-1]
        if character in _STEPS.get(state, ()):
            self._structure(state, character, at)


def parse_partial_json(text: str, *, sdk: int = 7) -> Maybe:
    """What a JSON text that may be cut short says, by the rules of that AI SDK; `ABSENT` when nothing."""
    partial = PartialJson(sdk)
    partial.feed(text)
    return partial.value


def _parse(text: str) -> Maybe:
    try:
        value = decode(text)
    except InvalidJson:
        return ABSENT
    suspicious = "_" in text or "prototype" in text or "\\u" in text
    return ABSENT if suspicious and has_key(value, pollutes) else value
