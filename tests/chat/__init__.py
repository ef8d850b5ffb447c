"""Tests of the room `chat`."""
