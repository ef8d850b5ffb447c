"""OpenAI Chat Completions, and the many servers that speak it, each in its own accent, → chunks.

A call is over with `[DONE]` (as a JSON text: that is how the provider hands it on), with the usage that comes after
the last word, or when the next call begins; without any of them, and without a reason to finish, it was cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from rejoinder.messages import Json, JsonObject, Usage
from rejoinder.translate.emitter import INTERRUPTED, Emitter
from rejoinder.translate.failures import failed
from rejoinder.translate.fields import array_of, integer_of, object_of, objects_of, text_of
from rejoinder.translate.model_calls import DONE, ModelCalls
from rejoinder.translate.notes import Problem
from rejoinder.translate.openai_chat_calls import ChatCalls
from rejoinder.translate.openai_chat_thoughts import Thoughts
from rejoinder.translate.sources import cite_annotation
from rejoinder.wire.chunks import Chunk, FinishReason
from rejoinder.wire.json import is_array, is_object

_REASONS: Final[Mapping[str, FinishReason]] = {
    "stop": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content-filter",
    "safety": "content-filter",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
}
_CUT: Final = ("length", "content-filter")
_HELPED: Final = re.compile(r"(content|refusal|logprobs\.\w+|tool_calls\.function\.arguments)\.(delta|done)")
"""What the SDK's stream helper makes of the chunks, which it hands on as well."""

_SAYING: Final = ("content", "tool_calls", "function_call", "refusal", "images", "audio")
_IMAGE_TYPE: Final = "image/png"
"""What an image is whose URL does not say."""


