"""Tests of the room `live`."""
