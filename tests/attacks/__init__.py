"""Requests that nobody well-meaning makes: refused in the right words, and nothing is written."""
