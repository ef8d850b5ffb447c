"""Bring in what other programs have kept: rows of the persistence specification, blobs of the agent-messages one.

    report = await import_persistence(open_source("postgresql://…"), store)
    report = await import_session_messages(open_source("agents.db"), store)

An import can be repeated: what is there already is left as it is. One that was interrupted goes on where it stopped.
No bad row ends it: such a row is kept as it came, and the report says which and why.
"""

from rejoinder.offline.importing.documents import import_documents
from rejoinder.offline.importing.persistence import import_persistence
from rejoinder.offline.importing.report import Progress, Report, Trouble
from rejoinder.offline.importing.session_messages import import_session_messages
from rejoinder.offline.importing.sources import Source, SourceUnreadable, open_source

__all__ = [
    "Progress",
    "Report",
    "Source",
    "SourceUnreadable",
    "Trouble",
    "import_documents",
    "import_persistence",
    "import_session_messages",
    "open_source",
]
