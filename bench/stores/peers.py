"""Our peers, each as its own documentation uses it, with tables of its own in the same database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import psycopg
from agents.extensions.memory import SQLAlchemySession
from google.adk.events import Event
from google.adk.sessions import DatabaseSessionService
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai.types import Content, FunctionCall, FunctionResponse
from google.genai.types import Part as GenaiPart
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool
from sqlalchemy import ForeignKey, Identity, Index, Text, func, insert, select, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncEngine, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship, selectinload

from bench.stores.turns import LAST, answer, as_json, plain, question
from rejoinder.messages import Message, ToolCall
from rejoinder.messages import Text as TextPart

FILL_AT_ONCE: Final = 1000

ITEMS_A_TURN: Final = 12
"""Of OpenAI Agents: a question, and the parts of an answer with the results of its calls."""

APP: Final = "bench"
USER: Final = "somebody"


def engine_of(url: str) -> AsyncEngine:
    """SQLAlchemy on asyncpg, as most of its users have it."""
    known = psycopg.conninfo.conninfo_to_dict(url)
    return create_async_engine(
        f"postgresql+asyncpg://{known['user']}@/{known['dbname']}",
        connect_args={"host": known["host"], "port": int(known.get("port", 5432))},
    )


class Base(DeclarativeBase):
    """The tables that a team writes in an afternoon."""


class MessageRow(Base):
    """A message."""

    __tablename__ = "orm_message"
    __table_args__ = (Index("orm_message_list", "conversation", "id"),)
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    conversation: Mapped[str] = mapped_column(Text)
    message_id: Mapped[str] = mapped_column(Text)
    role: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    parts: Mapped[list[PartRow]] = relationship(order_by="PartRow.order", cascade="all, delete-orphan")


class PartRow(Base):
    """A part."""

    __tablename__ = "orm_part"
    message: Mapped[int] = mapped_column(ForeignKey("orm_message.id", ondelete="CASCADE"), primary_key=True)
    order: Mapped[int] = mapped_column(primary_key=True)
    type: Mapped[str] = mapped_column(Text)
    text: Mapped[str | None] = mapped_column(Text)
    tool_call_id: Mapped[str | None] = mapped_column(Text)
    tool_state: Mapped[str | None] = mapped_column(Text)
    tool_input: Mapped[Any] = mapped_column(JSONB, nullable=True)
    tool_output: Mapped[Any] = mapped_column(JSONB, nullable=True)
    extra: Mapped[Any] = mapped_column(JSONB, nullable=True)


class SqlAlchemyOrm:
    """SQLAlchemy's ORM."""

    name = "SQLAlchemy ORM"

    async def open(self, url: str) -> None:
        """Make the tables."""
        self.engine = engine_of(url)
        self.session = async_sessionmaker(self.engine, expire_on_commit=False)
        async with self.engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)

    async def close(self) -> None:
        """Let go."""
        await self.engine.dispose()

    async def fill(self, conversation: str, count: int) -> None:
        """In bulk."""
        async with self.engine.begin() as connection:
            for begin in range(0, count, FILL_AT_ONCE):
                batch = [plain(number) for number in range(begin, min(begin + FILL_AT_ONCE, count))]
                rows = [
                    {"conversation": conversation, "message_id": each.id, "role": each.role} for each in batch
                ]
                await connection.execute(insert(MessageRow), rows)
            await connection.execute(
                text(
                    "INSERT INTO orm_part (message, \"order\", type, text) SELECT id, 0, 'text', "
                    "'Message ' || id || repeat('. And so on', 12) FROM orm_message WHERE conversation = :name"
                ),
                {"name": conversation},
            )

    def _row(self, conversation: str, message: Message) -> MessageRow:
        row = MessageRow(conversation=conversation, message_id=message.id, role=message.role)
        for order, part in enumerate(as_json(message)["parts"]):
            known = {"type", "text", "toolCallId", "state", "input", "output"}
            row.parts.append(
                PartRow(
                    order=order,
                    type=part["type"],
                    text=part.get("text"),
                    tool_call_id=part.get("toolCallId"),
                    tool_state=part.get("state"),
                    tool_input=part.get("input"),
                    tool_output=part.get("output"),
                    extra={name: value for name, value in part.items() if name not in known} or None,
                )
            )
        return row

    async def _keep(self, conversation: str, *messages: Message) -> None:
        async with self.session.begin() as session:
            session.add_all([self._row(conversation, message) for message in messages])

    async def save(self, conversation: str, number: int) -> None:
        """One transaction."""
        await self._keep(conversation, question(number), answer(number))

    async def load(self, conversation: str) -> int:
        """Objects with their parts."""
        async with self.session() as session:
            found = await session.scalars(
                select(MessageRow)
                .where(MessageRow.conversation == conversation)
                .order_by(MessageRow.id.desc())
                .limit(LAST)
                .options(selectinload(MessageRow.parts))
            )
            return len(found.all()[::-1])

    async def turn(self, conversation: str, number: int) -> None:
        """Keep, load, keep."""
        await self._keep(conversation, question(number))
        await self.load(conversation)
        await self._keep(conversation, answer(number))


