"""Documents: files that hold conversations in a form of other programs, see `rejoinder.convert.documents`."""

from __future__ import annotations

from pathlib import Path

from rejoinder.convert.documents import FORMS, Document, documents
from rejoinder.errors import RejoinderError
from rejoinder.messages import Message
from rejoinder.offline.importing.report import Progress, Report, nobody
from rejoinder.offline.importing.sources import SourceUnreadable
from rejoinder.offline.importing.target import Target
from rejoinder.ports.journal import StoreError
from rejoinder.ports.store import DEFAULT_TENANT, ConversationStore


async def import_documents(
    file: Path,
    form: str,
    store: ConversationStore,
    *,
    conversation: str | None = None,
    tenant: str = DEFAULT_TENANT,
    progress: Progress = nobody,
) -> Report:
    """Import the conversations of a file. Those that are called nothing are called as the file is, or `conversation`.

    What is there already stays as it is; a longer copy of a conversation brings what was added.
    Raises `SourceUnreadable` for a file that is none of that form; nothing of it has been written then.
    """
    read = _read(file, form)
    if conversation is not None and len(read) > 1:
        raise SourceUnreadable(f"{file} holds {len(read)} conversations: they cannot all be {conversation!r}")
    report = Report()
    target = Target(store, report, tenant=tenant)
    for number, (document, messages) in enumerate(read, 1):
        unnamed = file.stem if len(read) == 1 else f"{file.stem}-{number}"
        await _conversation(target, report, conversation or document.id or unnamed, document, messages, form)
        progress(number, len(read))
    return report


def _read(file: Path, form: str) -> list[tuple[Document, list[Message]]]:
    try:
        return [
            (document, list(FORMS[form].read(document.body)))
            for document in documents(file.read_bytes(), FORMS[form])
        ]
    except OSError as error:
        raise SourceUnreadable(f"{file}: {error.strerror}") from error
    except RejoinderError as error:
        raise SourceUnreadable(f"{file} cannot be read as {form}: {error}") from error


async def _conversation(
    target: Target, report: Report, id: str, document: Document, messages: list[Message], form: str
) -> None:
    try:
        await target.conversation(id, title=document.title, origin={"from": form})
    except StoreError as error:
        report.left_out(document.where, error)
        return
    where = [f"{document.where}, message {message.id!r}" for message in messages]
    await target.messages(id, messages, after=None, where=where)
