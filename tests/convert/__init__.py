"""Tests of the conversions between our message and everybody else's."""
