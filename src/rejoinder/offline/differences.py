"""Where two JSON values differ, in a form that a person can read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from rejoinder.messages import Json
from rejoinder.wire import json
from rejoinder.wire.json import is_array, is_object

SHOWN_CHARACTERS_MAX: Final = 160
"""So much of a value is shown: enough to recognise it."""


class Difference(NamedTuple):
    """One place. A side on which there is nothing is None."""

    path: str
    kept: str | None
    made: str | None

    def __str__(self) -> str:
        sides = (("kept", self.kept), ("made", self.made))
        told = "; ".join(f"{name} {'nothing' if value is None else value}" for name, value in sides)
        return f"{self.path or 'all of it'}: {told}"


def differences(kept: Json, made: Json, path: str = "") -> Iterator[Difference]:
    """The places at which two values differ, as deep as they agree in shape."""
    if is_object(kept) and is_object(made):
        for key in (*kept, *(key for key in made if key not in kept)):
            inside = f"{path}.{key}" if path else str(key)
            if key not in kept:
                yield Difference(inside, None, _shown(made[key]))
            elif key not in made:
                yield Difference(inside, _shown(kept[key]), None)
            else:
                yield from differences(kept[key], made[key], inside)
    elif is_array(kept) and is_array(made):
        for place in range(max(len(kept), len(made))):
            inside = f"{path}[{place}]"
            if place >= len(kept):
                yield Difference(inside, None, _shown(made[place]))
            elif place >= len(made):
                yield Difference(inside, _shown(kept[place]), None)
            else:
                yield from differences(kept[place], made[place], inside)
    elif isinstance(kept, str) and isinstance(made, str):
        if kept != made:
            yield _texts(path, kept, made)
    elif type(kept) is not type(made) or kept != made:
        yield Difference(path, _shown(kept), _shown(made))


def _texts(path: str, kept: str, made: str) -> Difference:
    """Two texts from where they begin to differ, with a little of what comes before."""
    same = next(
        (place for place, (one, other) in enumerate(zip(kept, made, strict=False)) if one != other),
        min(len(kept), len(made)),
    )
    begin = max(0, same - 20)
    return Difference(f"{path} from character {same}", _shown(kept[begin:]), _shown(made[begin:]))


def _shown(value: Json) -> str:
    text = json.encode(value).decode("utf-8", "replace")
    return text if len(text) <= SHOWN_CHARACTERS_MAX else text[: SHOWN_CHARACTERS_MAX - 1] + "…"
