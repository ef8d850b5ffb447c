"""The fold room, beyond what tests/conformance holds it to."""
