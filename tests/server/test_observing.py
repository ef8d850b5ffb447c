"""Figures and spans: what somebody who runs a server sees of its turns, and what nobody sees."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import httpx
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

from rejoinder import Agent, Call, Chat, Emitter
from rejoinder.messages import Json, Usage
from rejoinder.server.telemetry import Telemetry
from rejoinder.translate import CallEnded, CallStarted
from rejoinder.wire.chunks import Chunk
from tests.server.serving import chatting

SECRET = "secret-canary"


async def _run(call: Call) -> AsyncIterator[Json]:
    yield {"say": SECRET}
    if "fail" in call.prompt:
        raise RuntimeError(SECRET)


def _translate(say: Emitter, event: Json) -> Iterator[Chunk]:
    say.note(CallStarted(id="call", provider="acme", model="acme-1"))
    yield from say.text(event["say"])
    say.note(CallEnded(id="call", usage=Usage(input_tokens=7, output_tokens=3)))


AGENT = Agent("watched", _run, _translate)


def asked(api: str, chat: str, text: str) -> None:
    message = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": text}]}
    httpx.post(f"{api}/chat", json={"id": chat, "messages": [message]}).raise_for_status()


def test_turns_and_calls_of_models_are_spans_without_what_was_said() -> None:
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    chat = Chat(AGENT, store="memory", observers=[Telemetry(provider)])
    with chatting(chat) as api:
        asked(api, "one", f"hello {SECRET}")
        asked(api, "two", "fail please")
    one, two = sorted(
        turns(spans), key=lambda span: str(dict(span.attributes or {})["gen_ai.conversation.id"])
    )
    assert (one.name, two.name) == ("invoke_agent watched", "invoke_agent watched")
    calls = [span for span in spans.get_finished_spans() if span.name == "chat acme-1"]
    assert {span.parent.span_id for span in calls if span.parent} == {
        span.context.span_id for span in (one, two) if span.context
    }
    told = dict(calls[0].attributes or {})
    assert (told["gen_ai.provider.name"], told["gen_ai.usage.input_tokens"]) == ("acme", 7)
    assert one.start_time is not None
    assert one.end_time is not None
    assert one.end_time > one.start_time
    assert (one.status.is_ok, two.status.is_ok) == (True, False)
    assert SECRET not in str([span.to_json() for span in spans.get_finished_spans()])


def turns(spans: InMemorySpanExporter) -> list[ReadableSpan]:
    return [span for span in spans.get_finished_spans() if span.name.startswith("invoke_agent")]


def test_figures_are_open_only_where_they_are_wanted() -> None:
    with chatting(Chat(AGENT, store="memory")) as api:
        assert httpx.get(f"{api}/metrics").status_code == 404
    with chatting(Chat(AGENT, store="memory", metrics=True)) as api:
        asked(api, "one", f"hello {SECRET}")
        asked(api, "two", "fail please")
        answer = httpx.get(f"{api}/metrics").raise_for_status()
    assert SECRET not in answer.text
    figures = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    assert figures["rejoinder_turns_total", "succeeded", "watched"] == 1
    assert figures["rejoinder_turns_total", "failed", "watched"] == 1
    assert figures["rejoinder_turn_seconds_count", "watched"] == 2
    assert figures["rejoinder_tokens_total", "acme", "acme-1", "input"] == 14
    assert figures["rejoinder_open_streams",] == 0
