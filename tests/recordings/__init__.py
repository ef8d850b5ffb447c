"""How the recorded runs in `tests/translate/events` were made, and the programs that make them again."""
