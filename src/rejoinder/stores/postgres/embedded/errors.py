"""What can go wrong with the embedded server: one class for each thing that a caller can do about it."""

from typing import ClassVar

from rejoinder.ports.journal import StoreError


class EmbeddedServerError(StoreError):
    """The embedded PostgreSQL server cannot do what was asked; says what, where, and the way out."""

    code: ClassVar[str] = "embedded_server"

    def __init__(self, what: str, *, where: str, way_out: str) -> None:
        super().__init__(f"{what} ({where}). {way_out}")
        self.what = what
        self.where = where
        self.way_out = way_out


class ServerBinariesMissing(EmbeddedServerError):
    """No PostgreSQL programs on this machine: install them, or bring a database."""

    code = "embedded_server.binaries_missing"


class ServerAccountMissing(EmbeddedServerError):
    """PostgreSQL refuses to run as this user and no other identity could be taken."""

    code = "embedded_server.account_missing"


class ServerFolderUnusable(EmbeddedServerError):
    """The folder cannot be written, belongs to someone else, or holds something else."""

    code = "embedded_server.folder_unusable"


class ServerVersionMismatch(EmbeddedServerError):
    """The data were made by another major version of PostgreSQL than the programs at hand."""

    code = "embedded_server.version_mismatch"


class ServerBusy(EmbeddedServerError):
    """Another process is starting or stopping this server and has not come to an end."""

    code = "embedded_server.busy"


class ServerNotStarted(EmbeddedServerError):
    """The server was started and did not become ready; the message ends with what it logged."""

    code = "embedded_server.not_started"


class ServerNotStopped(EmbeddedServerError):
    """The server was told to stop and still runs, or cannot be told from here."""

    code = "embedded_server.not_stopped"
