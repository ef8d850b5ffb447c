"""Tables of one's own beside ours, in one database: which customers talk how much.

python own_tables.py      # in the embedded PostgreSQL, or in that of DATABASE_URL
"""

import os

from sqlalchemy import Column, Engine, MetaData, Table, Text, create_engine, func, select
from sqlalchemy.dialects.postgresql import insert
from starlette.testclient import TestClient

from rejoinder import Chat
from rejoinder.stores.postgres.embedded import start
from rejoinder.stores.postgres.schema import tables
from rejoinder.testing.scripted_model import ScriptedModel

ours = tables()
customer = Table("customer", MetaData(), Column("subject", Text, primary_key=True), Column("plan", Text))
QUESTION = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "How much is it?"}]}


def by_plan(engine: Engine) -> list[tuple[str, int, int]]:
    """Conversations and messages per plan: a join of your table with two of ours."""
    conversation, message = ours.conversation.c, ours.message.c
    query = (
        select(customer.c.plan, func.count(conversation.key.distinct()), func.count())
        .join(ours.conversation, conversation.tenant == customer.c.subject)
        .join(ours.message, message.conversation == conversation.key)
        .group_by(customer.c.plan)
        .order_by(customer.c.plan)
    )
    with engine.connect() as connection:
        return [(plan, chats, said) for plan, chats, said in connection.execute(query)]


def main() -> None:
    """Answer one question, and ask the database."""
    url = os.environ.get("DATABASE_URL") or start().url
    with TestClient(Chat(ScriptedModel("Nothing."), store=url).app) as client:
        client.post("/api/chat", json={"id": "own-tables", "message": QUESTION}).raise_for_status()
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:", 1))
    customer.metadata.create_all(engine)
    with engine.begin() as connection:
        row = {"subject": "default", "plan": "free"}
        connection.execute(insert(customer).values(row).on_conflict_do_nothing())
    for plan, conversations, messages in by_plan(engine):
        print(f"plan {plan}: {conversations=}, {messages=}")
    engine.dispose()


if __name__ == "__main__":
    main()
