"""One step of an assistant's message → an assistant message and, where tools answered, a tool message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from rejoinder.convert.javascript import href
from rejoinder.convert.model_calls import awaits_answer, call_answers, call_content, carry, identity_of
from rejoinder.convert.model_rules import Rules, Selection
from rejoinder.convert.ui import part_from_ui
from rejoinder.messages import ABSENT, Data, Json, JsonObject, ToolCall

OMITTED: Final = "Tool output omitted because the tool is no longer available."

DataConverter: TypeAlias = Callable[[Data], JsonObject | None]
"""Says an application's own part to the model (as a text or file part), or does not (None)."""


class ModelTool(Struct, frozen=True, kw_only=True):
    """A tool as far as this conversion needs it: how the model is told what it returned, if not as it is."""

    to_model_output: Callable[[ToolCall], JsonObject] | None = None


class Speaker:
    """Says single parts by the rules of one version, with the tools and the data converter of one call."""

    def __init__(
        self, rules: Rules, tools: Mapping[str, ModelTool] | None, convert_data_part: DataConverter | None
    ) -> None:
        self.rules = rules
        self._tools: Mapping[str, ModelTool] = tools or {}
        self._convert_data_part = convert_data_part
        self.content: dict[str, Callable[[JsonObject], JsonObject]] = {
            "text": text,
            "reasoning": _reasoning,
            "file": self.file if rules.file_options else self._bare_file,
        }
        """What says an assistant's part, by the part's type."""
        if rules.further_parts:
            self.content |= {"reasoning-file": _reasoning_file, "custom": _custom}

    def file(self, part: JsonObject) -> JsonObject:
        """A file, with the provider's metadata."""
        said = self._bare_file(part)
        options = part.get("providerMetadata")
        if options is not None:
            said["providerOptions"] = options
        return said

    def data(self, part: JsonObject) -> JsonObject | None:
        """What the application makes of its own part."""
        if self._convert_data_part is None:
            return None
        data = part_from_ui(part)
        return self._convert_data_part(data) if isinstance(data, Data) else None

    def output(self, part: JsonObject, name: Json) -> JsonObject:
        """What a tool returned."""
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is None and part.get("type") == "dynamic-tool" and part.get("dynamic") is False:
            return {"type": "text", "value": OMITTED}
        if tool is not None and tool.to_model_output is not None:
            call = part_from_ui(part)
            if isinstance(call, ToolCall):
                return tool.to_model_output(call)
        output = part.get("output")
        return {"type": "text" if isinstance(output, str) else "json", "value": output}

    def _bare_file(self, part: JsonObject) -> JsonObject:
        said: JsonObject = {"type": "file"}
        if "mediaType" in part:
            said["mediaType"] = part["mediaType"]
        if "filename" in part:
            said["filename"] = part["filename"]
        if not self.rules.typed_files:
            carry(part, "url", said, "data")
        elif part.get("providerReference") is not None:
            said["data"] = {"type": "reference", "reference": part["providerReference"]}
        else:
            said["data"] = {"type": "url", "url": href(part.get("url", ABSENT))}
        return said


class Step:
    """What came from one model call, and what its tools answered. Taken up again for the next call."""

    __slots__ = ("_answers", "_awaits_answers", "_begun", "_selection", "_speaker", "content")

    def __init__(self, speaker: Speaker, selection: Selection) -> None:
        self._speaker = speaker
        self._selection = selection
        self._awaits_answers = False
        self._begun = False
        self.content: list[JsonObject] = []
        self._answers: list[JsonObject] = []

    def add(self, kind: str, part: JsonObject) -> None:
        """Take in a call or a data part. Other parts that are no content for a model leave no trace."""
        if kind == "dynamic-tool" or kind.startswith("tool-"):
            self._call(kind, part)
        elif kind.startswith("data-"):
            self._begun = True
            said = self._speaker.data(part)
            if said is not None:
                self.content.append(said)

    def end(self, said: list[JsonObject]) -> None:
        """Say the messages that this step gives, the assistant's first, and begin the next step."""
        keeps_empty = self._speaker.rules.keeps_empty
        if self.content or (keeps_empty and self._begun):
            said.append({"role": "assistant", "content": self.content})
            self.content = []
        if self._answers or (keeps_empty and self._awaits_answers):
            said.append({"role": "tool", "content": self._answers})
            self._answers = []
        self._begun = self._awaits_answers = False

    def _call(self, kind: str, part: JsonObject) -> None:
        speaker = self._speaker
        if not self._selection.keeps(part, speaker.rules):
            return
        self._begun = True
        identity = identity_of(part, kind)
        self.content += call_content(part, kind, identity, speaker.rules, speaker.output)
        if awaits_answer(part, kind, speaker.rules):
            self._awaits_answers = True
            self._answers += call_answers(part, identity, speaker.rules, speaker.output)


def text(part: JsonObject) -> JsonObject:
    """What was said, by whomever."""
    said: JsonObject = {"type": "text", "text": part["text"]} if "text" in part else {"type": "text"}
    options = part.get("providerMetadata")
    if options is not None:
        said["providerOptions"] = options
    return said


def _reasoning(part: JsonObject) -> JsonObject:
    said: JsonObject = (
        {"type": "reasoning", "text": part["text"]} if "text" in part else {"type": "reasoning"}
    )
    if "providerMetadata" in part:
        said["providerOptions"] = part["providerMetadata"]
    return said


def _reasoning_file(part: JsonObject) -> JsonObject:
    said: JsonObject = {"type": "reasoning-file"}
    said["data"] = {"type": "url", "url": href(part.get("url", ABSENT))}
    carry(part, "mediaType", said)
    carry(part, "providerMetadata", said, "providerOptions")
    return said


def _custom(part: JsonObject) -> JsonObject:
    said: JsonObject = {"type": "custom"}
    carry(part, "kind", said)
    options = part.get("providerMetadata")
    if options is not None:
        said["providerOptions"] = options
    return said
