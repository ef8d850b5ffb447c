"""Requests made up from our own OpenAPI document: never an error of ours, and answers are of the types it names."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import (
    not_a_server_error,  # pyright: ignore[reportUnknownVariableType]  # its own generics lack their arguments
)
from schemathesis.specs.openapi.checks import (
    content_type_conformance,  # pyright: ignore[reportUnknownVariableType]  # the same
    status_code_conformance,  # pyright: ignore[reportUnknownVariableType]  # the same
)

from rejoinder import Chat
from rejoinder.messages import Json
from tests.attacks.world import ANN, World
from tests.scale import scale
from tests.server.agents import AGENT

DOORS = Chat(AGENT, store="memory").doors
CASES = [
    (f"{door.method} {door.path}", mode)
    for door in DOORS
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    # Without anything to get wrong, nothing can be got wrong.
    if mode is GenerationMode.POSITIVE or "{" in door.path or door.body is not None or door.parameters
]
SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
EXAMPLES = scale(15, 1000)


@pytest.mark.parametrize(("operation", "mode"), CASES)
def test_made_up_requests_meet_no_error_of_ours(
    operation: str, mode: GenerationMode, besieged: World
) -> None:
    address = str(besieged.http.base_url).rstrip("/")
    schema: Json = schemathesis.openapi.from_url(f"{address}/openapi.json")
    method, path = operation.split()
    found = next(each for each in schema if each.endswith(path))
    strategy: Json = schema[found][method].as_strategy(generation_mode=mode)

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=SLOW_IS_FINE)
    @given(case=strategy)
    def ask(case: Json) -> None:
        answer = case.call(headers=ANN)
        case.validate_response(
            answer, checks=[not_a_server_error, content_type_conformance, status_code_conformance]
        )

    ask()
