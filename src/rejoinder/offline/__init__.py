"""Turns that are over: replayed, counted, moved, imported."""
