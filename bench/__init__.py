"""Benchmarks: us and our peers side by side, in one run on one machine. `make bench` runs them all."""