class OpenAIChat:
    """Remembers what the call that is under way has said."""

    provider = "openai"

    def __init__(self) -> None:
        self._calls = ModelCalls(self.provider)
        self._reason: FinishReason | None = None
        self._id = ""
        self._refused = False
        self._tools = ChatCalls(self._calls)
        self._thoughts = Thoughts(self.provider)
        self._annotations: list[JsonObject] = []
        self._citations: list[JsonObject] = []

    def __call__(self, say: Emitter, event: Json, /) -> Iterator[Chunk]:
        """The next event."""
        if isinstance(event, str) and event.strip() == DONE:
            yield from self._over(say, done=True)
            return
        if not is_object(event):
            say.note(Problem(text="an event that is no object"))
            return
        if is_object(event.get("chunk")):
            event = event["chunk"]
        elif _HELPED.fullmatch(text_of(event, "type")):
            return
        if event.get("error"):
            error = event["error"] if is_object(event["error"]) else {"message": event["error"]}
            yield from self._calls.fail(say, failed(error, provider=self.provider))
            return
        choices = objects_of(event, "choices")
        if not choices and not is_object(event.get("usage")) and not _is_chunk(event):
            say.note(Problem(text="an event that Chat Completions does not have"))
            return
        if self._begins(event, choices):
            yield from self._over(say)
            yield from self._begin(say, event)
        if self._calls.open is None:
            say.note(Problem(text="an event after the end of the answer"))
            return
        yield from self._chunk(say, event, choices)

    def close(self, say: Emitter) -> Iterator[Chunk]:
        """No event will come any more."""
        yield from self._over(say)
        yield from self._calls.close(say)

    # The call

    def _begins(self, event: JsonObject, choices: list[JsonObject]) -> bool:
        """Whether this is another call: some servers give each chunk an id of its own, so that alone says little."""
        if self._calls.count == 0:
            return True
        if self._calls.open is not None and self._reason is None:
            return False
        return any(_says(choice) for choice in choices) or (
            bool(choices) and text_of(event, "id") not in ("", self._id) and not event.get("usage")
        )

    def _begin(self, say: Emitter, event: JsonObject) -> list[Chunk]:
        self._reason, self._id, self._refused = None, text_of(event, "id"), False
        self._tools, self._thoughts = ChatCalls(self._calls), Thoughts(self.provider)
        self._annotations, self._citations = [], []
        return self._calls.begin(say, self._id, text_of(event, "model"))

    def _chunk(self, say: Emitter, event: JsonObject, choices: list[JsonObject]) -> Iterator[Chunk]:
        self._calls.model = text_of(event, "model") or self._calls.model
        self._calls.usage = _usage(event) or self._calls.usage
        for choice in choices:
            if integer_of(choice, "index") in (None, 0):
                yield from self._choice(say, choice)
            else:
                say.note(Problem(text="another choice than the first: it is kept, but not shown"))
        for url in array_of(event, "citations"):
            if isinstance(url, str):
                yield from self._cite(say, {"url": url})
        if not choices and self._reason is not None and _usage(event) is not None:
            yield from self._over(say)

    def _choice(self, say: Emitter, choice: JsonObject) -> Iterator[Chunk]:
        yield from self._delta(say, object_of(choice, "delta") or object_of(choice, "message"))
        reason = text_of(choice, "finish_reason")
        if reason == "error":
            error = object_of(choice, "error") or {"message": "the call ended with an error"}
            yield from self._calls.fail(say, failed(error, provider=self.provider))
        elif reason and self._reason is None:
            yield from self._end(say, _REASONS.get(reason.lower(), "other"))

    def _end(self, say: Emitter, reason: FinishReason) -> Iterator[Chunk]:
        """The last word was said; what the call consumed may still come."""
        yield from self._thoughts.end(say)
        if self._citations or self._annotations:
            about = {self.provider: {"annotations": self._annotations}} if self._annotations else None
            yield from say.text_end(provider_metadata=about, citations=self._citations or None)
        yield from self._tools.end(say, INTERRUPTED if reason in _CUT else None)
        if self._tools.called and reason in ("stop", "other"):
            reason = "tool-calls"
        elif self._refused and reason in ("stop", "other"):
            reason = "content-filter"
        self._reason = reason

    def _over(self, say: Emitter, *, done: bool = False) -> Iterator[Chunk]:
        """The call is over, if it came to its end; `done` says that its server said so."""
        if self._calls.open is None:
            return
        if self._reason is None and done:
            yield from self._end(say, "other")
        if self._reason is not None:
            yield from self._calls.finish(say, self._reason)

    # What is said

    def _delta(self, say: Emitter, delta: JsonObject) -> Iterator[Chunk]:
        yield from self._thoughts.delta(say, delta)
        content = delta.get("content")
        if is_array(content):
            for item in content:
                yield from self._content(say, item)
        elif isinstance(content, str):
            yield from self._text(say, content)
        refusal = text_of(delta, "refusal")
        if refusal:
            self._refused = True
            yield from self._thoughts.end(say)
            yield from say.text_start("refusal", provider_metadata={self.provider: {"refusal": True}})
            yield from say.text(refusal, "refusal")
        for annotation in objects_of(delta, "annotations"):
            yield from self._cite(say, annotation)
        yield from self._text(say, text_of(delta, "audio", "transcript"))
        for image in objects_of(delta, "images"):
            yield from self._image(say, image)
        for call in objects_of(delta, "tool_calls"):
            yield from self._thoughts.end(say)
            yield from self._tools.delta(say, call)
        function = object_of(delta, "function_call")
        if function:
            yield from self._tools.delta(say, {"index": 0, "function": function})

    def _text(self, say: Emitter, delta: str) -> Iterator[Chunk]:
        if delta:
            yield from self._thoughts.end(say)
            yield from say.text(delta)

    def _content(self, say: Emitter, item: Json) -> Iterator[Chunk]:
        """A piece of a content that is a list, as some servers make it."""
        match text_of(item, "type"):
            case "thinking" | "reasoning":
                yield from self._thoughts.thinking(say, item)
            case "image_url":
                yield from self._image(say, item)
            case _:
                yield from self._text(say, item if isinstance(item, str) else text_of(item, "text"))

    def _image(self, say: Emitter, image: JsonObject) -> Iterator[Chunk]:
        url = text_of(image, "image_url", "url") or text_of(image, "image_url")
        if url:
            yield from self._thoughts.end(say)
            inline = url.startswith("data:")
            yield from say.file(url, url[5:].partition(";")[0].partition(",")[0] if inline else _IMAGE_TYPE)

    def _cite(self, say: Emitter, annotation: JsonObject) -> Iterator[Chunk]:
        if annotation in self._annotations:
            return
        self._annotations.append(annotation)
        if "type" not in annotation:
            annotation = {"type": "url_citation", **annotation}
        said, citation = cite_annotation(say, self._calls.sources, annotation, provider=self.provider)
        yield from said
        if citation is not None:
            self._citations.append(citation)


def _is_chunk(event: JsonObject) -> bool:
    return text_of(event, "object").startswith("chat.completion") or "choices" in event


def _says(choice: JsonObject) -> bool:
    delta = object_of(choice, "delta") or object_of(choice, "message")
    return any(delta.get(name) for name in _SAYING) or Thoughts.speaks(delta)


def _usage(event: JsonObject) -> Usage | None:
    told = object_of(event, "usage") or object_of(event, "x_groq", "usage")
    if not told:
        return None
    input, output = integer_of(told, "prompt_tokens"), integer_of(told, "completion_tokens")
    total = integer_of(told, "total_tokens")
    reasoning = integer_of(told, "completion_tokens_details", "reasoning_tokens")
    if None not in (input, output, reasoning) and total == (input or 0) + (output or 0) + (reasoning or 0):
        # Here the reasoning is counted beside the output, and not as part of it.
        output = (output or 0) + (reasoning or 0)
    read = integer_of(told, "prompt_tokens_details", "cached_tokens")
    return Usage(
        input_tokens=input,
        output_tokens=output,
        total_tokens=total,
        cache_read_tokens=integer_of(told, "prompt_cache_hit_tokens") if read is None else read,
        cache_write_tokens=integer_of(told, "prompt_tokens_details", "cache_write_tokens"),
        reasoning_tokens=reasoning,
    )
