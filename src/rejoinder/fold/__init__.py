"""Folds over a turn's log: chunks → message and back, JSON that is still arriving, model streams → message."""

from rejoinder.fold.accumulator import Accumulator, accumulate
from rejoinder.fold.explode import explode
from rejoinder.fold.message_list import MessageList
from rejoinder.fold.partial_json import PartialJson, parse_partial_json

__all__ = ["Accumulator", "MessageList", "PartialJson", "accumulate", "explode", "parse_partial_json"]
