"""Destroys keys of jobs that never were: their submission was refused, or nobody heard of it; or that are no more.

A key is a leftover when nobody has asked for it for a week and the ledger knows no such job, or a deleted one, of which
a submission that is repeated late makes a key again. No command that was sent before is undecided then (the decider has
answered a later one), and the read model has all that came of them.
"""

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import psycopg_pool
from psycopg.rows import class_row

from api.config.store import Pool
from services.ledger.commands import Probe
from services.runtime.commander import Asker
from services.runtime.errors import BrokerFault, LedgerUnavailable
from services.runtime.health import Progress
from services.runtime.ids import uuid7
from services.runtime.postgres_faults import reason_of
from services.runtime.sql import blocks
from services.scheduler.read_model import reading
from services.scheduler.sweeping import again_and_again, held

SQL = blocks(Path(__file__).with_name("leftover_keys.sql"))
GRACE_SECONDS = 7 * 86_400.0  # as long as a command may lie on its topic, and far longer than a submission takes
SWEEP_SECONDS = 3600.0
MOST = 1_000  # of one look

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OldKey:
    """A key that nobody asked for of late, of a job that may be or not."""

    org_id: str
    job_id: str
    partition: int
    touched_at: datetime


BEFORE_ALL = OldKey("", "", 0, datetime(1970, 1, 1, tzinfo=UTC))


class LeftoverKeys:
    """Looks at each key once it is old, in the order of age; what is away is come back to with the next sweep."""

    def __init__(
        self, pool: Pool, ledger: Asker, progress: Progress, *, grace_seconds: float = GRACE_SECONDS, most: int = MOST
    ) -> None:
        self._pool, self._ledger, self._progress = pool, ledger, progress
        self._grace_seconds, self._most = grace_seconds, most
        self._seen = BEFORE_ALL  # keys up to here belong to jobs

    async def run(self) -> None:
        """Sweep until cancelled."""
        await again_and_again(self.sweep, SWEEP_SECONDS, self._progress)

    async def sweep(self) -> str:
        """Look at every key that is old by now; return what kept it from that, or nothing."""
        try:
            while keys := await self._old():
                for partition, some in _by_partition(keys).items():
                    if not await self._destroy(partition, some):
                        return ""  # the read model is not so far yet
                self._seen = keys[-1]
                self._progress.beat()
        except (psycopg.Error, psycopg_pool.PoolTimeout, LedgerUnavailable, BrokerFault) as error:
            return held(
                self._progress,
                "leftover keys stay",
                f"keys of jobs that never were are not looked for: {reason_of(error)}",
            )
        return ""

    async def _old(self) -> list[OldKey]:
        values = {
            "touched_at": self._seen.touched_at,
            "org_id": self._seen.org_id,
            "job_id": self._seen.job_id,
            "grace_seconds": self._grace_seconds,
            "most": self._most,
        }
        async with self._pool.connection() as connection, connection.cursor(row_factory=class_row(OldKey)) as cursor:
            return await (await cursor.execute(SQL["old_keys"], values)).fetchall()

    async def _destroy(self, partition: int, keys: Sequence[OldKey]) -> bool:
        """Destroy those of these keys whose jobs never were; False where that cannot be told yet."""
        probe = Probe(command_id=uuid7(), requester=self._ledger.boot_id)
        position = (await self._ledger.ask(partition, probe)).position
        values = {
            "orgs": [key.org_id for key in keys],
            "jobs": [key.job_id for key in keys],
            "grace_seconds": self._grace_seconds,
            "partition": partition,
            "position": position,
        }
        async with reading(self._pool) as connection:
            # First: the read model may come so far in between, and keys that were not looked at would count as seen.
            if not await (await connection.execute(SQL["reached"], values)).fetchone():
                return False
            destroyed = (await connection.execute(SQL["destroy_leftovers"], values)).rowcount
        if destroyed:
            log.info("keys of jobs that never were destroyed", extra={"partition": partition, "keys": destroyed})
        return True


def _by_partition(keys: Sequence[OldKey]) -> dict[int, list[OldKey]]:
    found: defaultdict[int, list[OldKey]] = defaultdict(list)
    for key in keys:
        found[key.partition].append(key)
    return found
