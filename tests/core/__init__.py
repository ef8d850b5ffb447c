"""Tests of the room `core`: the conversation core under its own names."""
