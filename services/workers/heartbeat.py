"""A worker's sign of life to every partition of the ledger; the answers name jobs to drop."""

import asyncio
import logging
from typing import Protocol

from services.ledger.commands import AnnounceWorker
from services.ledger.replies import Drop, Reply
from services.runtime.commander import Asker
from services.runtime.errors import LedgerUnavailable
from services.runtime.health import Progress
from services.runtime.ids import uuid7
from services.runtime.ledger_watch import ANSWER_SECONDS, keep_hearing
from services.runtime.metrics import level
from services.workers.executor import Run
from services.workers.slots import Slots

log = logging.getLogger(__name__)


class Jobs(Protocol):
    """The jobs that this worker runs; the executor has them."""

    def running(self) -> tuple[Run, ...]:
        """Return what runs now."""

    def drop(self, job_ids: tuple[str, ...], position: int) -> None:
        """Stop these jobs at once, but for those that the ledger granted after this position."""


class Heartbeat:
    """Announces one worker to every partition, until cancelled; then once more with `last`."""

    def __init__(
        self,
        ledger: Asker,
        jobs: Jobs,
        slots: Slots,
        progress: Progress,
        *,
        worker_id: str,
        kind: str,
        partitions: int,
        every_seconds: float,
    ) -> None:
        self._ledger = ledger
        self._jobs = jobs
        self._slots = slots
        self._progress = progress
        self._worker_id = worker_id
        self._kind = kind
        self._partitions = partitions
        self._every_seconds = every_seconds
        ledger.on_unasked(self._obey)

    async def run(self) -> None:
        """Announce at once and at every interval; the readiness tells whether every partition answered."""
        await keep_hearing(
            self._announce,
            self._partitions,
            self._progress,
            every_seconds=self._every_seconds,
            figures=self._figures,
        )

    def _figures(self) -> dict[str, object]:
        level("worker_slots_free", self._slots.free)
        return {"slots": self._slots.total, "free": self._slots.free}

    async def last(self) -> None:
        """Say to every partition that this worker takes no more tasks and has handed back those it had."""
        commands = (self._command((), stopping=True) for _ in range(self._partitions))
        await asyncio.gather(*(self._ledger.tell(number, command) for number, command in enumerate(commands)))

    async def _announce(self, partition: int) -> bool:
        tasks = (run.task for run in self._jobs.running())
        running = tuple(task.job_id for task in tasks if task.partition == partition)
        try:
            reply = await self._ledger.ask(partition, self._command(running), ANSWER_SECONDS)
        except LedgerUnavailable as error:
            log.warning("heartbeat not answered", extra={"partition": partition, "reason": str(error)})
            return False
        self._obey(reply)
        return True

    def _command(self, running: tuple[str, ...], *, stopping: bool = False) -> AnnounceWorker:
        return AnnounceWorker(
            command_id=uuid7(),
            requester=self._ledger.boot_id,
            actor=f"worker:{self._worker_id}",
            worker_id=self._worker_id,
            boot_id=self._ledger.boot_id,
            kind=self._kind,
            slots=self._slots.total,
            free_slots=0 if stopping else self._slots.free,
            running=running,
            stopping=stopping,
        )

    def _obey(self, reply: Reply) -> None:
        if isinstance(reply.body, Drop):
            self._jobs.drop(reply.body.job_ids, reply.position)
