"""Tests of the vendors' I/O, through their own SDKs against servers on loopback."""
