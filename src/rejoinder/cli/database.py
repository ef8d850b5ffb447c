"""`rejoinder db`: the database that keeps everything, the embedded one or one of your own."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Final

import typer

from rejoinder.cli.streams import misuse

app = typer.Typer(
    help="The database: the embedded PostgreSQL, or the one that --database or DATABASE_URL names.",
    no_args_is_help=True,
)
promotions = typer.Typer(
    help="Give a field of a tool or of a data part a column of its own, with an index.", no_args_is_help=True
)
app.add_typer(promotions, name="promote")

DEFAULT_SCHEMA: Final = "rejoinder"

Database = Annotated[
    str | None,
    typer.Option(
        "--database", envvar="DATABASE_URL", help="A PostgreSQL URL; the embedded server if there is none."
    ),
]
Schema = Annotated[str, typer.Option(help="The schema that holds the tables.")]
Fields = Annotated[
    list[str],
    typer.Option("--field", help="A path and a type: input.action:text. May be given more than once."),
]
Column = Annotated[str | None, typer.Option(help="What to call the column (of one field).")]


def reached(database: str | None) -> str:
    """The URL of the database that is meant; the embedded server runs when this returns."""
    if database:
        return database
    from rejoinder.stores.postgres import embedded

    with working("Starting the embedded PostgreSQL"):
        return embedded.start().url


@contextmanager
def working(what: str) -> Generator[None]:
    """Say on a terminal that something is being done. Who reads our output elsewhere sees nothing of it."""
    from rich.console import Console

    with Console(stderr=True).status(f"{what} …"):
        yield


@app.command()
def url(*, database: Database = None) -> None:
    """Say where the database is, for psql and other programs. Starts nothing.

    Example: psql "$(rejoinder db url)"
    """
    from rejoinder.stores.postgres import embedded

    typer.echo(database or embedded.url())


@app.command()
def start(*, database: Database = None) -> None:
    """Start the embedded server, if it does not run, and say its URL. It outlives this command."""
    from rejoinder.stores.postgres import embedded

    _warn_of_another(database)
    with working("Starting the embedded PostgreSQL"):
        running = embedded.start()
    typer.echo(running.url)


@app.command()
def stop(*, database: Database = None) -> None:
    """Stop the embedded server. What is stored stays; programs that use it lose their connection."""
    from rejoinder.stores.postgres import embedded

    _warn_of_another(database)
    with working("Stopping the embedded PostgreSQL"):
        ran = embedded.stop()
    typer.echo("stopped" if ran else "it did not run")


@app.command()
def upgrade(*, database: Database = None, schema: Schema = DEFAULT_SCHEMA) -> None:
    """Create the tables, or bring them up to date. Can be repeated; several may try at once."""
    from rejoinder.stores.postgres import migrate

    place = reached(database)
    with working("Bringing the tables up to date"):
        ran = migrate.upgrade(place, schema=schema)
    typer.echo(f"{schema}: " + (f"has now had {', '.join(ran)}" if ran else "up to date already"))


@app.command()
def check(
    *,
    database: Database = None,
    schema: Schema = DEFAULT_SCHEMA,
    quick: Annotated[bool, typer.Option("--quick", help="Look at the version only.")] = False,
) -> None:
    """Compare the tables with what this release needs. Exit 1 if something is missing."""
    from rejoinder.stores.postgres import migrate

    found = migrate.check(reached(database), schema=schema, thorough=not quick)
    typer.echo(f"{schema}: as it should be, at {found.revision}")


@app.command("sql")
def script(
    *,
    schema: Schema = DEFAULT_SCHEMA,
    start: Annotated[
        str | None, typer.Option("--from", help="The revision that is there, if there is one.")
    ] = None,
) -> None:
    """Write what `upgrade` would do as a script, for those who run theirs by hand. Needs no database.

    Example: rejoinder db sql | psql "$DATABASE_URL"
    """
    from alembic.util import CommandError

    from rejoinder.stores.postgres import migrate

    try:
        typer.echo(migrate.upgrade_sql(schema=schema, start=start), nl=False)
    except CommandError as error:
        misuse(f"--from {start}: {error}")


@promotions.command("tool")
def promote_tool(
    name: Annotated[str, typer.Argument(help="The tool, as its calls name it.")],
    *,
    field: Fields,
    column: Column = None,
    database: Database = None,
    schema: Schema = DEFAULT_SCHEMA,
) -> None:
    """Give fields of a tool's input or output columns.

    Example: rejoinder db promote tool confirmAction --field input.action:text
    """
    _promote("tool", name, field, column, database, schema)


@promotions.command("data")
def promote_data(
    name: Annotated[str, typer.Argument(help="The data part's name: proposal for data-proposal.")],
    *,
    field: Fields,
    column: Column = None,
    database: Database = None,
    schema: Schema = DEFAULT_SCHEMA,
) -> None:
    """Give fields of a data part columns.

    Example: rejoinder db promote data proposal --field status:text
    """
    _promote("data", name, field, column, database, schema)


@promotions.command("list")
def list_promotions(*, database: Database = None, schema: Schema = DEFAULT_SCHEMA) -> None:
    """List what has been promoted: column, kind, name, field and type, a line each, with tabs between."""
    from rejoinder.stores.postgres import promote

    for found in promote.promotions(reached(database), schema=schema):
        typer.echo(f"{found.column}\t{found.kind}\t{found.name}\t{found.field}\t{found.type}")


@promotions.command("drop")
def drop(
    column: Annotated[str, typer.Argument(help="The column, as `list` shows it.")],
    *,
    database: Database = None,
    schema: Schema = DEFAULT_SCHEMA,
) -> None:
    """Drop a promoted column with its index. What was said stays."""
    from rejoinder.stores.postgres import promote

    dropped = promote.withdraw(reached(database), column, schema=schema)
    typer.echo(f"{column}: " + ("dropped" if dropped else "it was not there"))


def _promote(
    kind: str, name: str, fields: list[str], column: str | None, database: str | None, schema: str
) -> None:
    from rejoinder.stores.postgres import promote

    if column is not None and len(fields) > 1:
        misuse("--column names the column of one --field: promote the others by themselves")
    wanted: list[promote.Promotion] = []
    for field in fields:
        path, colon, type = field.rpartition(":")
        if not colon:
            misuse(f"--field {field}: a path and a type are needed, as in {field}:text")
        try:
            wanted.append(promote.promotion(kind, name, path, type, column=column))
        except ValueError as error:
            misuse(f"--field {field}: {error}")
    place = reached(database)
    for each in wanted:
        with working(f"Promoting {each.field} of {name}"):
            is_new = promote.promote(place, each, schema=schema)
        typer.echo(f"{each.column}: " + ("promoted" if is_new else "was promoted already"))


def _warn_of_another(database: str | None) -> None:
    if database:
        typer.echo("warning: a database of your own is named, so this one is not used", err=True)
