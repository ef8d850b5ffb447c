"""The door for WebSockets, frame by frame. What the real client makes of it, the tests of clients say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from rejoinder import Chat, Principal
from rejoinder.server.limits import Limits
from rejoinder.server.principals import api_keys
from tests.engine.stage import asynchronous
from tests.server.agents import AGENT
from tests.server.serving import chatting

Frame = dict[str, Any]

KEYS = {"of-ada": Principal(tenant="ada"), "of-bob": Principal(tenant="bob")}
ADA = {"x-api-key": "of-ada"}


@pytest.fixture(scope="module")
def api() -> Iterator[str]:
    chat = Chat(
        AGENT,
        store="memory",
        authenticate=api_keys(KEYS),
        body_bytes_max=20_000,
        heartbeat_seconds=0.1,
        limits=Limits(streams=3),
    )
    with chatting(chat) as address:
        yield address


def socket(api: str, headers: dict[str, str] | None = None) -> connect:
    address = api.replace("http", "ws", 1) + "/chat/ws"
    return connect(address, additional_headers=ADA if headers is None else headers, max_size=None)


def sending(text: str, *, chat: str, request: str = "r1", **more: Any) -> str:
    parts = [{"type": "text", "text": text}]
    message = {"id": f"m of {text}".replace(" ", "-"), "role": "user", "parts": parts}
    frame = {"type": "send", "requestId": request, "id": chat, "trigger": "submit-message"}
    return json.dumps({**frame, "messages": [message], "headers": {}, "body": {}, **more})


async def asked(address: str, method: str = "GET") -> Frame:
    async with httpx.AsyncClient(headers=ADA) as client:
        answer: Frame = (await client.request(method, address)).raise_for_status().json()
        return answer


async def heard(line: ClientConnection, request: str = "r1") -> list[Frame]:
    """The frames of one request, to its last."""
    frames: list[Frame] = []
    while not frames or frames[-1]["type"] in {"start", "chunk"}:
        frame = json.loads(await line.recv())
        if frame["requestId"] == request:
            frames.append(frame)
    return frames


@asynchronous
async def test_frames_are_numbered_from_nought_and_a_tail_goes_on_with_them(api: str) -> None:
    async with socket(api) as line:
        await line.send(sending("hello there", chat="numbers"))
        frames = await heard(line)
        assert [frame["type"] for frame in (frames[0], frames[-1])] == ["start", "end"]
        assert [frame["sequence"] for frame in frames[1:-1]] == [*range(len(frames) - 2)]
        turn = (await asked(f"{api}/chat/numbers/turns"))["turns"][0]["id"]
        resume: Frame = {
            "type": "resume",
            "requestId": "r2",
            "id": "numbers",
            "headers": {},
            "lastSequence": 3,
        }
        await line.send(json.dumps({**resume, "body": {"turn": turn}}))
        assert [{**frame, "requestId": "r1"} for frame in (await heard(line, "r2"))[1:-1]] == frames[5:-1]
        await line.send(json.dumps({**resume, "requestId": "r3", "body": {}}))
        assert [frame["type"] for frame in await heard(line, "r3")] == ["no-active"]


@asynchronous
async def test_many_answers_share_a_line_and_one_that_fails_harms_no_other(api: str) -> None:
    async with socket(api) as line:
        await line.send(sending("slow 20", chat="many", request="r1"))
        await line.send(sending("again", chat="many", request="r2"))
        await line.send(sending("hello", chat="other", request="r3"))
        failed = await heard(line, "r2")
        assert failed[-1] == {
            "type": "error",
            "requestId": "r2",
            "errorText": "An answer is being made in this conversation.",
        }
        resumed: Frame = {"type": "resume", "requestId": "r4", "id": "many", "headers": {}, "body": {}}
        await line.send(json.dumps(resumed))
        assert (await heard(line, "r4"))[-1]["type"] == "end"


@asynchronous
async def test_a_frame_speaks_the_dialect_that_it_names(api: str) -> None:
    async with socket(api) as line:
        await line.send(sending("approval please", chat="old", headers={"x-rejoinder-dialect": "ai-sdk/5"}))
        said = json.dumps(await heard(line))
    assert "tool-approval-request" not in said


@asynchronous
async def test_a_silent_line_says_something_that_clients_pass_over(api: str) -> None:
    async with socket(api) as line:
        assert json.loads(await line.recv()) == {"type": "start", "requestId": "keep-alive"}


@asynchronous
async def test_a_line_that_closes_stops_nothing(api: str) -> None:
    async with socket(api) as line:
        await line.send(sending("wait", chat="left"))
        while "Waiting" not in str(await line.recv()):
            pass
    assert (await asked(f"{api}/chat/left"))["live"] is not None
    assert (await asked(f"{api}/chat/left/stop", "POST"))["stopping"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"x-api-key": "of-nobody"}, 401),
        ({**ADA, "origin": "https://elsewhere.example"}, 403),
        ({**ADA, "sec-fetch-site": "cross-site"}, 403),
        ({**ADA, "authorization": "Bearer of-bob"}, 400),
    ],
)
@asynchronous
async def test_a_stranger_gets_no_line(api: str, headers: dict[str, str], status: int) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with socket(api, headers):
            pass
    assert refused.value.response.status_code == status
    assert refused.value.response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("nonsense", 1008),
        ('{"type":"send"}', 1008),
        ('{"type":"unknown","requestId":"r1"}', 1008),
        ('{"type":"abort","requestId":"\\u0000"}', 1008),
        ('{"type":"abort","requestId":"a","requestId":"b"}', 1008),
        (b"\x00", 1002),
        ('{"type":"abort","requestId":"' + "x" * 30_000 + '"}', 1009),
    ],
)
@asynchronous
async def test_a_line_on_which_nonsense_comes_is_closed_with_the_reason(
    api: str, frame: str | bytes, code: int
) -> None:
    async with socket(api) as line:
        await line.send(frame)
        with pytest.raises(ConnectionClosed) as closed:
            await heard(line, "nobody's")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == code


REFUSED: list[tuple[Frame, str]] = [
    ({"headers": {"x-rejoinder-dialect": "ai-sdk/4"}}, "No such dialect."),
    ({"headers": {"idempotency-key": "\u00e4"}}, "The request is not what a chat client sends."),
    ({"messages": []}, "The request is not what a chat client sends."),
    ({"messages": [{"id": "a", "role": "assistant", "parts": []}]}, "The message is not one"),
]


@pytest.mark.parametrize(("changes", "told"), REFUSED)
@asynchronous
async def test_a_request_that_is_refused_says_why_in_words_that_a_user_may_read(
    api: str, changes: Frame, told: str
) -> None:
    async with socket(api) as line:
        await line.send(sending("hello", chat="refused", **changes))
        assert (await heard(line))[-1]["errorText"].startswith(told)


@asynchronous
async def test_what_is_another_tenants_is_not_there(api: str) -> None:
    async with socket(api) as line:
        await line.send(sending("hello", chat="adas"))
        await heard(line)
    async with socket(api, {"x-api-key": "of-bob"}) as line:
        for chat in ("adas", "nobodys"):
            frame: Frame = {"type": "resume", "requestId": chat, "id": chat, "headers": {}, "body": {}}
            await line.send(json.dumps(frame))
            (told,) = await heard(line, chat)
            assert told["errorText"] == "There is no such thing here."


@asynchronous
async def test_one_answer_too_many_is_not_begun(api: str) -> None:
    async with socket(api) as line:
        for number in range(3):
            await line.send(sending("wait", chat=f"counted-{number}", request=f"r{number}"))
            while "Waiting" not in str(await line.recv()):
                pass
        await line.send(sending("wait", chat="uncounted", request="r3"))
        assert "open streams" in (await heard(line, "r3"))[-1]["errorText"]
        for number in range(3):
            await line.send(json.dumps({"type": "abort", "requestId": f"r{number}"}))
            await heard(line, f"r{number}")
    with pytest.raises(httpx.HTTPStatusError):
        await asked(f"{api}/chat/uncounted")
