"""Stores: where conversations, turns and their pages are kept."""
