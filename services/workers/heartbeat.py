"""A worker's sign of life to every partition of the ledger; the answers name jobs to drop."""

import asyncio
import logging
from typing import Protocol

from services.ledger.commands import AnnounceWorker
from services.ledger.replies import Drop, Reply
from services.ledger.tasks import Task
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

    def claiming(self) -> tuple[Task, ...]:
        """Return what it asks for, and what may be granted by now."""

    def drop(self, job_ids: tuple[str, ...], among: tuple[Run, ...] | None = None) -> None:
        """Stop these jobs at once; only runs of `among`, where given."""


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
        ledger.on_unasked(self._on_unasked)

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
        commands = (self._command(uuid7(), (), stopping=True) for _ in range(self._partitions))
        await asyncio.gather(*(self._ledger.tell(number, command) for number, command in enumerate(commands)))

    async def _announce(self, partition: int) -> bool:
        runs = self._jobs.running()
        command_id = uuid7()

        def said_now() -> AnnounceWorker:
            return self._command(command_id, self._held(partition))

        try:
            reply = await self._ledger.ask(partition, said_now(), ANSWER_SECONDS, said_now)
        except LedgerUnavailable as error:
            log.warning("heartbeat not answered", extra={"partition": partition, "reason": str(error)})
            return False
        if isinstance(reply.body, Drop):
            self._jobs.drop(reply.body.job_ids, runs)  # not a run that began since: the answer knows nothing of it
        return True

    def _held(self, partition: int) -> tuple[str, ...]:
        """Return the jobs that are not lost to this worker: a claim is in the log ahead of what is said after it."""
        tasks = (*(run.task for run in self._jobs.running()), *self._jobs.claiming())
        return tuple(dict.fromkeys(task.job_id for task in tasks if task.partition == partition))

    def _command(self, command_id: str, held: tuple[str, ...], *, stopping: bool = False) -> AnnounceWorker:
        return AnnounceWorker(
            command_id=command_id,
            requester=self._ledger.boot_id,
            actor=f"worker:{self._worker_id}",
            worker_id=self._worker_id,
            boot_id=self._ledger.boot_id,
            kind=self._kind,
            slots=self._slots.total,
            free_slots=0 if stopping else self._slots.free,
            running=held,
            stopping=stopping,
        )

    def _on_unasked(self, reply: Reply) -> None:
        if isinstance(reply.body, Drop):
            self._jobs.drop(reply.body.job_ids)
