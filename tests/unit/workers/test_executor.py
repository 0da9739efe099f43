"""Claim, grant, run, report: and what stops a run."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from msgspec.structs import replace

from services.ledger.commands import ClaimTask, ReportProgress
from services.ledger.replies import Granted, Refused
from services.ledger.reports import Failed, HandedBack, Logged, NodeReport
from services.ledger.tasks import Task
from services.runtime.errors import LedgerUnavailable, NotDelivered
from services.runtime.metrics import exposition
from services.workers import executor as executor_module
from services.workers.attempt import Report
from services.workers.executor import Executor
from services.workers.slots import Slots
from tests.eventually import eventually
from tests.unit.ledger.modules import DONE, PLAN, chunk
from tests.unit.workers.fakes import MemoryLedger, granted, task

NODE = NodeReport(step=0, node_id="a", node_kind="service")
OUTCOME = Failed(error_type="providers_exhausted")
DEADLINE_SECONDS = 5.0


class Jobs:
    """Attempts that tell one node, wait until they may go on, and end."""

    def __init__(self) -> None:
        self.started: list[tuple[str, int]] = []
        self.cancelled: list[str] = []
        self.go_on = asyncio.Event()

    async def attempt(self, of: Task, grant: Granted) -> AsyncGenerator[Report]:
        """Run one."""
        self.started.append((of.job_id, grant.attempt))
        try:
            yield Report((NODE,))
            await self.go_on.wait()
            yield Report((), OUTCOME)
        except asyncio.CancelledError:
            self.cancelled.append(of.job_id)
            raise


class Fixture:
    """An executor with its surroundings."""

    def __init__(self, answer: Any = None, slots: int = 2) -> None:
        self.jobs = Jobs()
        self.ledger = MemoryLedger(answer or (lambda _command: granted(1)))
        self.slots = Slots(slots)
        self.executor = Executor(self.ledger, "worker-1", self.slots, self.jobs.attempt)
        self.claimed: list[str] = []

    async def accept(self, job_id: str = "job-1") -> None:
        """Accept a task."""
        await asyncio.wait_for(
            self.executor.accept(task(job_id), lambda: self.claimed.append(job_id)), DEADLINE_SECONDS
        )

    async def idle(self) -> None:
        """Wait until every slot is free."""
        await eventually(lambda: self.slots.free == self.slots.total)

    def outcomes(self) -> list[tuple[str, Any]]:
        """Return the outcomes told."""
        return [(report.job_id, report.outcome) for report in self.ledger.reports() if report.outcome]


async def test_a_task_is_claimed_acked_run_and_reported_to_its_partition() -> None:
    it = Fixture()
    it.jobs.go_on.set()
    await it.accept()
    await it.idle()
    claim, first, last = it.ledger.told
    assert isinstance(claim, ClaimTask)
    assert (claim.dispatch, claim.worker_id, claim.boot_id, claim.requester) == (1, "worker-1", "boot-1", "boot-1")
    assert isinstance(first, ReportProgress)
    assert isinstance(last, ReportProgress)
    assert (first.nodes, first.outcome, first.attempt, first.boot_id) == ((NODE,), None, 1, "boot-1")
    assert (last.nodes, last.outcome) == ((), OUTCOME)
    assert it.ledger.partitions == [3, 3, 3]
    assert it.claimed == ["job-1"]


async def test_a_refused_claim_is_acked_and_dropped() -> None:
    it = Fixture(lambda _command: Refused(code="not_dispatched"))
    await it.accept()
    await it.idle()
    assert it.claimed == ["job-1"]
    assert it.jobs.started == []


async def test_a_task_is_claimed_only_when_a_slot_is_free() -> None:
    it = Fixture(slots=1)
    await it.accept("job-1")
    waiting = asyncio.create_task(it.accept("job-2"))
    await it.ledger.until(lambda: len(it.ledger.told) == 2)
    assert not waiting.done()
    assert [command.job_id for command in it.ledger.told] == ["job-1", "job-1"]
    it.jobs.go_on.set()
    await waiting
    await it.idle()
    assert [job_id for job_id, _ in it.jobs.started] == ["job-1", "job-2"]


async def test_a_task_is_not_acked_before_its_claim_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_module, "RETRY_SECONDS", 0)
    answers = [LedgerUnavailable("no decider"), LedgerUnavailable("no decider"), granted(1)]
    unacked: list[list[str]] = []

    def answer(_command: object) -> object:
        unacked.append(list(it.claimed))
        return answers.pop(0)

    it = Fixture(answer)
    it.jobs.go_on.set()
    await it.accept()
    await it.idle()
    assert unacked == [[], [], []]
    assert it.claimed == ["job-1"]
    assert it.outcomes() == [("job-1", OUTCOME)]


async def test_a_dropped_job_stops_at_once_and_tells_that_it_did_so() -> None:
    it = Fixture()
    await it.accept()
    await it.ledger.until(it.ledger.reports)
    it.executor.drop(("job-1", "unknown"), position=2)
    await it.idle()
    await eventually(lambda: it.outcomes() == [("job-1", HandedBack())])
    assert it.jobs.cancelled == ["job-1"]
    assert it.executor.running() == ()


async def test_40_a_drop_that_overtakes_the_grant_keeps_the_job_from_beginning() -> None:
    def answer(_command: object) -> object:
        it.executor.drop(("job-1",), position=2)
        return granted(1)

    it = Fixture(answer)
    await it.accept()
    await it.idle()
    assert it.jobs.started == []
    assert it.outcomes() == [("job-1", HandedBack())]
    it.ledger.answer = lambda _command: granted(2)
    it.jobs.go_on.set()
    await it.accept()
    await it.idle()
    assert it.outcomes()[1:] == [("job-1", OUTCOME)]  # the next grant is another matter


async def test_40_a_drop_that_overtakes_the_grants_of_a_task_that_came_twice_keeps_the_job_from_beginning() -> None:
    answers = [asyncio.get_running_loop().create_future() for _ in range(2)]
    waiting = iter(answers)
    it = Fixture(lambda _command: next(waiting))
    await it.accept()
    await it.accept()
    await it.ledger.until(lambda: len(it.ledger.told) == 2)
    it.executor.drop(("job-1",), position=2)
    for answer in answers:
        answer.set_result(granted(1))
        await eventually(answer.done)
    it.jobs.go_on.set()
    await it.idle()
    assert it.jobs.started == []
    assert it.outcomes() == [("job-1", HandedBack())]


async def test_a_drop_that_was_meant_for_an_earlier_run_leaves_the_new_one_alone() -> None:
    def answer(_command: object) -> object:
        it.executor.drop(("job-1",), position=7)
        return granted(2)

    it = Fixture(answer)
    it.ledger.position = 9
    await it.accept()
    await it.ledger.until(it.ledger.reports)
    it.executor.drop(("job-1",), position=8)
    it.jobs.go_on.set()
    await it.idle()
    assert it.outcomes() == [("job-1", OUTCOME)]


async def test_a_task_that_comes_twice_runs_once() -> None:
    it = Fixture()
    await it.accept()
    await it.ledger.until(it.ledger.reports)
    await it.accept()
    await eventually(lambda: len(it.claimed) == 2 and it.slots.free == 1)
    it.jobs.go_on.set()
    await it.idle()
    assert it.jobs.started == [("job-1", 1)]
    assert it.outcomes() == [("job-1", OUTCOME)]


async def test_a_newer_grant_for_a_job_stops_its_older_run() -> None:
    grants = [granted(1), granted(2)]
    it = Fixture(lambda _command: grants.pop(0))
    await it.accept()
    await it.ledger.until(it.ledger.reports)
    await it.accept()
    await it.ledger.until(lambda: len(it.ledger.reports()) == 2)
    it.jobs.go_on.set()
    await it.idle()
    assert it.jobs.cancelled == ["job-1"]
    assert [(report.attempt, report.outcome) for report in it.ledger.reports()] == [(1, None), (2, None), (2, OUTCOME)]


async def test_a_grant_that_comes_again_after_its_run_has_ended_begins_no_other_one() -> None:
    it = Fixture()
    it.jobs.go_on.set()
    await it.accept()
    await it.idle()
    await it.accept()
    await it.idle()
    assert it.jobs.started == [("job-1", 1)]
    assert it.claimed == ["job-1", "job-1"]
    it.ledger.answer = lambda _command: granted(2)
    await it.accept()
    await it.idle()
    assert it.jobs.started == [("job-1", 1), ("job-1", 2)]


async def test_a_report_is_told_again_until_the_broker_has_it() -> None:
    it = Fixture()
    tell, refusals = it.ledger.tell, [NotDelivered("broker away"), NotDelivered("broker away")]

    async def unreliable(partition: int, command: Any) -> None:
        if isinstance(command, ReportProgress) and refusals:
            raise refusals.pop()
        await tell(partition, command)

    it.ledger.tell = unreliable  # type: ignore[method-assign]
    it.jobs.go_on.set()
    await it.accept()
    await it.idle()
    assert it.outcomes() == [("job-1", OUTCOME)]


async def test_items_that_were_told_are_counted_by_their_outcome_with_the_bytes_of_their_chunks() -> None:
    async def attempt(_of: Task, _grant: Granted) -> AsyncGenerator[Report]:
        yield Report(items=(PLAN, chunk(0, 0, 10, errors=3)))
        yield Report(items=(chunk(1, 10, 12), Logged(number=0, lines=1, private=b"")), outcome=DONE)

    ledger, job = MemoryLedger(lambda _command: granted(1)), replace(task(), module="counted")
    executor = Executor(ledger, "worker-1", Slots(1), attempt)
    await executor.accept(job, lambda: None)
    await ledger.until(lambda: len(ledger.reports()) == 2)
    await executor.stop(DEADLINE_SECONDS)
    text = exposition().decode()
    assert 'jobledger_items_told_total{module="counted",outcome="succeeded"} 9.0' in text
    assert 'jobledger_items_told_total{module="counted",outcome="failed"} 3.0' in text
    assert 'jobledger_item_chunk_bytes_total{module="counted"} 34.0' in text


async def test_a_stop_lets_jobs_end_within_the_grace_and_hands_back_the_rest() -> None:
    it = Fixture()
    await it.accept("job-1")
    await it.ledger.until(it.ledger.reports)
    await it.executor.stop(grace_seconds=0.01)
    assert it.outcomes() == [("job-1", HandedBack())]
    waiting = asyncio.create_task(it.executor.accept(task("job-2"), lambda: None))
    await asyncio.wait({waiting}, timeout=0.01)
    assert not waiting.done()
    waiting.cancel()


async def test_a_job_that_ends_within_the_grace_is_not_handed_back() -> None:
    it = Fixture()
    await it.accept("job-1")
    await it.ledger.until(it.ledger.reports)
    stopping = asyncio.create_task(it.executor.stop(grace_seconds=DEADLINE_SECONDS))
    it.jobs.go_on.set()
    await stopping
    assert it.outcomes() == [("job-1", OUTCOME)]


async def test_an_error_that_no_report_can_carry_reaches_the_process() -> None:
    it = Fixture(lambda _command: RuntimeError("listening for replies ended"))
    await it.accept()
    with pytest.raises(RuntimeError, match="listening"):
        await asyncio.wait_for(it.executor.failed, DEADLINE_SECONDS)
    assert it.claimed == []
