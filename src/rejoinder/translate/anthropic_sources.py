"""The pages and documents that an answer of Claude's rests on: each is told once, however often it is cited."""

from __future__ import annotations

from rejoinder.messages import Json, JsonObject
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import integer_of, object_of, objects_of, text_of, text_or_none, without
from rejoinder.translate.sources import SourceIds, cite_document, cite_url
from rejoinder.wire.chunks import Chunk


class Sources:
    """Says the sources of an answer, each once."""

    def __init__(self, ids: SourceIds) -> None:
        self._ids = ids

    def found(self, say: Emitter, content: Json) -> list[Chunk]:
        """The pages in what a search or a fetch gave."""
        said: list[Chunk] = []
        for page in objects_of(content) or [object_of(content)]:
            url = text_of(page, "url")
            if url:
                id, known = self._ids.of(url)
                title = text_or_none(page, "title") or text_or_none(page, "content", "title")
                said += cite_url(say, id, url, title, known=known)[0]
        return said

    def cite(self, say: Emitter, citation: JsonObject, provider: str) -> tuple[list[Chunk], JsonObject]:
        """What a citation cites, if that is new, and the citation."""
        words, title = text_or_none(citation, "cited_text"), text_or_none(citation, "title")
        source = text_of(citation, "url") or text_of(citation, "source")
        if source.startswith(("https://", "http://")):
            id, known = self._ids.of(source)
            return cite_url(say, id, source, title, words=words, known=known)
        name = text_or_none(citation, "document_title") or title or source or "Document"
        place = f"{name}:{integer_of(citation, 'document_index')}"
        id, known = self._ids.of(place)
        about = {provider: without(citation, "cited_text")}
        start, end = integer_of(citation, "start_char_index"), integer_of(citation, "end_char_index")
        return cite_document(say, id, name, about=about, start=start, end=end, words=words, known=known)
