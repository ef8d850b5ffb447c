"""A chat shows its model the newest turns by default, and the inspector is told what was shown, and what it cost."""

from __future__ import annotations

from starlette.testclient import TestClient

from rejoinder import Chat, ModelAgent
from rejoinder.chat.choices import DEFAULT_BUDGET, chosen_history
from rejoinder.core import BudgetedHistoryBuilder, HistoryBudget
from rejoinder.messages import Json, JsonObject
from tests.core.stage import PARAMS, Whole, said

TURNS = 3


def ask(client: TestClient, number: int) -> None:
    message = {"id": f"m{number}", "role": "user", "parts": [{"type": "text", "text": f"question {number}"}]}
    answer = client.post("/api/chat", json={"id": "c", "messages": [message], "trigger": "submit-message"})
    assert answer.status_code == 200
    assert "[DONE]" in answer.text


def walked(chat: Chat) -> list[JsonObject]:
    """The records of a few turns, oldest first."""
    with TestClient(chat.app) as client:
        for number in range(TURNS):
            ask(client, number)
        turns: list[Json] = client.get("/api/chat/c/turns").json()["turns"]
        return [client.get(f"/api/chat/c/turns/{turn['id']}").json()["turn"] for turn in turns]


def model() -> Whole:
    return Whole(*(said(f"answer {number}", id=f"call-{number}") for number in range(TURNS)))


def test_what_a_model_was_shown_is_in_the_record_of_its_turn() -> None:
    asked = model()
    turns = walked(Chat(ModelAgent(asked, params=PARAMS), store="memory"))
    shown = turns[-1]["metadata"]["history"]
    assert [each["role"] for each in shown["sent"]] == ["user", "assistant", "user", "assistant", "user"]
    assert (shown["messages"], shown["turns"], shown["truncated"]) == (5, 2, False)
    assert shown["explanation"] == "everything is shown"
    assert shown["budget"]["maxTurns"] == DEFAULT_BUDGET.max_turns
    assert shown["inputTokens"] == 10
    assert len(asked.asked[-1].messages) == 5


def test_what_was_dropped_is_there_with_its_reason() -> None:
    history = BudgetedHistoryBuilder(HistoryBudget(max_turns=1))
    turns = walked(Chat(ModelAgent(model(), params=PARAMS), store="memory", history=history))
    shown = turns[-1]["metadata"]["history"]
    assert shown["truncated"] is True
    (drop,) = shown["dropped"]
    assert drop == {
        "reason": "turns",
        "messages": 2,
        "turns": 1,
        "tokens": drop["tokens"],
        "fromSeq": 0,
        "throughSeq": 1,
    }
    assert drop["tokens"] > 0
    assert shown["explanation"] == "2 messages left out: the budget of turns is used up"


def test_a_chat_knows_what_its_turns_cost_where_the_price_list_is_installed() -> None:
    turns = walked(Chat(ModelAgent(model(), params=PARAMS), store="memory"))
    assert [turn["cost"]["amount"] for turn in turns] == ["0.0000105"] * TURNS


def test_the_default_is_the_builder_of_the_conversation_core() -> None:
    assert isinstance(chosen_history(), BudgetedHistoryBuilder)
