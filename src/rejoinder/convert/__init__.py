"""Messages at the doors: UI JSON ⇄ message, validation, model messages, canonical JSON, part rows."""
