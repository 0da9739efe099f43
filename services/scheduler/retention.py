"""Asks the ledger to let the results expire that are past retention.

Nothing exact rests on it: the ledger says whether it is time, a job that is asked about again has expired already, and
one that nobody asked about is found by the next sweep, or by another process. It keeps no list: the read model is one.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import psycopg
import psycopg_pool

from projections.postgres.rows import NEVER
from services.ledger.commands import ExpireJob
from services.ledger.replies import Done, Refused
from services.runtime.commander import Asker
from services.runtime.errors import BrokerFault, LedgerUnavailable
from services.runtime.health import Progress
from services.runtime.ids import uuid7
from services.runtime.metrics import count
from services.runtime.postgres_faults import reason_of
from services.scheduler.retained import Overdue, Retained
from services.scheduler.sweeping import again_and_again, held

log = logging.getLogger(__name__)
ACTOR = "scheduler"
STAY = "results do not expire"
AT_ONCE = 8  # asked of one decider: each may have to load its job from Postgres, and must not hold up others for long
AWAY = (LedgerUnavailable, BrokerFault)  # come again
STORE_AWAY = (psycopg.Error, psycopg_pool.PoolTimeout)


class Retention:
    """Sweeps through what has ended, again and again; a partition whose decider is away holds up no other."""

    def __init__(self, retained: Retained, ledger: Asker, poll_seconds: float, progress: Progress) -> None:
        self._retained, self._ledger = retained, ledger
        self._poll_seconds, self._progress = poll_seconds, progress
        self._longer: set[str] = set()  # orgs whose decider keeps results for longer than we think: no use to go on

    async def run(self) -> None:
        """Sweep until cancelled."""
        await again_and_again(self.sweep, self._poll_seconds, self._progress)

    async def sweep(self) -> str:
        """Ask once about every job that is past retention; return what kept it from that, or nothing."""
        seen: dict[str, Overdue] = {}
        away: dict[int, str] = {}
        expired = 0
        try:
            while found := await self._retained.look(seen, away):
                expired += await self._ask_all(found, away)
                for each in found:
                    seen[each.org_id] = max(seen.get(each.org_id, each), each, key=lambda job: job.place)
                seen |= {org_id: replace(seen[org_id], finished_at=NEVER) for org_id in self._longer}
                self._longer.clear()
                self._progress.beat()
        except STORE_AWAY as error:
            return held(self._progress, STAY, f"Postgres does not say what is past retention: {reason_of(error)}")
        if expired:
            log.info("results expired", extra={"jobs": expired})
        for partition, reason in away.items():
            return held(self._progress, STAY, f"results of partition {partition} do not expire: {reason}")
        return ""

    async def _ask_all(self, found: Sequence[Overdue], away: dict[int, str]) -> int:
        partitions: defaultdict[int, list[Overdue]] = defaultdict(list)
        for each in found:
            partitions[each.partition].append(each)
        asked = (self._ask_some(partition, some, away) for partition, some in partitions.items())
        return sum(await asyncio.gather(*asked))

    async def _ask_some(self, partition: int, some: Sequence[Overdue], away: dict[int, str]) -> int:
        """Ask about jobs of one partition, a few at a time; return how many have expired by that."""
        expired = 0
        for start in range(0, len(some), AT_ONCE):
            answers = await asyncio.gather(*map(self._ask, some[start : start + AT_ONCE]), return_exceptions=True)
            for answer in answers:
                if isinstance(answer, AWAY):
                    away[partition] = str(answer)
                elif isinstance(answer, BaseException):
                    raise answer
                else:
                    expired += answer
            if partition in away:
                break
        count("results_expired", expired)
        return expired

    async def _ask(self, job: Overdue) -> bool:
        """Return whether the results of a job have expired."""
        command = ExpireJob(
            command_id=uuid7(), org_id=job.org_id, job_id=job.job_id, requester=self._ledger.boot_id, actor=ACTOR
        )
        reply = await self._ledger.ask(job.partition, command)
        if isinstance(reply.body, Refused) and reply.body.code == "retained":
            self._longer.add(job.org_id)
            log.warning("results are kept for longer", extra={"org_id": job.org_id, "job_id": job.job_id})
        return isinstance(reply.body, Done)
