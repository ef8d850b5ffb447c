"""`rejoinder retain`: forgetting how answers came, after a while."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rejoinder.cli.database import DEFAULT_SCHEMA, Database, Schema
from rejoinder.cli.offline import opened, progress, run
from rejoinder.cli.streams import Problems, misuse

if TYPE_CHECKING:
    from rejoinder.offline.retaining import Policy, Refused, Retained

_AGE: Final = re.compile(r"(?P<number>\d{1,6})(?P<unit>[dhm])")
_UNITS: Final = {"d": "days", "h": "hours", "m": "minutes"}

EventsAfter = Annotated[
    str | None,
    typer.Option(
        "--events-after", help="Forget what agents said in their own words so long after a turn: 30d, 12h."
    ),
]
FramesAfter = Annotated[
    str | None,
    typer.Option(
        "--frames-after", help="Join what clients were sent word by word so long after a turn: 365d."
    ),
]


def retain(
    *,
    events_after: EventsAfter = None,
    frames_after: FramesAfter = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be freed.")] = False,
    database: Database = None,
    schema: Schema = DEFAULT_SCHEMA,
) -> None:
    """Forget how answers came, in all tenants. Messages, turns and what they cost stay, and turns can be replayed.

    The frames of a turn are joined once it is proven that they make the stored message. Where they do not, they stay,
    and the turn is named; exit 1 then. Interrupted, it is taken up again by the same command.

    Example: rejoinder retain --events-after 30d --frames-after 365d --dry-run
    """
    policy = policy_of(events_after, frames_after)
    if policy is None:
        misuse("retain: say what is to be forgotten, as in --events-after 30d or --frames-after 365d")
    problems = Problems()
    retained = run(_retain(policy, problems, database, schema, dry_run=dry_run))
    would = "would be " if dry_run else ""
    for freed, what, asked in (
        (retained.events, "without their events", policy.events_after),
        (retained.frames, "in one piece", policy.frames_after),
    ):
        if asked is not None:
            typer.echo(f"{freed.turns:>10,}  turns {would}{what}")
            typer.echo(f"{freed.pages:>10,}  pages and {freed.bytes:,} bytes {would}freed")
    problems.exit()


def policy_of(events_after: str | None, frames_after: str | None) -> Policy | None:
    """The policy that options say, or None if they say nothing. Ends with 2 if it is none."""
    from rejoinder.offline.retaining import Policy

    if events_after is None and frames_after is None:
        return None
    policy = Policy(_age("--events-after", events_after), _age("--frames-after", frames_after))
    try:
        policy.check()
    except ValueError as error:
        misuse(f"--events-after {events_after} --frames-after {frames_after}: {error}")
    return policy


def _age(option: str, text: str | None) -> timedelta | None:
    if text is None:
        return None
    found = _AGE.fullmatch(text)
    if found is None:
        misuse(f"{option} {text}: say a number of days, hours or minutes, as in 30d, 12h or 90m")
    return timedelta(**{_UNITS[found["unit"]]: int(found["number"])})


async def _retain(
    policy: Policy, problems: Problems, database: str | None, schema: str, *, dry_run: bool
) -> Retained:
    from rejoinder.offline import retaining

    def refused(turn: Refused) -> None:
        problems.tell("", turn)

    async with opened(database, schema) as store:
        with progress("Forgetting", "turns") as told:
            return await retaining.retain(store, policy, refused=refused, dry_run=dry_run, progress=told)
