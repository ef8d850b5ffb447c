"""Real chat clients of the npm packages, driven from Python."""
