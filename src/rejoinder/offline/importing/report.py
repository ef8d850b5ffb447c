"""What an import has done, and what of its source could not be carried over as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from rejoinder.errors import RejoinderError
from rejoinder.ports.journal import StoreMisconfigured, StoreUnavailable

Progress: TypeAlias = Callable[[int, int], None]
"""Hears how many rows are done, and of how many."""


def nobody(done: int, total: int) -> None:
    """Nobody hears."""


class Trouble(NamedTuple):
    """A row that could not be carried over as it was: which, why, and whether it is kept raw."""

    row: str
    why: str
    kept: bool

    def __str__(self) -> str:
        return f"{self.row}: {self.why} ({'kept as it came' if self.kept else 'not imported'})"


@dataclass(kw_only=True)
class Report:
    """What was written, what was there already, and all trouble, in the order of the source."""

    conversations: int = 0
    messages: int = 0
    turns: int = 0
    there: int = 0
    troubles: list[Trouble] = field(default_factory=list[Trouble])
    notes: list[str] = field(default_factory=list[str])

    def kept_raw(self, row: str, why: object) -> None:
        """The row is stored, but not as what it was meant to be."""
        self.troubles.append(Trouble(row, str(why), kept=True))

    def left_out(self, row: str, error: RejoinderError) -> None:
        """The row is not stored. Raises what the next row would meet as well."""
        if isinstance(error, StoreUnavailable | StoreMisconfigured):
            raise error
        self.troubles.append(Trouble(row, str(error), kept=False))
