"""All commands, in the order in which `--help` lists them."""

from __future__ import annotations

from typing import Annotated

import typer

from rejoinder import __version__
from rejoinder.cli import (
    chunk_filters,
    counting,
    database,
    doctor,
    erasing,
    exporting,
    importing,
    message_filters,
    migrating,
    replaying,
    reprojecting,
    retaining,
    serving,
    tailing,
    translate_filter,
)
from rejoinder.cli.depth import deeply

app = typer.Typer(
    name="rejoinder",
    help="The Python back half of the AI SDK. The filters read standard input and write standard output, "
    "one JSON a line; they exit 0, or 1 with one line per problem on standard error, or 2 for wrong use.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def rejoinder(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Say the version.", callback=_say_version, is_eager=True)
    ] = False,
) -> None:
    """Hold what every command shares."""


app.command()(serving.serve)
app.command()(serving.worker)
app.command()(serving.demo)
app.command()(doctor.doctor)
app.command()(deeply(chunk_filters.fold))
app.command()(deeply(chunk_filters.explode))
app.command("check-stream")(deeply(chunk_filters.check_stream))
app.command()(deeply(chunk_filters.downlevel))
app.command()(deeply(translate_filter.translate))
app.command()(deeply(message_filters.convert))
app.command()(deeply(message_filters.validate))
app.add_typer(database.app, name="db")
app.command("import")(importing.import_)
app.command()(exporting.export)
app.command()(migrating.migrate)
app.command()(replaying.replay)
app.command()(reprojecting.reproject)
app.command()(counting.stats)
app.command()(tailing.tail)
app.command()(retaining.retain)
app.command()(erasing.erase)
