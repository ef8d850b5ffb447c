"""Conformance: cases by seed, and the real npm packages as the judge of what we make of them."""
