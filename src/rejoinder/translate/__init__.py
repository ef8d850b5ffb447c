"""Vendors' events → chunks. A file for each vendor, and the `Emitter`, which keeps the grammar for them all.

A translator does no I/O and knows no clock: what an agent said a year ago it translates as it did then.
"""

from rejoinder.translate.emitter import Emitter
from rejoinder.translate.notes import (
    CallEnded,
    CallStarted,
    Ending,
    Failed,
    Finished,
    Note,
    Problem,
    Remember,
    Stopped,
)
from rejoinder.translate.translation import Closing, Translate, Translation, Translator

__all__ = [
    "CallEnded",
    "CallStarted",
    "Closing",
    "Emitter",
    "Ending",
    "Failed",
    "Finished",
    "Note",
    "Problem",
    "Remember",
    "Stopped",
    "Translate",
    "Translation",
    "Translator",
]
