"""Tests of the room `history`, and of the builders on top of it."""
