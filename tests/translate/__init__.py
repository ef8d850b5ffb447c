"""Tests of the translators and of what they speak through."""
