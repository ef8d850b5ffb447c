"""Turns that the engine was given results for are checked from the first turn of their message on."""

from __future__ import annotations

from rejoinder.core import ProviderToolCall, TurnInput
from rejoinder.offline.checking import check_all
from tests.core.stage import PARAMS, Whole, engine, result, said, user
from tests.engine.stage import asynchronous


@asynchronous
async def test_a_message_that_the_engine_went_on_with_is_what_all_its_turns_said() -> None:
    on = await engine()
    wanted = ProviderToolCall(id="k", name="look", arguments={"n": 21})
    provider = Whole(said("Let me see.", wanted), said("It is 42.", id="call-2"))
    for message in (user("m1", "Look"), result("m2", "look", 42, "k")):
        await on.run_turn(
            TurnInput(conversation_id="c", user_messages=[message], provider=provider, provider_params=PARAMS)
        )
    checks = [check async for check in check_all(on.store, tenants=["default"], translators={})]
    assert [str(check) for check in checks if check.differences] == []
    assert min(check.left_out or "" for check in checks) == "another turn went on with its message"
