"""The real npm packages, the process that asks them, and the tests of that process."""
