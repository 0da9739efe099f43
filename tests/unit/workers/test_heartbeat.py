"""The sign of life, and what its answers do."""

import asyncio

from services.ledger.commands import AnnounceWorker
from services.ledger.replies import Drop, Reply
from services.runtime.errors import LedgerUnavailable
from services.runtime.health import Progress
from services.workers.executor import Run
from services.workers.heartbeat import Heartbeat
from services.workers.slots import Slots
from tests.eventually import eventually
from tests.unit.workers.fakes import MemoryLedger, task

PARTITIONS = 4


class Jobs:
    """Jobs that run, and those that were to be dropped."""

    def __init__(self) -> None:
        self.runs: tuple[Run, ...] = ()
        self.dropped: list[tuple[tuple[str, ...], int]] = []

    def running(self) -> tuple[Run, ...]:
        """Return what runs now."""
        return self.runs

    def drop(self, job_ids: tuple[str, ...], position: int) -> None:
        """Remember it."""
        self.dropped.append((job_ids, position))


def heartbeat(ledger: MemoryLedger, jobs: Jobs, progress: Progress, every_seconds: float = 60.0) -> Heartbeat:
    """Return a heartbeat of worker-1."""
    return Heartbeat(
        ledger,
        jobs,
        Slots(8),
        progress,
        worker_id="worker-1",
        kind="workflow",
        partitions=PARTITIONS,
        every_seconds=every_seconds,
    )


def run(job_id: str, partition: int) -> Run:
    """Return a job that runs."""
    return Run(task(job_id, partition), 1, 1, asyncio.create_task(asyncio.sleep(0)))


async def test_every_partition_hears_which_of_its_jobs_run() -> None:
    ledger, jobs, progress = MemoryLedger(), Jobs(), Progress("ledger")
    jobs.runs = (run("job-1", 1), run("job-2", 3))
    beating = asyncio.create_task(heartbeat(ledger, jobs, progress).run())
    await ledger.until(lambda: len(ledger.told) == PARTITIONS)
    beating.cancel()
    said = dict(zip(ledger.partitions, ledger.told, strict=True))
    assert [said[number].running for number in range(PARTITIONS)] == [(), ("job-1",), (), ("job-2",)]  # type: ignore[union-attr]
    assert all(isinstance(each, AnnounceWorker) and each.slots == 8 and not each.stopping for each in ledger.told)


async def test_jobs_named_in_an_answer_are_dropped_as_of_the_position_of_the_answer() -> None:
    jobs = Jobs()
    ledger = MemoryLedger(lambda command: Drop(job_ids=command.running))  # type: ignore[union-attr]
    ledger.position = 7
    jobs.runs = (run("job-1", 1),)
    beating = asyncio.create_task(heartbeat(ledger, jobs, Progress("ledger")).run())
    await eventually(lambda: len(jobs.dropped) == PARTITIONS)
    beating.cancel()
    assert (("job-1",), 7) in jobs.dropped


async def test_an_unasked_drop_is_obeyed() -> None:
    ledger, jobs = MemoryLedger(), Jobs()
    heartbeat(ledger, jobs, Progress("ledger"))
    ledger.unasked[0](Reply(command_id="", requester="boot-1", body=Drop(job_ids=("job-1",)), position=3))
    assert jobs.dropped == [(("job-1",), 3)]


async def test_the_readiness_tells_that_a_partition_does_not_answer() -> None:
    silent = {2}

    def answer(_command: object) -> object:
        return LedgerUnavailable("no decider") if ledger.partitions[-1] in silent else Drop()

    ledger, progress = MemoryLedger(answer), Progress("ledger")
    beating = asyncio.create_task(heartbeat(ledger, Jobs(), progress, every_seconds=0.01).run())
    await ledger.until(lambda: len(ledger.told) > PARTITIONS)
    assert not progress.state()["ready"]
    silent.clear()
    await eventually(lambda: progress.state()["ready"])
    beating.cancel()


async def test_the_last_word_goes_to_every_partition() -> None:
    ledger = MemoryLedger()
    await heartbeat(ledger, Jobs(), Progress("ledger")).last()
    assert sorted(ledger.partitions) == list(range(PARTITIONS))
    assert all(isinstance(said, AnnounceWorker) and said.stopping and not said.free_slots for said in ledger.told)
