"""A store in memory, without dependencies: for tests and first looks, and the readable definition of a store."""

from rejoinder.stores.memory.store import InMemoryConversationStore

__all__ = ["InMemoryConversationStore"]
