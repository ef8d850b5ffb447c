"""What an answer rests on: the source, and on the end of the text the citation that says for which words."""

from __future__ import annotations

from typing import Final

from rejoinder.messages import Json, JsonObject
from rejoinder.translate.emitter import Emitter
from rejoinder.translate.fields import integer_of, object_of, text_of, text_or_none, without
from rejoinder.wire.chunks import Chunk, ProviderMetadata

DOCUMENT: Final = "text/plain"
"""What a cited file is, where the vendor does not say."""


class SourceIds:
    """The ids of sources, by where they are: a page is one source, however often it is cited."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def of(self, place: str) -> tuple[str, bool]:
        """The id of a source, and whether it was asked for before."""
        known = place in self._ids
        return self._ids.setdefault(place, f"s{len(self._ids)}"), known


def cite_url(
    say: Emitter,
    id: str,
    url: str,
    title: str | None = None,
    *,
    about: ProviderMetadata | None = None,
    start: int | None = None,
    end: int | None = None,
    words: str | None = None,
    known: bool = False,
) -> tuple[list[Chunk], JsonObject]:
    """A web page as a source, unless it is known as such, and the citation of it."""
    said = [] if known else say.source_url(url, title, source_id=id, provider_metadata=about)
    source = {"type": "source", "sourceType": "url", "id": id, "url": url, "title": title}
    return said, _citation(source, about, start, end, words)


def cite_document(
    say: Emitter,
    id: str,
    title: str,
    *,
    filename: str | None = None,
    media_type: str = DOCUMENT,
    about: ProviderMetadata | None = None,
    start: int | None = None,
    end: int | None = None,
    words: str | None = None,
    known: bool = False,
) -> tuple[list[Chunk], JsonObject]:
    """A document as a source, unless it is known as such, and the citation of it."""
    said: list[Chunk] = []
    if not known:
        said = say.source_document(
            title, media_type, filename=filename, source_id=id, provider_metadata=about
        )
    source = {"type": "source", "sourceType": "document", "id": id, "mediaType": media_type, "title": title}
    return said, _citation({**source, "filename": filename}, about, start, end, words)


def cite_annotation(
    say: Emitter, ids: SourceIds, annotation: JsonObject, *, provider: str
) -> tuple[list[Chunk], JsonObject | None]:
    """An annotation in OpenAI's words; some servers wrap it in an object named after its type."""
    kind = text_of(annotation, "type")
    wrapped = object_of(annotation, kind)
    told = {"type": kind, **wrapped} if wrapped else annotation
    start, end = integer_of(told, "start_index"), integer_of(told, "end_index")
    url = text_of(told, "url")
    if url:
        id, known = ids.of(url)
        return cite_url(say, id, url, text_or_none(told, "title"), start=start, end=end, known=known)
    file_id = text_of(told, "file_id")
    if not file_id:
        return [], None
    id, known = ids.of(file_id)
    about = {provider: without(told, "filename")}
    name = text_or_none(told, "filename")
    return cite_document(
        say, id, name or file_id, filename=name, about=about, start=start, end=end, known=known
    )


def _citation(
    source: JsonObject, about: ProviderMetadata | None, start: int | None, end: int | None, words: str | None
) -> JsonObject:
    source["providerMetadata"] = about
    span = {
        "startIndex": start if start is not None and start >= 0 else None,
        "endIndex": end if end is not None and end >= 0 else None,
        "citedText": words,
    }
    return {"source": _said(source), **_said(span)}


def _said(fields: dict[str, Json]) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}
