"""Somebody who may not come in any more reads no further, and is not told that he has read everything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest
from starlette.requests import HTTPConnection
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError

from rejoinder import Chat, Principal
from rejoinder.ports.store import DEFAULT_TENANT
from rejoinder.server.principals import credentials
from tests.engine.stage import asynchronous
from tests.server.agents import AGENT
from tests.server.serving import chatting
from tests.server.test_sockets import sending

ADA = {"x-api-key": "of-ada"}


class Hook:
    """Knows a key, until it is taken away; and may break."""

    def __init__(self) -> None:
        self.tenants = {"of-ada": DEFAULT_TENANT}
        self.broken = self.asked = 0

    def __call__(self, connection: HTTPConnection) -> Principal | None:
        self.asked += 1
        if self.broken:
            self.broken -= 1
            raise OSError("the database of users is away")
        tenant = self.tenants.get("".join(credentials(connection)))
        return None if tenant is None else Principal(tenant=tenant)


@pytest.fixture
def hook() -> Hook:
    return Hook()


@pytest.fixture
def api(hook: Hook) -> Iterator[str]:
    chat = Chat(
        AGENT,
        store="memory",
        authenticate=hook,
        recheck_seconds=0.05,
        heartbeat_seconds=0.05,
        drain_seconds=0.1,
    )
    with chatting(chat) as address:
        yield address


def body(chat: str) -> dict[str, object]:
    message = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "wait"}]}
    return {"id": chat, "messages": [message]}


@pytest.mark.parametrize("tenant", [None, "another"])
def test_a_stream_of_somebody_unknown_breaks_off_and_his_answer_goes_on(
    tenant: str | None, hook: Hook, api: str
) -> None:
    heard = ""
    with httpx.stream("POST", f"{api}/chat", json=body("c"), headers=ADA) as stream:
        pieces = stream.iter_text()
        while "Waiting" not in heard:
            heard += next(pieces)
        hook.broken = 2
        while hook.broken:
            heard += next(pieces)
        if tenant is None:
            hook.tenants.clear()
        else:
            hook.tenants["of-ada"] = tenant
        with pytest.raises(httpx.RemoteProtocolError):
            heard += "".join(pieces)
    assert "[DONE]" not in heard
    refused = httpx.get(f"{api}/chat/c/stream", headers=ADA)
    assert refused.status_code == (401 if tenant is None else 404)
    hook.tenants["of-ada"] = DEFAULT_TENANT
    assert httpx.get(f"{api}/chat/c", headers=ADA).json()["live"] is not None
    assert httpx.post(f"{api}/chat/c/stop", headers=ADA).json()["stopping"] is True


@asynchronous
async def test_a_socket_of_somebody_unknown_is_closed(hook: Hook, api: str) -> None:
    said = ""
    async with connect(f"{api.replace('http', 'ws', 1)}/chat/ws", additional_headers=ADA) as line:
        await line.send(sending("wait", chat="s"))
        with suppress(ConnectionClosedError):
            while True:
                said += str(await line.recv())
                if "Waiting" in said:
                    hook.tenants.clear()
    assert line.close_code == 1008
    assert "Waiting" in said
    assert '"type":"end"' not in said


def test_nobody_is_asked_again_where_nobody_wants_it() -> None:
    hook = Hook()
    with chatting(Chat(AGENT, store="memory", authenticate=hook, recheck_seconds=None)) as api:
        said = httpx.post(f"{api}/chat", json=body("c") | {"messages": [_short()]}, headers=ADA).text
    assert said.endswith("data: [DONE]\n\n")
    assert hook.asked == 1


def _short() -> dict[str, object]:
    return {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "slow 20"}]}