def agents_items(message: Message) -> list[Any]:
    """A message as the items of OpenAI Agents: each call and each result is one."""
    items: list[Any] = []
    for part in message.parts:
        match part:
            case TextPart():
                items.append({"role": message.role, "content": part.text})
            case ToolCall():
                items.append(
                    {
                        "type": "function_call",
                        "call_id": part.call_id,
                        "name": part.name,
                        "arguments": json.dumps(part.input),
                    }
                )
                items.append(
                    {
                        "type": "function_call_output",
                        "call_id": part.call_id,
                        "output": json.dumps(part.output),
                    }
                )
            case _:
                items.append({"type": "reasoning", "id": "r", "summary": []})
    return items


class OpenAIAgents:
    """OpenAI Agents' SQLAlchemySession."""

    name = "OpenAI Agents"

    async def open(self, url: str) -> None:
        """Make the tables."""
        self.engine = engine_of(url)
        self._sessions: dict[str, SQLAlchemySession] = {}
        await self._session("first").add_items([{"role": "user", "content": "hi"}])

    async def close(self) -> None:
        """Let go."""
        await self.engine.dispose()

    def _session(self, conversation: str) -> SQLAlchemySession:
        if conversation not in self._sessions:
            self._sessions[conversation] = SQLAlchemySession(
                conversation, engine=self.engine, create_tables=True
            )
        return self._sessions[conversation]

    async def fill(self, conversation: str, count: int) -> None:
        """In large batches."""
        for begin in range(0, count, FILL_AT_ONCE):
            batch = [plain(number) for number in range(begin, min(begin + FILL_AT_ONCE, count))]
            await self._session(conversation).add_items([agents_items(each)[0] for each in batch])

    async def save(self, conversation: str, number: int) -> None:
        """One call."""
        await self._session(conversation).add_items(
            [*agents_items(question(number)), *agents_items(answer(number))]
        )

    async def load(self, conversation: str) -> int:
        """The items of as many messages: each text, call and result is one."""
        return len(await self._session(conversation).get_items(limit=LAST * ITEMS_A_TURN // 2))

    async def turn(self, conversation: str, number: int) -> None:
        """Keep, load, keep."""
        session = self._session(conversation)
        await session.add_items(agents_items(question(number)))
        past = LAST + min(number, LAST // 2) * (ITEMS_A_TURN - 2)
        await session.get_items(limit=past)
        await session.add_items(agents_items(answer(number)))


def adk_event(message: Message) -> Event:
    """A message as an event of ADK."""
    parts: list[GenaiPart] = []
    for part in message.parts:
        match part:
            case TextPart():
                parts.append(GenaiPart(text=part.text))
            case ToolCall():
                parts.append(GenaiPart(function_call=FunctionCall(name=part.name, args=part.input)))
                parts.append(
                    GenaiPart(function_response=FunctionResponse(name=part.name, response=part.output))
                )
            case _:
                parts.append(GenaiPart(text="-", thought=True))
    author = "user" if message.role == "user" else "assistant"
    return Event(author=author, invocation_id="i", content=Content(role=author, parts=parts))


class Adk:
    """ADK's DatabaseSessionService."""

    name = "ADK"

    async def open(self, url: str) -> None:
        """Make the tables."""
        self._url = url
        self.service = DatabaseSessionService(db_engine=engine_of(url))
        self._sessions: dict[str, Any] = {}

    async def close(self) -> None:
        """Let go."""
        await self.service.close()

    async def fill(self, conversation: str, count: int) -> None:
        """One event by its own hand, and copies of its row."""
        session = await self.service.create_session(app_name=APP, user_id=USER, session_id=conversation)
        await self.service.append_event(session, adk_event(plain(0)))
        with psycopg.connect(self._url, autocommit=True) as connection:
            columns = [
                row[0]
                for row in connection.execute(
                    "SELECT column_name FROM information_schema.columns WHERE table_name = 'events' "
                    "AND table_schema = 'public'"
                )
            ]
            given = [
                "id || '-' || n"
                if name == "id"
                else "timestamp - make_interval(secs => n)"
                if name == "timestamp"
                else name
                for name in columns
            ]
            connection.execute(
                f"INSERT INTO events ({', '.join(columns)}) SELECT {', '.join(given)} "  # type: ignore[arg-type]
                "FROM events, generate_series(1, %s) AS n WHERE session_id = %s",
                [count - 1, conversation],
            )
        await self._get(conversation)

    async def _get(self, conversation: str) -> Any:
        found = await self.service.get_session(
            app_name=APP,
            user_id=USER,
            session_id=conversation,
            config=GetSessionConfig(num_recent_events=LAST),
        )
        self._sessions[conversation] = found
        return found

    async def save(self, conversation: str, number: int) -> None:
        """An event each."""
        session = self._sessions[conversation]
        for message in (question(number), answer(number)):
            await self.service.append_event(session, adk_event(message))

    async def load(self, conversation: str) -> int:
        """The last events."""
        return len((await self._get(conversation)).events)

    async def turn(self, conversation: str, number: int) -> None:
        """Load, keep, keep."""
        session = await self._get(conversation)
        for message in (question(number), answer(number)):
            await self.service.append_event(session, adk_event(message))


def langchain_messages(messages: Sequence[Message]) -> list[Any]:
    """Messages as LangChain has them."""
    made: list[Any] = []
    for message in messages:
        content: list[Any] = [part for part in as_json(message)["parts"] if part["type"] != "step-start"]
        make = HumanMessage if message.role == "user" else AIMessage
        made.append(make(content=content, id=message.id))
    return made


class LangGraph:
    """LangGraph's AsyncPostgresSaver: a checkpoint holds the whole list of messages."""

    name = "LangGraph"

    async def open(self, url: str) -> None:
        """Make the tables."""
        self.pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
            url, open=False, kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
        )
        await self.pool.open()
        self.saver = AsyncPostgresSaver(self.pool)
        await self.saver.setup()
        self._version: dict[str, int] = {}
        self._last: dict[str, Any] = {}

    async def close(self) -> None:
        """Let go."""
        await self.pool.close()

    async def _put(self, conversation: str, messages: list[Any]) -> None:
        version = self._version.get(conversation, 0) + 1
        self._version[conversation] = version
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"messages": messages}
        checkpoint["channel_versions"] = {"messages": version}
        where = {"configurable": {"thread_id": conversation, "checkpoint_ns": ""}}
        metadata: Any = {"source": "loop", "step": version, "parents": {}}
        self._last[conversation] = await self.saver.aput(where, checkpoint, metadata, {"messages": version})

    async def _get(self, conversation: str) -> list[Any]:
        found = await self.saver.aget_tuple(
            {"configurable": {"thread_id": conversation, "checkpoint_ns": ""}}
        )
        return [] if found is None else list(found.checkpoint["channel_values"]["messages"])

    async def fill(self, conversation: str, count: int) -> None:
        """One checkpoint of all messages."""
        await self._put(conversation, langchain_messages([plain(number) for number in range(count)]))
        self._known = {conversation: await self._get(conversation)}

    async def save(self, conversation: str, number: int) -> None:
        """A checkpoint behind the question and one behind the answer, as a graph of one node makes them."""
        messages = self._known.setdefault(conversation, await self._get(conversation))
        for message in (question(number), answer(number)):
            messages.extend(langchain_messages([message]))
            await self._put(conversation, messages)

    async def load(self, conversation: str) -> int:
        """All there are: it has no other way."""
        return len((await self._get(conversation))[-LAST:])

    async def turn(self, conversation: str, number: int) -> None:
        """Load, keep, keep."""
        messages = await self._get(conversation)
        for message in (question(number), answer(number)):
            messages.extend(langchain_messages([message]))
            await self._put(conversation, messages)
