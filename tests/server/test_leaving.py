"""A server that is told to end: answers come to an end that is one, readers hear of it, and nobody holds it up."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.server.serving import started


def body_of(chat: str, text: str) -> dict[str, Any]:
    message = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": text}]}
    return {"id": chat, "messages": [message]}


def test_open_answers_are_sealed_and_told_when_a_server_ends() -> None:
    said: dict[str, str] = {}
    reading = threading.Event()

    def ask() -> None:
        with httpx.stream("POST", f"{address}/api/chat", json=body_of("open", "wait"), timeout=30) as answer:
            said["http"] = ""
            for piece in answer.iter_text():
                said["http"] += piece
                if "Waiting" in piece:
                    reading.set()

    async def hold() -> None:
        async with connect(address.replace("http", "ws") + "/api/chat/ws") as line:
            frame = body_of("line", "wait")
            frame |= {"type": "send", "requestId": "r1", "trigger": "submit-message"}
            await line.send(json.dumps({**frame, "headers": {}, "body": {}}))
            try:
                while True:
                    said["socket"] = str(await line.recv())
                    if "Waiting" in said["socket"]:
                        holding.set()
            except ConnectionClosed as closed:
                said["code"] = str(closed.rcvd.code if closed.rcvd else None)

    holding = threading.Event()
    with started(
        "serve", "--agent", "tests.server.patient:CHAT", "--port", "0", folder=Path.cwd()
    ) as address:
        threads = [threading.Thread(target=ask), threading.Thread(target=lambda: asyncio.run(hold()))]
        for thread in threads:
            thread.start()
        assert reading.wait(10)
        assert holding.wait(10)
    for thread in threads:
        thread.join(10)
    assert '"finishReason":"interrupted"' in said["http"]
    assert said["http"].endswith("data: [DONE]\n\n")
    # Servers close WebSockets at once. That is no end of an answer, and clients come back for the rest of it.
    assert '"type":"end"' not in said["socket"]
    assert said["code"] in {"None", "1012"}
