"""A tool part → the call, what was asked and answered about it, and its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rejoinder.convert.javascript import error_text
from rejoinder.convert.model_rules import Rules
from rejoinder.messages import ABSENT, Json, JsonObject
from rejoinder.wire.json import is_object

DENIED: Final = "Tool call execution denied."

OutputOf = Callable[[JsonObject, Json], JsonObject]
"""What the tool of that name returned in that part, as the model is told it."""


def carry(source: JsonObject, key: str, target: JsonObject, name: str | None = None) -> None:
    """Copy a field, null included, if it is there."""
    if key in source:
        target[name or key] = source[key]


def identity_of(part: JsonObject, kind: str) -> JsonObject:
    """Which call of which tool: what the call, and every answer to it, says."""
    identity: JsonObject = {"toolCallId": part["toolCallId"]} if "toolCallId" in part else {}
    if kind != "dynamic-tool":
        identity["toolName"] = kind[5:]
    elif "toolName" in part:
        identity["toolName"] = part["toolName"]
    return identity


def call_content(
    part: JsonObject, kind: str, identity: JsonObject, rules: Rules, output_of: OutputOf
) -> list[JsonObject]:
    """What the assistant's message says of a call: the call, the request for approval, the provider's result."""
    state = part.get("state")
    if state == "input-streaming":
        return []
    call: JsonObject = {"type": "tool-call", **identity}
    options = part.get("callProviderMetadata")
    if not rules.approvals and kind == "dynamic-tool":
        carry(part, "input", call)
        return [_with_options(call, options)]
    if state != "output-error" or part.get("input") is not None:
        carry(part, "input", call)
    else:
        carry(part, "rawInput", call, "input")
    if state == "output-error" and options is None and rules.approvals:
        options = part.get("resultProviderMetadata")
    executed = part.get("providerExecuted")
    if executed is not None or "providerExecuted" in part:
        call["providerExecuted"] = executed
    content = [_with_options(call, options)]
    approval = part.get("approval")
    if approval is not None and rules.approvals:
        content.append(_request(part, approval, rules))
    if executed is True and state in ("output-available", "output-error"):
        content.append(_provider_result(part, identity, rules, output_of))
    return content


def awaits_answer(part: JsonObject, kind: str, rules: Rules) -> bool:
    """Whether the tool message is where this call would be answered, and not the provider's own part."""
    if part.get("providerExecuted") is not True:
        return True
    if not rules.approvals:
        return kind == "dynamic-tool"
    return _approved(part) is not None


def call_answers(
    part: JsonObject, identity: JsonObject, rules: Rules, output_of: OutputOf
) -> list[JsonObject]:
    """What the tool message says of a call that awaits its answer there."""
    answers: list[JsonObject] = []
    state = part.get("state")
    approved = _approved(part) if rules.approvals else None
    if approved is not None:
        answers.append(_response(part, part["approval"]))
        if approved is False and state == "approval-responded" and rules.denials_answer:
            output: JsonObject = {"type": "execution-denied"}
            carry(part["approval"], "reason", output)
            answers.append(_result(part, identity, output))
    if rules.approvals and part.get("providerExecuted") is True:
        return answers
    match state:
        case "output-available":
            answers.append(_result(part, identity, output_of(part, identity.get("toolName"))))
        case "output-error":
            value = error_text(part.get("errorText", ABSENT))
            answers.append(_result(part, identity, {"type": "error-text", "value": value}))
        case "output-denied" if rules.approvals:
            approval = part.get("approval")
            reason = approval.get("reason") if is_object(approval) else None
            output = {"type": "error-text", "value": DENIED if reason is None else reason}
            answers.append(_result(part, identity, output))
        case _:
            pass  # There is no answer yet.
    return answers


def _with_options(said: JsonObject, metadata: Json) -> JsonObject:
    if metadata is not None:
        said["providerOptions"] = metadata
    return said


def _request(part: JsonObject, approval: Json, rules: Rules) -> JsonObject:
    request: JsonObject = {"type": "tool-approval-request"}
    carry(part, "toolCallId", request)
    if not is_object(approval):
        return request
    carry(approval, "id", request, "approvalId")
    if rules.denials_answer:
        carry(approval, "isAutomatic", request)
        if approval.get("requestReason") is not None:
            request["reason"] = approval["requestReason"]
    carry(approval, "inputSchemaInput", request)
    if approval.get("signature") is not None:
        request["signature"] = approval["signature"]
    return request


def _response(part: JsonObject, approval: JsonObject) -> JsonObject:
    response: JsonObject = {"type": "tool-approval-response", "approved": approval["approved"]}
    carry(approval, "id", response, "approvalId")
    carry(approval, "reason", response)
    carry(part, "providerExecuted", response)
    return response


def _provider_result(part: JsonObject, identity: JsonObject, rules: Rules, output_of: OutputOf) -> JsonObject:
    if part.get("state") == "output-error":
        output: JsonObject = {"type": "error-json", "value": part.get("errorText")}
    else:
        output = output_of(part, identity.get("toolName"))
    options = part.get("resultProviderMetadata") if rules.approvals else None
    result: JsonObject = {"type": "tool-result", **identity, "output": output}
    return _with_options(result, part.get("callProviderMetadata") if options is None else options)


def _result(part: JsonObject, identity: JsonObject, output: JsonObject) -> JsonObject:
    result: JsonObject = {"type": "tool-result", **identity, "output": output}
    return _with_options(result, part.get("callProviderMetadata"))


def _approved(part: JsonObject) -> Json:
    approval = part.get("approval")
    return approval.get("approved") if approval is not None and is_object(approval) else None
