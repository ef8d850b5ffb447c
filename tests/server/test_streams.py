"""Streams of events, under each of the servers: from any place on, to an end that is one, or to a line that breaks."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from rejoinder import Chat
from tests.server.agents import AGENT
from tests.server.impatient import CHAT
from tests.server.serving import chatting, started

FLOOD = {"granian": 2_500, "uvicorn": 7_500}
"""Thousands of characters: more than all the buffers between a server and its reader hold. Ours limits the kernel's."""


@pytest.fixture(scope="module", params=["granian", "uvicorn"])
def api(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "granian":
        chat = "tests.server.impatient:CHAT"
        with started("serve", "--agent", chat, "--port", "0", folder=Path.cwd()) as address:
            yield f"{address}/api"
    else:
        settings: dict[str, Any] = {"heartbeat_seconds": 0.1, "stalled_seconds_max": 1.0}
        with chatting(Chat(CHAT.backend.agent, store="memory", **settings)) as address:
            yield address


@pytest.fixture
def chat(request: pytest.FixtureRequest) -> str:
    return re.sub(r"\W", "-", request.node.name)


def body_of(chat: str, text: str) -> dict[str, Any]:
    parts = [{"type": "text", "text": text}]
    return {"id": chat, "messages": [{"id": f"m-{len(text)}-{text[:3]}", "role": "user", "parts": parts}]}


def asked(api: str, chat: str, text: str) -> httpx.Response:
    return httpx.post(f"{api}/chat", json=body_of(chat, text), timeout=30).raise_for_status()


def events(said: str) -> list[str]:
    """The events of a stream that has come to its end."""
    pieces = said.split("\n\n")
    assert pieces[-2:] == ["data: [DONE]", ""]
    return [piece for piece in pieces[:-2] if not piece.startswith(":")]


def test_a_stream_has_the_heads_that_clients_and_proxies_look_for(api: str, chat: str) -> None:
    heads = asked(api, chat, "one two").headers
    assert heads["content-type"] == "text/event-stream; charset=utf-8"
    assert heads["cache-control"] == "no-cache, no-transform"
    assert heads["x-accel-buffering"] == "no"
    assert heads["x-vercel-ai-ui-message-stream"] == "v1"
    assert heads["x-durability"] == "D0"
    assert heads["x-workflow-run-id"] == heads["x-rejoinder-turn"]


def test_an_answer_that_is_over_is_read_again_from_any_place(api: str, chat: str) -> None:
    whole = asked(api, chat, "one two three")
    turn, all_of_it = whole.headers["x-rejoinder-turn"], events(whole.text)
    stream = f"{api}/chat/{chat}/stream"
    assert httpx.get(stream).status_code == 204
    assert events(httpx.get(stream, params={"turn": turn}).text) == all_of_it
    for place in (1, 3, len(all_of_it)):
        answer = httpx.get(stream, params={"turn": turn, "startIndex": place})
        assert events(answer.text) == all_of_it[place:]
    answer = httpx.get(stream, params={"turn": turn, "startIndex": -2})
    assert events(answer.text) == all_of_it[-2:]
    assert answer.headers["x-workflow-stream-tail-index"] == str(len(all_of_it) - 1)
    last = re.search(r"^id: (.+)$", all_of_it[1], re.MULTILINE)
    assert last is not None
    answer = httpx.get(stream, headers={"last-event-id": last[1]})
    assert events(answer.text) == all_of_it[2:]
    # As WorkflowChatTransport asks: with the run in the place of the conversation.
    answer = httpx.get(f"{api}/chat/{turn}/stream", params={"startIndex": 2})
    assert events(answer.text) == all_of_it[2:]


def test_a_place_that_is_not_there_yet_is_refused(api: str, chat: str) -> None:
    turn = asked(api, chat, "one").headers["x-rejoinder-turn"]
    answer = httpx.get(f"{api}/chat/{chat}/stream", params={"turn": turn, "startIndex": 1000})
    assert (answer.status_code, answer.json()["type"]) == (409, "urn:rejoinder:problem:cursor-ahead")


def test_a_silent_answer_says_that_it_is_there_and_a_live_one_is_found_again(api: str, chat: str) -> None:
    with httpx.stream("POST", f"{api}/chat", json=body_of(chat, "wait")) as stream:
        said = ""
        for piece in stream.iter_text():
            said += piece
            if ": keep-alive" in said:
                break
    # The reader has left, and the answer goes on.
    live = httpx.get(f"{api}/chat/{chat}").json()["live"]
    assert live is not None
    with httpx.stream("GET", f"{api}/chat/{chat}/stream") as again:
        assert again.headers["x-rejoinder-turn"] == live["turnId"]
        heard = ""
        for piece in again.iter_text():
            heard += piece
            if "Waiting" in heard and "stop" not in heard:
                httpx.post(f"{api}/chat/{chat}/stop").raise_for_status()
                heard += "stop"
    assert heard.endswith("data: [DONE]\n\n")
    assert httpx.get(f"{api}/chat/{chat}").json()["live"] is None


def test_the_same_request_again_gets_the_same_answer_and_no_second_one(api: str, chat: str) -> None:
    first = asked(api, chat, "one two")
    again = asked(api, chat, "one two")
    assert again.text == first.text
    assert len(httpx.get(f"{api}/chat/{chat}/turns").json()["turns"]) == 1


def test_a_reader_who_takes_nothing_is_cut_off_visibly_and_holds_nobody_up(api: str, chat: str) -> None:
    flood = FLOOD["granian" if "granian" in chat else "uvicorn"]
    idle = opened(api, body_of(chat, f"flood {flood}"))
    other = asked(api, f"{chat}-other", f"flood {flood}")
    assert other.text.endswith("data: [DONE]\n\n")
    stored = httpx.get(f"{api}/chat/{chat}", timeout=30).json()
    assert len(stored["messages"][-1]["parts"][-1]["text"]) == flood * 1000
    # He wakes after he has been cut off: what comes does not look like an end.
    asked(api, f"{chat}-later", "hello")
    said = drained(idle, after_seconds=1.5)
    assert b"[DONE]" not in said
    assert not said.endswith(b"0\r\n\r\n")
    assert len(said) < flood * 800


def opened(api: str, body: dict[str, Any]) -> socket.socket:
    """A connection on which a request was sent, and nothing is read."""
    address = urlsplit(api)
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    line.connect((address.hostname, address.port))
    text = json.dumps(body).encode()
    head = f"POST {address.path}/chat HTTP/1.1\r\nhost: {address.netloc}\r\n"
    head += f"content-type: application/json\r\ncontent-length: {len(text)}\r\n\r\n"
    line.sendall(head.encode() + text)
    return line


def drained(line: socket.socket, *, after_seconds: float) -> bytes:
    """Everything that is still in the buffers of a connection, to its end, once a time has passed."""
    with line:
        line.settimeout(20)
        said = b""
        threading.Event().wait(after_seconds)
        try:
            while piece := line.recv(1 << 20):
                said += piece
        except ConnectionResetError:
            pass
        return said


def test_an_error_of_the_agent_is_told_as_one_and_ends_the_stream() -> None:
    with chatting(Chat(AGENT, store="memory")) as api:
        said = asked(api, "fails", "fail please").text
    assert '"type":"error"' in said
    assert said.endswith("data: [DONE]\n\n")
    assert "canary" not in said
