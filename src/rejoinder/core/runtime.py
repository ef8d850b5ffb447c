"""The agent-runtime specification under its names: `Agent(model, store).stream()`, and `MemoryStore` over any store.

Its canonical messages go in and out as JSON (`format: 2`); what it calls a thread is a conversation. Its open
questions are answered: a tool's result is in its call, order is `seq` and no time, reasoning and the vendor's metadata
are kept with their parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from rejoinder.convert.canonical import from_canonical, to_canonical
from rejoinder.convert.moments import iso_of
from rejoinder.engine.conversation_turns import StreamingTurn, TurnInput
from rejoinder.engine.conversing import DefaultConversationEngine
from rejoinder.engine.offered import AnyTool
from rejoinder.errors import InvalidMessage
from rejoinder.messages import Conversation, JsonObject, Message, Text
from rejoinder.ports.clock import NewId, random_id
from rejoinder.ports.history import HistoryBuilder
from rejoinder.ports.journal import NoSuchConversation
from rejoinder.ports.providers import Provider, ProviderAdapter, ProviderCallMetadata, ProviderCallParams
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore

RESOURCE: Final = "resourceId"
"""Whose a thread is, in the thread, in its messages, and in the metadata of the conversation."""


class MemoryStore:
    """The specification's four operations over a store of ours."""

    def __init__(self, store: ConversationStore, *, tenant: str = DEFAULT_TENANT) -> None:
        self.store: Final = store
        self.tenant: Final = tenant

    async def list_messages(
        self, *, thread_id: str, limit: int | None = None, order_by: Literal["asc", "desc"] = "asc"
    ) -> list[JsonObject]:
        """The canonical messages of a thread; with a limit the newest."""
        resource = _resource(await self.store.get_conversation(thread_id, tenant=self.tenant))
        stored = await self.store.list_messages(
            thread_id, limit=limit, ascending=order_by == "asc", tenant=self.tenant
        )
        return [to_canonical(each.message, thread_id=thread_id, resource_id=resource) for each in stored]

    async def save_messages(self, *, messages: Iterable[Mapping[str, object]]) -> None:
        """Store canonical messages in their threads, new ones behind the newest, known ones in place.

        A message never moves to another thread: the same id in two threads is two messages. Raises `InvalidMessage`
        for what is no canonical message, and `NoSuchConversation` for a thread that was not saved.
        """
        read = [(_thread_of(message), from_canonical(message)) for message in messages]
        for thread_id, message in read:
            await self.store.upsert_message(thread_id, message, tenant=self.tenant)

    async def get_thread_by_id(self, *, thread_id: str) -> JsonObject | None:
        """The thread, if it is there."""
        found = await self.store.get_conversation(thread_id, tenant=self.tenant)
        if found is None:
            return None
        thread: JsonObject = {
            "id": found.id,
            "title": found.title,
            "metadata": {name: value for name, value in (found.metadata or {}).items() if name != RESOURCE},
            "createdAt": iso_of(found.created_at),
            "updatedAt": iso_of(found.updated_at),
        }
        resource = _resource(found)
        return thread if resource is None else {**thread, RESOURCE: resource}

    async def save_thread(self, *, thread: Mapping[str, object]) -> None:
        """Create a thread, or store its title and metadata anew."""
        id, title, metadata = thread.get("id"), thread.get("title"), thread.get("metadata")
        if not isinstance(id, str):
            raise InvalidMessage(f"$.id: a thread's id is a string, not {id!r}.")
        kept: JsonObject = {**metadata} if isinstance(metadata, Mapping) else {}
        if thread.get(RESOURCE) is not None:
            kept[RESOURCE] = thread[RESOURCE]
        named = title if isinstance(title, str) else None
        changed = await self.store.update_conversation(
            id, title=named, metadata=kept or None, tenant=self.tenant
        )
        if changed is None:
            await self.store.create_conversation(
                id=id, title=named, metadata=kept or None, tenant=self.tenant
            )


class Agent:
    """A model with a store: what is streamed is kept.

    `model` is a provider. `params` are needed for one that does not say its name and model itself.
    """

    def __init__(
        self,
        *,
        model: ProviderAdapter,
        store: ConversationStore | MemoryStore,
        params: ProviderCallParams | None = None,
        tools: Sequence[AnyTool] = (),
        history_builder: HistoryBuilder | None = None,
        new_id: NewId = random_id,
    ) -> None:
        self.model: Final = model
        self.store: Final = store if isinstance(store, MemoryStore) else MemoryStore(store)
        self.engine: Final = DefaultConversationEngine(
            store=self.store.store, history_builder=history_builder, new_id=new_id
        )
        self._params = params or _own_params(model)
        self._tools = tuple(tools)
        self._new_id = new_id

    async def stream(
        self, *, thread_id: str, messages: Sequence[Message | Mapping[str, object]] | str = ()
    ) -> StreamingTurn:
        """Answer these messages, canonical ones or a text, or what the thread ends with.

        The answer is kept whether or not anybody listens. Raises `NoSuchConversation`.
        """
        if await self.store.store.get_conversation(thread_id, tenant=self.store.tenant) is None:
            raise NoSuchConversation(f"no thread {thread_id!r}: save it first")
        return await self.engine.run_streaming_turn(
            TurnInput(
                conversation_id=thread_id,
                user_messages=self._said(messages),
                provider=self.model,
                provider_params=self._params,
                tools=self._tools,
                tenant=self.store.tenant,
            )
        )

    def _said(self, messages: Sequence[Message | Mapping[str, object]] | str) -> tuple[Message, ...]:
        if isinstance(messages, str):
            return (Message(id=self._new_id(), role="user", parts=(Text(text=messages),)),)
        return tuple(each if isinstance(each, Message) else from_canonical(each) for each in messages)


def _own_params(model: ProviderAdapter) -> ProviderCallParams:
    named = (model.name, model.model) if isinstance(model, Provider) else ("model", "model")
    return ProviderCallParams(metadata=ProviderCallMetadata(provider=named[0], model=named[1]))


def _thread_of(message: Mapping[str, object]) -> str:
    thread_id = message.get("threadId")
    if not isinstance(thread_id, str):
        raise InvalidMessage(f"$.threadId: the id of a thread is a string, not {thread_id!r}.")
    return thread_id


def _resource(conversation: Conversation | None) -> str | None:
    metadata = {} if conversation is None else conversation.metadata or {}
    resource = metadata.get(RESOURCE)
    return resource if isinstance(resource, str) else None
