"""Tests of the chat transport for Open Harness: the acceptance list of its specification, one test each."""
