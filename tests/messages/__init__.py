"""Tests of the values that we keep."""
