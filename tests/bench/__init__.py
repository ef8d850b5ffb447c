"""The benchmarks themselves: what they measure with must work."""
