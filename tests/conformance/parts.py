"""Parts of UIMessages that the newest release of a version accepts: every type, every tool state."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Final

from tests.conformance.catalogue import DATA, TOOLS, UNKNOWN_TOOLS, Shape
from tests.conformance.values import Chance, Json, JsonObject

STATES: Final = (
    *("input-streaming", "input-available", "approval-requested", "approval-responded"),
    *("output-available", "output-error", "output-denied"),
)
DYNAMIC_STATES_OF_5: Final = ("input-streaming", "input-available", "output-available", "output-error")
"""Version 5 knows approvals on static tools only, and there only to read them."""

NEED_APPROVAL: Final = ("approval-requested", "approval-responded", "output-denied")
TERMINAL: Final = ("output-available", "output-error", "output-denied")

URLS: Final = (
    *(
        "https://example.com/a.png",
        "https://example.com",
        "data:image/png;base64,iVBORw0KGgo=",
        "data:,hi there",
    ),
    *(
        "HTTP://Example.COM:80/../x/./y?q=a b#f g",
        "https://example.com:8443/p?a=1&b=%20",
        "file:///files/a b.txt",
    ),
    *("blob:https://example.com/0f", "mailto:someone@example.com", "https://user:pa%20ss@example.com/ü?ß=ø"),
)
NO_URLS: Final = ("", "/relative.png", "not a url", "https://", "example.com/a.png", "http://exa mple.com/")
"""What `new URL()` throws on, and version 7 with it when it converts a file."""

MEDIA_TYPES: Final = ("image/png", "text/plain", "application/pdf", "audio/wav", "")


class Parts:
    """Makes parts for one version."""

    def __init__(self, chance: Chance, sdk: int) -> None:
        self._chance = chance
        self._sdk = sdk
        self._serial = 0

    def any(self) -> JsonObject:
        """A part of any type that an assistant may have."""
        table: list[tuple[float, Callable[[], JsonObject]]] = [
            (6, self.text),
            (3, self.reasoning),
            (9, self.tool),
            (2, self.file),
            (3, self.data),
            (1, self.source_url),
            (1, self.source_document),
            (3, self.step_start),
        ]
        if self._sdk >= 7:
            table += [(1, self.custom), (1, self.reasoning_file), (1, self.steering)]
        return self._chance.weighted(table)()

    def of_user(self) -> JsonObject:
        """A part of a user's message."""
        return self._chance.weighted(
            ((6, self.text), (2, self.file), (2, self.data), (0.3, self.source_url))
        )()

    def text(self) -> JsonObject:
        part: JsonObject = {"type": "text", "text": self._chance.text()}
        self._chance.add(part, "state", 0.4, lambda: self._chance.pick(("streaming", "done")))
        self._metadata(part, "providerMetadata")
        if self._sdk >= 7:
            self._chance.add(part, "citations", 0.1, self.citations)
        return part

    def reasoning(self) -> JsonObject:
        part: JsonObject = {"type": "reasoning", "text": self._chance.text()}
        self._chance.add(part, "id", 0.5, self._chance.id)
        self._chance.add(part, "state", 0.4, lambda: self._chance.pick(("streaming", "done")))
        self._metadata(part, "providerMetadata")
        return part

    def file(self) -> JsonObject:
        part: JsonObject = {
            "type": "file",
            "mediaType": self._chance.pick(MEDIA_TYPES),
            "url": self._chance.pick(NO_URLS if self._chance.maybe(0.03) else URLS),
        }
        self._chance.add(part, "filename", 0.4, lambda: self._chance.pick(("a.png", "", "ünï.pdf")))
        self._metadata(part, "providerMetadata")
        if self._sdk >= 7:
            self._chance.add(part, "providerReference", 0.2, lambda: {"openai": "file-1", "x": ""})
        return part

    def reasoning_file(self) -> JsonObject:
        part: JsonObject = {
            "type": "reasoning-file",
            "mediaType": "image/png",
            "url": self._chance.pick(URLS),
        }
        self._metadata(part, "providerMetadata")
        return part

    def custom(self) -> JsonObject:
        part: JsonObject = {"type": "custom", "kind": self._chance.pick(("openai.compaction", "nodot", ""))}
        self._metadata(part, "providerMetadata")
        return part

    def source_url(self) -> JsonObject:
        part: JsonObject = {
            "type": "source-url",
            "sourceId": self._chance.id(),
            "url": self._chance.pick(URLS),
        }
        self._chance.add(part, "title", 0.5, self._chance.text)
        self._metadata(part, "providerMetadata")
        return part

    def source_document(self) -> JsonObject:
        part: JsonObject = {
            "type": "source-document",
            "sourceId": self._chance.id(),
            "mediaType": self._chance.pick(MEDIA_TYPES),
            "title": self._chance.text(),
        }
        self._chance.add(part, "filename", 0.5, self._chance.word)
        self._metadata(part, "providerMetadata")
        return part

    def steering(self) -> JsonObject:
        return {"type": "steering-message", "id": self._chance.id(), "parts": self.steering_parts()}

    def steering_parts(self) -> list[JsonObject]:
        return [
            self._chance.weighted(((3, self._plain_text), (1, self.file)))()
            for _ in range(self._chance.whole(0, 3))
        ]

    def step_start(self) -> JsonObject:
        return {"type": "step-start"}

    def data(self) -> JsonObject:
        name = self._chance.pick((*DATA, "unregistered")) if self._chance.maybe(0.9) else "toString"
        part: JsonObject = {"type": f"data-{name}"}
        self._chance.add(part, "id", 0.5, self._chance.id)
        part["data"] = self._example(DATA[name]) if name in DATA else self._chance.json()
        return part

    def citations(self) -> list[JsonObject]:
        return [self._citation() for _ in range(self._chance.whole(0, 3))]

    def tool(
        self,
        state: str | None = None,
        *,
        dynamic: bool | None = None,
        call: str | None = None,
        name: str | None = None,
    ) -> JsonObject:
        """A tool part: of any state, static or dynamic, unless told."""
        chance = self._chance
        dynamic = chance.maybe(0.3) if dynamic is None else dynamic
        state = (
            chance.pick(DYNAMIC_STATES_OF_5 if dynamic and self._sdk == 5 else STATES)
            if state is None
            else state
        )
        if name is None:
            name = chance.pick(tuple(TOOLS) if chance.maybe(0.92) else UNKNOWN_TOOLS)
        part: JsonObject = {"type": "dynamic-tool", "toolName": name} if dynamic else {"type": f"tool-{name}"}
        part["toolCallId"] = self.call_id() if call is None else call
        part["state"] = state
        if dynamic:
            chance.add(part, "dynamic", 0.15, lambda: False)
        # Versions 5 and 6 take a title from the stream and forget it on the way back: there it is an extra key.
        chance.add(part, "title", 0.2 if self._sdk >= 7 else 0.05, chance.word)
        if self._sdk >= 6:
            chance.add(part, "toolMetadata", 0.15, chance.object)
        chance.add(part, "providerExecuted", 0.3, lambda: chance.maybe(0.7))
        if self._sdk >= 6 or state != "input-streaming":
            self._metadata(part, "callProviderMetadata")
        self._fill(part, state, name)
        return part

    def call_id(self) -> str:
        self._serial += 1
        return self._chance.id() if self._chance.maybe(0.15) else f"call_{self._serial}"

    def _fill(self, part: JsonObject, state: str, name: str) -> None:
        """What a tool part has in this state and in no other."""
        chance = self._chance
        if state == "input-streaming":
            chance.add(part, "rawInput", 0.6, chance.json_text)
            chance.add(part, "input", 0.5, chance.json)
            if self._sdk >= 6:
                chance.add(part, "inputEncoding", 0.2, lambda: chance.pick(("json", "text")))
            return
        if state != "output-error" or chance.maybe(0.6):
            part["input"] = self._example(TOOLS[name].input) if name in TOOLS else chance.json()
        asked = state in NEED_APPROVAL or (state in TERMINAL and chance.maybe(0.25))
        if asked and (self._sdk >= 6 or part["type"] != "dynamic-tool"):
            part["approval"] = self._approval(state, part.get("input"))
        if state == "output-error":
            part["errorText"] = chance.text()
            chance.add(part, "rawInput", 0.3, chance.json)
        if state == "output-available":
            shape = TOOLS[name].output if name in TOOLS else None
            part["output"] = chance.json() if shape is None else self._example(shape)
            chance.add(part, "preliminary", 0.15, lambda: chance.maybe(0.7))
        if state in {"output-available", "output-error"} and self._sdk >= 6:
            self._metadata(part, "resultProviderMetadata")

    def _approval(self, state: str, input: Json) -> JsonObject:
        chance = self._chance
        approval: JsonObject = {"id": f"approval-{chance.whole(1, 9)}"}
        if self._sdk >= 6:
            chance.add(approval, "descriptor", 0.2, chance.json)
            chance.add(approval, "signature", 0.3, chance.word)
            chance.add(
                approval, "inputSchemaInput", 0.15, lambda: input if chance.maybe(0.7) else chance.json()
            )
        if self._sdk >= 7:
            chance.add(approval, "requestReason", 0.2, chance.text)
            chance.add(approval, "isAutomatic", 0.2, lambda: chance.maybe(0.5))
        if state != "approval-requested":
            approval["approved"] = {"approval-responded": chance.maybe(0.5), "output-denied": False}.get(
                state, True
            )
            chance.add(approval, "reason", 0.4, chance.text)
        return approval

    def _citation(self) -> JsonObject:
        chance = self._chance
        source: JsonObject = {
            "type": "source",
            "sourceType": "url",
            "id": chance.id(),
            "url": chance.pick(URLS),
        }
        chance.add(source, "title", 0.5, chance.text)
        if chance.maybe(0.4):
            source = {
                "type": "source",
                "sourceType": "document",
                "id": chance.id(),
                "mediaType": "text/plain",
            }
            source["title"] = chance.text()
            chance.add(source, "filename", 0.5, chance.word)
        self._metadata(source, "providerMetadata")
        citation: JsonObject = {"source": source}
        chance.add(citation, "startIndex", 0.5, lambda: chance.whole(0, 9))
        chance.add(citation, "endIndex", 0.5, lambda: chance.whole(0, 99))
        chance.add(citation, "citedText", 0.5, chance.text)
        return citation

    def _plain_text(self) -> JsonObject:
        part: JsonObject = {"type": "text", "text": self._chance.text()}
        self._metadata(part, "providerMetadata")
        return part

    def _metadata(self, part: JsonObject, key: str) -> None:
        self._chance.add(part, key, 0.25, self._chance.provider_metadata)

    def _example(self, shape: Shape) -> Json:
        fits = not shape.misfits or self._chance.maybe(0.94)
        # A copy: whoever spoils a message must not spoil the catalogue.
        return deepcopy(self._chance.pick(shape.fits if fits else shape.misfits))
