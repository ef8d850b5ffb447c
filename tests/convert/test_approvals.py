"""Signatures of questions to the user, as version 7 of the AI SDK makes them."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest
from msgspec import structs

from rejoinder.convert.approvals import approval_id, canonical, sign, verified
from rejoinder.messages import Approval, Json, ToolCall

SIGNATURE = "KhhdqErvPwq9PCD-YYlVKgPDJ_tby36fpqptjJpmYhE"
SECRET = "test-secret-key-for-hmac-signing"
CALL = ToolCall(
    name="deleteFile",
    call_id="call-1",
    state="approval-responded",
    input={"path": "/t" + "mp/cache"},
    approval=Approval(id="approval-1", approved=True, signature=SIGNATURE),
)


def with_signature(signature: str | None) -> ToolCall:
    assert CALL.approval is not None
    return structs.replace(CALL, approval=structs.replace(CALL.approval, signature=signature))


def test_the_signature_is_the_sdks() -> None:
    assert sign(CALL, "approval-1", SECRET) == SIGNATURE
    assert verified(CALL, SECRET)


def test_the_form_of_version_6_is_taken_too() -> None:
    digest = base64.urlsafe_b64encode(hashlib.sha256(canonical(CALL.input).encode()).digest()).rstrip(b"=")
    message = b"approval-1\ncall-1\ndeleteFile\n" + digest
    code = base64.urlsafe_b64encode(hmac.new(SECRET.encode(), message, hashlib.sha256).digest()).rstrip(b"=")
    assert verified(with_signature(code.decode()), SECRET)
    assert not verified(structs.replace(with_signature(code.decode()), name="delete\nFile"), SECRET)


@pytest.mark.parametrize(
    "call",
    [
        structs.replace(CALL, call_id="call-2"),
        structs.replace(CALL, name="readFile"),
        structs.replace(CALL, input={"path": "/etc"}),
        structs.replace(CALL, approval=Approval(id="approval-2", signature=SIGNATURE)),
        structs.replace(CALL, approval=None),
        with_signature(None),
        with_signature(""),
        with_signature("\ud800"),
    ],
)
def test_a_signature_is_for_one_call_with_one_input(call: ToolCall) -> None:
    assert not verified(call, SECRET)


def test_a_signature_is_for_one_secret() -> None:
    assert not verified(CALL, "another")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"b": 1, "a": [1.0, -0.0, 1e21, True, None]}, '{"a":[1,0,1e+21,true,null],"b":1}'),
        ({"\U0001f600": 1, "\ufb33": 2, "z": 3}, '{"z":3,"\U0001f600":1,"\ufb33":2}'),
        ({"10": 1, "9": 2, "a": 3}, '{"10":1,"9":2,"a":3}'),
        ("\u2028\ud800", '"\u2028\\ud800"'),
    ],
)
def test_there_is_one_way_to_write_a_value(value: Json, written: str) -> None:
    assert canonical(value) == written


def test_a_question_has_an_id_of_its_own_and_the_same_when_it_is_asked_again() -> None:
    assert approval_id("turn", "call") == approval_id("turn", "call")
    assert len({approval_id("turn", "call"), approval_id("tur", "ncall"), approval_id("turn", "call-2")}) == 3
