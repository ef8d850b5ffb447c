"""`rejoinder doctor --data`: what is wrong with what is stored, and what can be done about it."""

from __future__ import annotations

import os
import socket
from collections import Counter
from typing import TYPE_CHECKING, Final

import typer

from rejoinder.cli.offline import opened, progress

if TYPE_CHECKING:
    from rejoinder.offline.checking import Translators
    from rejoinder.stores.postgres.store import PostgresConversationStore

NO_REMEDY: Final = "nothing can be done here: what is right cannot be known; look into a backup"


class Examination:
    """One look at everything. It tells what it finds as it finds it, and counts."""

    def __init__(
        self, store: PostgresConversationStore, known: Translators, *, repair: bool, dry_run: bool
    ) -> None:
        self._store = store
        self._known = known
        self._repair = repair and not dry_run
        self._promises = repair and dry_run
        self._left = 0

    async def everything(self) -> bool:
        """Whether all is well, or has been mended."""
        await self._rows()
        turns = await self._turns()
        for tenant, count in await self._store.count_unnamed_blobs():
            said = "are named by nothing that is stored here; an application may know them, so they stay"
            typer.echo(f"{'-':<6}blobs: {count} of tenant {tenant} {said}")
        if self._left:
            typer.echo(
                f"{'WRONG':<6}data: {turns} turns and all rows were looked at, {self._left} faults are left"
            )
        else:
            typer.echo(f"{'ok':<6}data: {turns} turns and all rows were looked at")
        return not self._left

    async def _rows(self) -> None:
        from rejoinder.stores.postgres.faults import REMEDIES

        kinds: Counter[str] = Counter()
        async for fault in self._store.list_faults():
            self._tell(fault, REMEDIES[fault.kind])
            kinds[fault.kind] += 1
        for kind in kinds:
            if self._repair and REMEDIES[kind] is not None:
                await self._store.mend(kind)
        if self._repair and kinds["claims"]:
            from rejoinder.offline.mending import seal_abandoned
            from rejoinder.ports.clock import SystemClock

            owner = f"doctor:{socket.gethostname()}:{os.getpid()}"
            await seal_abandoned(self._store, owner=owner, clock=SystemClock(), translators=self._known)

    async def _turns(self) -> int:
        from rejoinder.offline.checking import check_all, count_turns
        from rejoinder.offline.mending import mend

        tenants = await self._store.list_tenants()
        checked = 0
        with progress("Checking", "turns") as told:
            total = await count_turns(self._store, tenants=tenants)
            for tenant in tenants:
                async for check in check_all(self._store, tenants=[tenant], translators=self._known):
                    checked += 1
                    told(checked, total)
                    if check.differences:
                        remedy = await mend(
                            self._store,
                            check,
                            tenant=tenant,
                            translators=self._known,
                            dry_run=not self._repair,
                        )
                        self._tell(check, remedy)
        return checked

    def _tell(self, fault: object, remedy: str | None) -> None:
        typer.echo(f"{'WRONG':<6}{fault}")
        if remedy is None:
            self._left += 1
            typer.echo(f"{'':<6}{NO_REMEDY}")
        elif self._repair:
            typer.echo(f"{'':<6}mended: {remedy}")
        else:
            self._left += 1
            typer.echo(f"{'':<6}{'would be mended' if self._promises else '--repair'}: {remedy}")


async def examine(
    database: str | None, schema: str, known: Translators, *, repair: bool, dry_run: bool
) -> bool:
    """Look at all that is stored. Answers whether it is well, or has been mended."""
    async with opened(database, schema) as store:
        return await Examination(store, known, repair=repair, dry_run=dry_run).everything()
