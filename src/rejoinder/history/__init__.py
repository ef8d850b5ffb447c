"""What a model is shown of a conversation: which messages, how much of them, and why not the others."""
