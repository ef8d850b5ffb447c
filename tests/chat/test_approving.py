"""A tool that needs an approval waits for it, for days and over restarts, and runs once at most."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Final

import pytest
from msgspec import structs

from rejoinder import ModelAgent, Principal, Tool, tool
from rejoinder.chat.backend import Backend, TurnSettings
from rejoinder.chat.choices import chosen_history
from rejoinder.chat.wishes import Wish
from rejoinder.convert.refusals import (
    ApprovalDecided,
    CallNotOpen,
    InvalidApproval,
    NoSuchApproval,
    NothingToContinue,
    Refused,
    ToolNotClient,
    UnacceptableMessage,
)
from rejoinder.convert.ui import to_ui
from rejoinder.messages import Json, JsonObject, Message, ToolCall, Turn
from rejoinder.messages.provider_message import ProviderToolResultPart
from rejoinder.ports.store import ConversationStore
from rejoinder.testing.scripted_model import Calls, ScriptedModel
from rejoinder.wire.requests import chat_request
from tests.chat.conftest import Opened

ADA: Final = Principal(tenant="acme", subject="ada")
SECRET: Final = "a-secret-for-tests-only"


class Desk:
    """A chat that can pay, and whose model asks for it."""

    def __init__(self, store: ConversationStore, *, secrets: tuple[str, ...] = (SECRET,)) -> None:
        self.store = store
        self.paid: list[int] = []
        self.model = ScriptedModel(self._say)
        self.secrets = secrets

    def running(self) -> AbstractAsyncContextManager[None]:
        """A process that serves it. A second one is a restart."""

        @tool(needs_approval=lambda given: given["amount"] > 10)
        async def pay(amount: int) -> str:
            self.paid.append(amount)
            return f"paid {amount}"

        agent = ModelAgent(
            self.model, tools=[pay, Tool(name="locate")], approval_secrets=self.secrets, name="desk"
        )
        store: Json = _Open(self.store)
        self.backend = Backend(
            agent, store=store, history=chosen_history(), settings=TurnSettings(drain_seconds=5)
        )
        return self.backend.running()

    async def ask(self, text: str = "Pay 50.", *, who: Principal = ADA, chat: str = "chat") -> Turn:
        message = {
            "id": "q-" + "".join(filter(str.isalnum, text)),
            "role": "user",
            "parts": [{"type": "text", "text": text}],
        }
        return await self.post(message, who=who, chat=chat)

    async def post(self, message: JsonObject, *, who: Principal = ADA, chat: str = "chat") -> Turn:
        request = chat_request({"id": chat, "message": message, "trigger": "submit-message"})
        turn = await self.backend.answer(Wish(principal=who, conversation_id=chat, request=request))
        ended = asyncio.Event()
        async with self.backend.reading(turn, tenant=who.tenant) as tail:
            with tail.watching(ended.set):
                while not tail.ended:
                    await ended.wait()
                    ended.clear()
        found = await self.store.get_turn(turn.id, tenant=who.tenant)
        assert found is not None
        return found

    async def answer(self) -> Message:
        """The newest answer."""
        stored = await self.store.list_messages("chat", limit=1, tenant=ADA.tenant)
        return stored[0].message

    async def call(self) -> ToolCall:
        (call,) = [part for part in (await self.answer()).parts if isinstance(part, ToolCall)]
        return call

    async def decision(self, *, approved: bool, **changes: Json) -> JsonObject:
        """The answer as a client sends it back."""
        body = to_ui(await self.answer())
        for part in body["parts"]:
            if part.get("state") == "approval-requested":
                part["state"] = "approval-responded"
                part["approval"] = {**part["approval"], "approved": approved, **changes}
        return body

    def _say(self, params: Json) -> Calls | str:
        last = params.messages[-1]
        for part in last.content:
            if isinstance(part, ProviderToolResultPart):
                return f"Result: {part.result}"
        amount = int("".join(filter(str.isdigit, last.text)) or "0")
        return Calls("pay", {"amount": amount}) if amount else Calls("locate", {})


class _Open:
    """A store that somebody else opens and closes."""

    def __init__(self, store: ConversationStore) -> None:
        self._store = store

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def __getattr__(self, name: str) -> Json:
        return getattr(self._store, name)


def walking(stores: Opened, walk: Json) -> None:
    """Go through it with a store of each kind."""
    asyncio.run(stores(walk))


@pytest.mark.parametrize("approved", [True, False])
def test_an_answer_after_a_restart_is_acted_upon(stores: Opened, approved: bool) -> None:  # noqa: FBT001  # a case
    async def walk(store: ConversationStore) -> None:
        desk = Desk(store)
        async with desk.running():
            assert (await desk.ask()).status == "waiting"
        asked = await desk.call()
        assert asked.state == "approval-requested"
        assert asked.approval is not None
        assert asked.approval.signature
        assert desk.paid == []
        async with desk.running():
            turn = await desk.post(await desk.decision(approved=approved, reason="I say so"))
            assert turn.status == "succeeded"
            assert turn.message_id == (await desk.answer()).id
            call = await desk.call()
            told = desk.model.asked[-1].messages[-1].content[0]
            assert isinstance(told, ProviderToolResultPart)
            if approved:
                assert (call.state, call.output) == ("output-available", "paid 50")
                assert desk.paid == [50]
            else:
                assert call.state == "output-denied"
                assert desk.paid == []
                assert (told.is_error, told.result) == (True, "I say so")
            assert to_ui(await desk.answer())["parts"][-1]["text"] == f"Result: {told.result}"
            # And the conversation goes on.
            assert (await desk.ask("Pay 5.")).status == "succeeded"
            assert desk.paid[-1] == 5

    walking(stores, walk)


def test_the_same_answer_twice_is_one_answer_and_another_one_is_refused(stores: Opened) -> None:
    async def walk(store: ConversationStore) -> None:
        desk = Desk(store)
        async with desk.running():
            await desk.ask()
            yes, no = await desk.decision(approved=True), await desk.decision(approved=False)
            first, second = await asyncio.gather(desk.post(yes), desk.post(yes))
            assert first.id == second.id == (await desk.post(yes)).id
            with pytest.raises((ApprovalDecided, CallNotOpen)):
                await desk.post(no)
            assert desk.paid == [50]

    walking(stores, walk)


def test_nobody_else_answers(stores: Opened) -> None:
    async def walk(store: ConversationStore) -> None:
        desk = Desk(store)
        async with desk.running():
            await desk.ask()
            yes = await desk.decision(approved=True)
            for who, error in (
                (structs.replace(ADA, tenant="evil"), UnacceptableMessage),
                (structs.replace(ADA, subject="bob"), NoSuchApproval),
                (structs.replace(ADA, subject=None), NoSuchApproval),
            ):
                with pytest.raises(error):
                    await desk.post(yes, who=who)
            with pytest.raises(Refused):
                await desk.post(yes, chat="another")
            assert desk.paid == []
            assert (await desk.post(yes)).status == "succeeded"
            assert desk.paid == [50]

    walking(stores, walk)


def test_an_answer_to_something_else_is_refused_and_the_question_stays_open(stores: Opened) -> None:
    async def walk(store: ConversationStore) -> None:
        desk = Desk(store)
        async with desk.running():
            await desk.ask()
            cheaper = await desk.decision(approved=True)
            cheaper["parts"][-1]["input"] = {"amount": 5000}
            output = to_ui(await desk.answer())
            output["parts"][-1] = {
                **output["parts"][-1],
                "state": "output-available",
                "output": "paid, honestly",
            }
            del output["parts"][-1]["approval"]
            for body, error in (
                (cheaper, InvalidApproval),
                (await desk.decision(approved=True, id="another"), InvalidApproval),
                (await desk.decision(approved=True, signature="forged"), InvalidApproval),
                (output, ToolNotClient),
                (to_ui(await desk.answer()), NothingToContinue),
            ):
                with pytest.raises(error):
                    await desk.post(body)
            assert desk.paid == []
            assert (await desk.post(await desk.decision(approved=True))).status == "succeeded"

    walking(stores, walk)


def test_a_client_that_drops_the_signature_may_answer(stores: Opened) -> None:
    async def walk(store: ConversationStore) -> None:
        desk = Desk(store)
        async with desk.running():
            await desk.ask()
            body = await desk.decision(approved=True)
            del body["parts"][-1]["approval"]["signature"]
            assert (await desk.post(body)).status == "succeeded"
            assert desk.paid == [50]

    walking(stores, walk)


def test_a_user_who_says_something_else_instead_has_not_approved(stores: Opened) -> None:
    async def walk(store: ConversationStore) -> None:
        desk = Desk(store)
        async with desk.running():
            await desk.ask()
            late = await desk.decision(approved=True)
            assert (await desk.ask("Where am I?")).status == "waiting"
            with pytest.raises(CallNotOpen):
                await desk.post(late)
            assert desk.paid == []
            told = desk.model.asked[-1].messages
            results = [part for message in told for part in message.content if _is_result(part)]
            assert len(results) == 1, "the model is told that the call came to nothing"

    walking(stores, walk)


def test_a_stored_approval_that_was_not_signed_here_runs_nothing(stores: Opened) -> None:
    async def walk(store: ConversationStore) -> None:
        desk = Desk(store, secrets=("another-secret",))
        async with desk.running():
            await desk.ask()
        desk.secrets = (SECRET,)
        async with desk.running():
            assert (await desk.post(await desk.decision(approved=True))).status == "succeeded"
            call = await desk.call()
            assert (call.state, desk.paid) == ("output-error", [])
        desk.secrets = (SECRET, "another-secret")
        async with desk.running():
            await desk.ask("Pay 60.")
        desk.secrets = ("the-newest", SECRET)
        async with desk.running():
            await desk.post(await desk.decision(approved=True))
            assert desk.paid == [60], "secrets can be changed while questions are open"

    walking(stores, walk)


def test_a_tool_of_the_client_is_answered_by_the_client_and_the_message_goes_on(stores: Opened) -> None:
    async def walk(store: ConversationStore) -> None:
        desk = Desk(store)
        async with desk.running():
            assert (await desk.ask("Where am I?")).status == "waiting"
            before = await desk.answer()
            body = to_ui(before)
            body["parts"][-1] |= {"state": "output-available", "output": {"city": "Ulm"}}
            turn = await desk.post(body)
            assert turn.status == "succeeded"
            message = await desk.answer()
            assert message.id == before.id
            assert to_ui(message)["parts"][-1]["text"] == "Result: {'city': 'Ulm'}"

    walking(stores, walk)


def _is_result(part: object) -> bool:
    return isinstance(part, ProviderToolResultPart)
