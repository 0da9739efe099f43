"""Removes archives of Scrapy projects that no version has any more, and no job that may still run.

A version goes with its project, or when many came after it. What was submitted before that is in the read model by the
time of the second look, an hour later, which goes by where the ledger stands then; who uploads the same archive again
holds it meanwhile, and makes a version of it.
"""

import asyncio
import logging
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psycopg
import psycopg_pool
from psycopg.rows import class_row

from api.config.store import Pool
from api.spiders.archives import ARCHIVES
from services.ledger.commands import Probe
from services.runtime.commander import Asker
from services.runtime.errors import BlobFault, BrokerFault, LedgerUnavailable
from services.runtime.health import Progress
from services.runtime.ids import uuid7
from services.runtime.postgres_faults import reason_of
from services.runtime.sql import blocks
from services.scheduler.leftover_keys import SQL as KEYS_SQL
from services.scheduler.read_model import reading
from services.scheduler.sweeping import again_and_again, held

SQL = blocks(Path(__file__).with_name("leftover_archives.sql"))
SWEEP_SECONDS = 3600.0  # also the least time between the two looks; no submission is under way for so long

log = logging.getLogger(__name__)


class Archives(Protocol):
    """Where archives are; `services.runtime.blob.BlobStore` is one."""

    def keys(self, prefix: str) -> list[str]:
        """Return what lies below a prefix; blocks. BlobFault when the store does not say."""

    async def delete(self, key: str) -> None:
        """Remove a blob; raise BlobFault when the store does not say that it is gone."""


@dataclass(frozen=True, slots=True)
class _Org:
    org_id: str
    partition: int


class LeftoverArchives:
    """Looks at the archives of each org; what nobody has at two looks goes."""

    def __init__(self, pool: Pool, archives: Archives, ledger: Asker, progress: Progress) -> None:
        self._pool, self._archives, self._ledger, self._progress = pool, archives, ledger, progress
        self._seen: frozenset[str] = frozenset()  # archives that nobody had at the look before

    async def run(self) -> None:
        """Sweep until cancelled."""
        await again_and_again(self.sweep, SWEEP_SECONDS, self._progress)

    async def sweep(self) -> str:
        """Look once at the archives of every org; return what kept it from that, or nothing."""
        seen: set[str] = set()
        try:
            for org in await self._orgs():
                seen |= await self._look(org)
                self._progress.beat()
        except (psycopg.Error, psycopg_pool.PoolTimeout, BlobFault, LedgerUnavailable, BrokerFault) as error:
            return held(
                self._progress,
                "leftover archives stay",
                f"archives that are left over are not looked for: {reason_of(error)}",
            )
        self._seen = frozenset(seen)
        return ""

    async def _look(self, org: _Org) -> set[str]:
        """Remove what nobody has for the second time, and return what nobody has for the first."""
        there = await asyncio.to_thread(self._archives.keys, f"{org.org_id}/{ARCHIVES}")
        unused = await self._unused(org, there)
        if again := unused & self._seen:
            probe = Probe(command_id=uuid7(), requester=self._ledger.boot_id)
            position = (await self._ledger.ask(org.partition, probe)).position
            for key in sorted(again):
                await self._remove(org, key, position)
        return unused

    async def _orgs(self) -> list[_Org]:
        async with self._pool.connection() as connection, connection.cursor(row_factory=class_row(_Org)) as cursor:
            return await (await cursor.execute(SQL["orgs_to_look_at"])).fetchall()

    async def _unused(self, org: _Org, keys: Collection[str]) -> set[str]:
        if not keys:
            return set()
        async with reading(self._pool) as connection:
            values = {"org_id": org.org_id, "keys": list(keys)}
            return {key for (key,) in await (await connection.execute(SQL["unused"], values)).fetchall()}

    async def _remove(self, org: _Org, key: str, position: int) -> None:
        """Remove an archive, unless somebody has it again, or the read model is behind."""
        async with reading(self._pool) as connection:
            await connection.execute(SQL["hold_archive_alone"], {"ref": key})
            place = {"partition": org.partition, "position": position}
            reached = await (await connection.execute(KEYS_SQL["reached"], place)).fetchone()
            values = {"org_id": org.org_id, "keys": [key]}
            if reached and await (await connection.execute(SQL["unused"], values)).fetchone():
                await self._archives.delete(key)
                log.info("leftover archive removed", extra={"org_id": org.org_id, "key": key})
