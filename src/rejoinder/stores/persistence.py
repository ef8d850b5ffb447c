"""The persistence specification's operations, under its names, over any store.

What it calls an agent is a conversation. Two things differ from its text. A message belongs to its agent, so an
operation on one names both: ids come from clients, and the same id in two conversations is two messages. And order
is the order of arrival, never a time. Messages go in and out as `UIMessage` JSON.

    agent_id = await create_agent(store)
    history = await receive_message(store, agent_id=agent_id, message=body["message"])   # only the last was sent
    … the model answers …
    await upsert_message(store, agent_id=agent_id, message=response_message)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rejoinder.convert.answers import answered
from rejoinder.convert.refusals import MessageIdReused, UnacceptableMessage
from rejoinder.convert.spec_rows import from_spec_rows, to_spec_rows
from rejoinder.convert.ui import from_ui, part_to_ui, to_ui
from rejoinder.convert.validate import Screening, screen_ui_messages
from rejoinder.convert.validate_tools import ToolSchemas
from rejoinder.messages import Json, JsonObject
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore


async def create_agent(
    store: ConversationStore, *, id: str | None = None, tenant: str = DEFAULT_TENANT
) -> str:
    """Create a conversation and answer its id. Raises `AlreadyExists` for an id that is taken."""
    return (await store.create_conversation(id=id, tenant=tenant)).id


async def upsert_message(
    store: ConversationStore, *, agent_id: str, message: JsonObject, tenant: str = DEFAULT_TENANT
) -> None:
    """Store a message whole, in place of what it was or behind the newest: its role, its metadata, all its parts.

    One transaction: nobody sees it without parts, or with parts of two writers. Its place and its time of creation
    stay. Raises `InvalidMessage` or `NoSuchConversation`.
    """
    await store.upsert_message(agent_id, from_ui(message), tenant=tenant)


async def load_agent(
    store: ConversationStore, agent_id: str, *, limit: int | None = None, tenant: str = DEFAULT_TENANT
) -> list[JsonObject]:
    """The messages in their order; with a limit the newest. Empty if there is no such agent."""
    stored = await store.list_messages(agent_id, limit=limit, tenant=tenant)
    return [to_ui(each.message) for each in stored]


async def delete_agent(store: ConversationStore, agent_id: str, *, tenant: str = DEFAULT_TENANT) -> bool:
    """Delete the conversation with all its messages. Answers whether it was there."""
    return await store.delete_conversation(agent_id, tenant=tenant)


async def delete_message(
    store: ConversationStore, *, agent_id: str, message_id: str, tenant: str = DEFAULT_TENANT
) -> int:
    """Delete the message and all after it. Answers how many; 0 if it is not there."""
    return await store.delete_message(agent_id, message_id, tenant=tenant)


async def receive_message(
    store: ConversationStore, *, agent_id: str, message: JsonObject, tenant: str = DEFAULT_TENANT
) -> list[JsonObject]:
    """The server's half of "send only the last message": keep it before a model is called, and load the history.

    A user's message is stored. An assistant's comes back from the client when the client has answered tool calls or
    approvals in it: those answers are taken into the stored message, which otherwise stays as it is, so that the
    turn goes on in the same message; to answer it is then the model's, under the same id. Raises `Refused` for what
    a client may not send.
    """
    given = from_ui(message)
    old = await store.get_message(agent_id, given.id, tenant=tenant)
    match given.role:
        case "user":
            if old is not None and old.message.role != "user":
                raise MessageIdReused(
                    f"message {given.id!r} is not the user's: give the new message its own id"
                )
            await store.upsert_message(agent_id, given, tenant=tenant)
        case "assistant":
            if old is None or old.message.role != "assistant":
                raise UnacceptableMessage(
                    f"message {given.id!r} is an assistant's that this agent does not have: send the user's message"
                )
            await store.upsert_message(agent_id, answered(old.message, message, open=True), tenant=tenant)
        case "system" | "tool":
            raise UnacceptableMessage(
                f"message {given.id!r} is of the role {given.role!r}: a client sends the user's"
            )
    return await load_agent(store, agent_id, tenant=tenant)


async def validate_agent(
    store: ConversationStore,
    agent_id: str,
    *,
    new: Sequence[JsonObject] = (),
    sdk: int = 7,
    tools: Mapping[str, ToolSchemas] | None = None,
    data_schemas: Mapping[str, JsonObject] | None = None,
    metadata_schema: JsonObject | None = None,
    tenant: str = DEFAULT_TENANT,
) -> Screening:
    """Hold what is stored, and new messages behind it, against the SDK's shapes and your own schemas.

    `messages` are those that fit; `problems` name the others and hold them, so that one message of yesterday's
    tools makes no conversation unloadable: migrate it, or leave it out.
    """
    messages = [*await load_agent(store, agent_id, tenant=tenant), *new]
    return screen_ui_messages(
        messages, sdk=sdk, tools=tools, data_schemas=data_schemas, metadata_schema=metadata_schema
    )


def map_ui_parts_to_db_parts(parts: Sequence[JsonObject], message_id: str) -> list[JsonObject]:
    """The parts of a `UIMessage` as rows of the specification's table of parts, with one column more, `extra`."""
    message = from_ui({"id": message_id, "role": "assistant", "parts": list(parts)})
    return list(to_spec_rows(message, agent_id="").parts)


def map_db_part_to_ui_part(row: Mapping[str, Json]) -> JsonObject:
    """Undo `map_ui_parts_to_db_parts` for one row. No row is refused: of an unknown type, it is kept whole."""
    message = from_spec_rows({"id": "", "role": "assistant"}, [row])
    return part_to_ui(message.parts[0])
