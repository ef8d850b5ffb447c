"""What psycopg raises, said as our errors: what happened, where, and the way out. Never a password.

What the server says is quoted only once it is the server that speaks: texts of the driver about a connection
string that it cannot read would quote the string.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from rejoinder.ports.journal import StoreError, StoreMisconfigured, StoreUnavailable

AGAIN: Final = frozenset({"40001", "40P01"})
"""The transaction lost against another one: it may simply be done again."""

_MISCONFIGURED: Final = {
    "28": "Correct the user or the password in the database URL.",
    "3D": "Create the database, or correct its name in the URL.",
    "3F": "Create the tables with `rejoinder db upgrade`, or name the schema that holds them.",
    "42P01": "Create the tables with `rejoinder db upgrade`, or name the schema that holds them.",
    "42703": "Bring the tables up to date with `rejoinder db upgrade`.",
    "42501": "Grant the user its rights on the schema, or let the tables' owner connect.",
    "25006": "Name the primary server in the URL, or allow this one to write.",
}

_UNAVAILABLE: Final = {
    "53100": "The disk of the database is full: free space there. Nothing was half-written, and reading goes on.",
    "53200": "The database is out of memory: try again later.",
    "53300": "All connections of the server are taken: raise its max_connections, or use fewer or smaller pools.",
    "53400": "A limit of the server's configuration is reached: raise it.",
    "57014": "The statement ran into the server's time limit: try again, or raise statement_timeout.",
    "57P": "The server is starting or stopping: try again in a moment.",
    "55P03": "A table is locked, perhaps by a migration: try again in a moment.",
    "58": "The server cannot read or write its files: look at its log and its disk.",
    "XX": "The server reports an internal error: look at its log.",
    "08": "See whether the server runs and can be reached, then try again.",
    "40": "Others kept changing the same rows: try again.",
}

_NONE_SUPPLIED: Final = "no password supplied"

_REFUSED_AT_THE_DOOR: Final = {
    "password authentication failed": _MISCONFIGURED["28"],
    _NONE_SUPPLIED: _MISCONFIGURED["28"],
    "no pg_hba.conf entry": "Allow this user and host in the server's pg_hba.conf.",
    "authentication failed": _MISCONFIGURED["28"],
    "role": "Create the user, or correct its name in the URL.",
    "database": _MISCONFIGURED["3D"],
    "permission denied for database": "Grant the user the right to connect.",
}
"""libpq gives no SQLSTATE for a connection that was refused, so the server's (English) words have to do."""

_NOT_YET: Final = ("starting up", "shutting down", "recovery", "too many", "remaining connection slots")


def place(url: str) -> str:
    """Where a database is, without anything that is secret. Raises `StoreMisconfigured` for a URL that is none."""
    try:
        known = conninfo_to_dict(url)
    except psycopg.Error:
        raise StoreMisconfigured(
            f"the database URL cannot be read (it begins with {_scheme(url)!r}): "
            "write postgresql://user:password@host:port/database"
        ) from None
    host, port = known.get("host", "the local socket"), known.get("port", 5432)
    return f"{host}:{port}/{known.get('dbname') or known.get('user') or ''}"


def not_connected(error: psycopg.Error, where: str) -> StoreError:
    """No connection was made."""
    text = _first_line(error)
    if isinstance(error, psycopg.errors.ConnectionTimeout):
        return StoreUnavailable(
            f"the database did not answer in time ({where}): see whether it runs, try again"
        )
    # That no password was given the driver finds out itself, when the server asks for one.
    refused = "FATAL" in text or _NONE_SUPPLIED in text
    if refused and not any(word in text for word in _NOT_YET):
        said = _NONE_SUPPLIED if _NONE_SUPPLIED in text else text.split("FATAL:", 1)[-1].strip()
        for words, way_out in _REFUSED_AT_THE_DOOR.items():
            if said.startswith(words) or words in said:
                return StoreMisconfigured(f"the database refuses us ({where}): {said}. {way_out}")
    return StoreUnavailable(
        f"the database cannot be reached ({where}): {_reason(text)}. See whether it runs, then try again."
    )


def failed(error: psycopg.Error, where: str) -> StoreError:
    """Something failed on a connection that was there."""
    state = error.sqlstate
    if state is None:
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            return StoreUnavailable(
                f"the connection to the database was lost ({where}): try again in a moment"
            )
        return StoreError(f"the database could not do it ({where}): {type(error).__name__}")
    said = f"{error.diag.message_primary or type(error).__name__} (SQLSTATE {state})"
    for prefix, way_out in _MISCONFIGURED.items():
        if state.startswith(prefix):
            return StoreMisconfigured(f"the database cannot be used as it is ({where}): {said}. {way_out}")
    for prefix, way_out in _UNAVAILABLE.items():
        if state.startswith(prefix):
            return StoreUnavailable(f"the database cannot do it now ({where}): {said}. {way_out}")
    return StoreError(f"the database refused ({where}): {said}")


def lost(error: psycopg.Error) -> bool:
    """Whether the connection died, so that nobody can say whether a commit that was under way arrived."""
    state = error.sqlstate
    return isinstance(error, psycopg.OperationalError) and (state is None or state.startswith(("08", "57P")))


@contextmanager
def told(where: str) -> Generator[None]:
    """Raise our errors for the driver's."""
    try:
        yield
    except psycopg.Error as error:
        raise failed(error, where) from error


def _scheme(url: str) -> str:
    scheme, colon, _ = url.partition("://")
    return scheme if colon and scheme.isalnum() else "nothing known"


def _first_line(error: psycopg.Error) -> str:
    return str(error).strip().partition("\n")[0]


def _reason(text: str) -> str:
    return text.rsplit("failed: ", 1)[-1].strip().rstrip(".") or "no reason was given"
