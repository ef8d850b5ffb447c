"""The pages and documents that an answer of Claude's rests on: each is told once, however often it is cited."""

from __future__ import annotations

from collections.abc import Callable

from rejoinder.messages import Json, JsonObject
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import integer_of, object_of, objects_of, text_of, text_or_none, without
from rejoinder.translate.sources import cite_document, cite_url
from rejoinder.wire.chunks import Chunk


class Sources:
    """Remembers what was told. `new_id` names a source."""

    def __init__(self, new_id: Callable[[], str]) -> None:
        self._new_id = new_id
        self._ids: dict[str, str] = {}

    def found(self, say: Emitter, content: Json) -> list[Chunk]:
        """The pages in what a search or a fetch gave."""
        said: list[Chunk] = []
        for page in objects_of(content) or [object_of(content)]:
            url = text_of(page, "url")
            if url and url not in self._ids:
                title = text_or_none(page, "title") or text_or_none(page, "content", "title")
                said += cite_url(say, self._id(url), url, title)[0]
        return said

    def cite(self, say: Emitter, citation: JsonObject, provider: str) -> tuple[list[Chunk], JsonObject]:
        """What a citation cites, if that is new, and the citation."""
        words, title = text_or_none(citation, "cited_text"), text_or_none(citation, "title")
        source = text_of(citation, "url") or text_of(citation, "source")
        if source.startswith(("https://", "http://")):
            known, id = source in self._ids, self._id(source)
            return cite_url(say, id, source, title, words=words, known=known)
        name = text_or_none(citation, "document_title") or title or source or "Document"
        place = f"{name}:{integer_of(citation, 'document_index')}"
        known, id = place in self._ids, self._id(place)
        about = {provider: without(citation, "cited_text")}
        start, end = integer_of(citation, "start_char_index"), integer_of(citation, "end_char_index")
        return cite_document(say, id, name, about=about, start=start, end=end, words=words, known=known)

    def _id(self, place: str) -> str:
        if place not in self._ids:
            self._ids[place] = self._new_id()
        return self._ids[place]
