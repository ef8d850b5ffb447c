"""The embedded PostgreSQL: real programs, one server a folder, nothing to install or configure.

`start` begins or joins, `stop` ends, `status` and `url` look. The server is a daemon of its own and
outlives its starter. It listens on a Unix socket in a private folder and opens no TCP port.
"""

from rejoinder.stores.postgres.embedded.errors import (
    EmbeddedServerError,
    ServerAccountMissing,
    ServerBinariesMissing,
    ServerBusy,
    ServerFolderUnusable,
    ServerNotStarted,
    ServerNotStopped,
    ServerVersionMismatch,
)
from rejoinder.stores.postgres.embedded.server import Running, default_folder, start, status, stop, url

__all__ = [
    "EmbeddedServerError",
    "Running",
    "ServerAccountMissing",
    "ServerBinariesMissing",
    "ServerBusy",
    "ServerFolderUnusable",
    "ServerNotStarted",
    "ServerNotStopped",
    "ServerVersionMismatch",
    "default_folder",
    "start",
    "status",
    "stop",
    "url",
]
