"""Tests of the room `offline`."""
