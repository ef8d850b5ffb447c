"""An agent of Pydantic AI with a tool that asks before it runs.

MODEL=openai:gpt-5-mini rejoinder serve --agent pydantic_agent:agent      # without MODEL, Pydantic AI's test model
"""

import os

from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.models.test import TestModel

from rejoinder.agents.pydantic_ai import PydanticAI

assistant = Agent(
    os.environ.get("MODEL") or TestModel(),
    output_type=[str, DeferredToolRequests],
    instructions="You look after a shelf of books.",
)


@assistant.tool_plain
def books() -> list[str]:
    """What stands on the shelf."""
    return ["Ulysses", "Emma"]


@assistant.tool_plain(requires_approval=True)
def give_away(title: str) -> str:
    """Give a book away. The user is asked first, in the browser."""
    return f"{title} is gone."


agent = PydanticAI(assistant)
