"""Runs tasks: a slot, a claim, and with the grant the walk, told to the ledger report by report."""

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Collection
from dataclasses import dataclass

from msgspec.structs import replace

from services.ledger.commands import ClaimTask, ReportProgress
from services.ledger.replies import Granted, Refused, Reply
from services.ledger.reports import Chunk, HandedBack, ItemsReport, NodeReport, Outcome
from services.ledger.tasks import Task
from services.runtime import tracing
from services.runtime.commander import Asker
from services.runtime.errors import LedgerUnavailable, NotDelivered
from services.runtime.ids import uuid7
from services.runtime.logs import about, note
from services.runtime.metrics import count, level, timed
from services.workers import spans
from services.workers.attempt import Report
from services.workers.slots import Slots

BEGUN_KEPT = 10_000  # attempts; a grant is late by seconds, in which a worker begins far fewer
RETRY_SECONDS = 1.0  # between two tries to reach the ledger
ENDED = frozenset({"job_terminal", "job_deleted"})  # why a report on a job is refused that somebody else ended

log = logging.getLogger(__name__)
GIVEN_BACK = Report(outcome=HandedBack())
Attempt = Callable[[Task, Granted], AsyncGenerator[Report]]


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A granted job that this worker runs now."""

    task: Task
    attempt: int
    granted_at: int  # position of the ledger: what it said up to there is about earlier runs
    work: asyncio.Task[None]


class Executor:
    """Accepts tasks as slots are free; `failed` gets the first error that the process must not survive."""

    def __init__(self, ledger: Asker, worker_id: str, slots: Slots, attempt: Attempt) -> None:
        self._ledger = ledger
        self._worker_id = worker_id
        self._slots = slots
        self._attempt = attempt
        self._runs: dict[str, Run] = {}
        self._begun: OrderedDict[str, int] = OrderedDict()  # job -> newest attempt that ran or runs here
        self._works: set[asyncio.Task[None]] = set()
        self._claiming: list[Task] = []  # whose claims are not answered yet; a task may come twice
        self._unwanted: dict[str, int] = {}  # of these jobs, those that the ledger took away meanwhile; position
        self._notes: set[asyncio.Task[None]] = set()
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def accept(self, task: Task, claimed: Callable[[], None]) -> None:
        """Wait for a free slot and claim the task in the background; `claimed` is called once the ledger answered."""
        await self._slots.take()
        work = asyncio.create_task(self._carry(task, claimed), name=f"job {task.job_id}")
        self._works.add(work)
        work.add_done_callback(self._ended)

    def running(self) -> tuple[Run, ...]:
        """Return what runs now."""
        return tuple(self._runs.values())

    def drop(self, job_ids: Collection[str], position: int) -> None:
        """Stop these jobs at once and say so, which the ledger notes; not those that it granted after `position`.

        The word may overtake the grant that it is about: then the job is handed back before it begins.
        """
        for job_id in job_ids:
            if self._asks_for(job_id):
                self._unwanted[job_id] = max(position, self._unwanted.get(job_id, 0))
            run = self._runs.get(job_id)
            if run and run.granted_at < position:
                log.info("job dropped", extra={"job_id": job_id, "attempt": run.attempt})
                run.work.cancel()
                noting = asyncio.create_task(self._note(run), name=f"dropped {job_id}")
                self._notes.add(noting)
                noting.add_done_callback(self._noted)

    async def stop(self, grace_seconds: float) -> None:
        """Take no more tasks; let running jobs end within the grace, and hand back those that do not."""
        self._slots.close()
        if self._works:
            await asyncio.wait(self._works, timeout=grace_seconds)
        left = self.running()
        for work in self._works:
            work.cancel()
        if self._works:
            await asyncio.wait(self._works)
        await asyncio.gather(*(self._tell(run.task, run.attempt, GIVEN_BACK) for run in left), *self._notes)

    async def _carry(self, task: Task, claimed: Callable[[], None]) -> None:
        with about(org_id=task.org_id, job_id=task.job_id, partition=task.partition):
            self._claiming.append(task)
            began = tracing.clock()
            try:
                reply = await self._claim(task)
            finally:
                taken_at = self._unwanted.get(task.job_id, 0)
                self._claiming.remove(task)
                if not self._asks_for(task.job_id):
                    self._unwanted.pop(task.job_id, None)
            claimed()
            if not isinstance(reply.body, Granted):
                return
            note(attempt=reply.body.attempt)
            spans.claimed(task, reply.body.attempt, began)
            if taken_at <= reply.position:
                try:
                    await self._run(task, reply.body, reply.position)
                finally:
                    spans.attempted(task, reply.body.attempt, self._worker_id, began)
            elif self._is_new(task.job_id, reply.body.attempt):  # and not to begin by a second answer
                await self._tell(task, reply.body.attempt, GIVEN_BACK)

    def _asks_for(self, job_id: str) -> bool:
        return any(task.job_id == job_id for task in self._claiming)

    async def _note(self, run: Run) -> None:
        """Tell that a job was dropped, once nothing of it goes on: what it has left behind by then is all there is."""
        await asyncio.wait({run.work})
        await self._tell(run.task, run.attempt, GIVEN_BACK)

    def _noted(self, noting: asyncio.Task[None]) -> None:
        self._notes.discard(noting)
        self._pass_on(noting)

    async def _claim(self, task: Task) -> Reply:
        claim = ClaimTask(
            command_id=uuid7(),
            org_id=task.org_id,
            job_id=task.job_id,
            requester=self._ledger.boot_id,
            actor=f"worker:{self._worker_id}",
            traceparent=task.traceparent,
            dispatch=task.dispatch,
            worker_id=self._worker_id,
            boot_id=self._ledger.boot_id,
        )
        return await self._asked(task, claim)

    async def _asked(self, task: Task, command: ClaimTask | ReportProgress) -> Reply:
        """Return what the ledger answers; one that is away is waited for."""
        while True:
            try:
                return await self._ledger.ask(task.partition, command)
            except LedgerUnavailable as error:
                asked = {"job_id": task.job_id, "command": type(command).__name__, "reason": str(error)}
                log.warning("not answered, asking again", extra=asked)
                await asyncio.sleep(RETRY_SECONDS)

    async def _run(self, task: Task, granted: Granted, position: int) -> None:
        work = asyncio.current_task()
        assert work is not None
        if not self._is_new(task.job_id, granted.attempt):
            return  # the task came twice, and its claim got the same grant, perhaps after the run had ended
        before = self._runs.get(task.job_id)
        if before:
            before.work.cancel()
        run = self._runs[task.job_id] = Run(task, granted.attempt, position, work)
        level("tasks_running", len(self._runs))
        try:
            async with contextlib.aclosing(self._attempt(task, granted)) as reports:
                async for report in reports:
                    if report.asks and not await self._may_go_on(task, granted.attempt, report.nodes):
                        break
                    if not report.asks:
                        await self._tell(task, granted.attempt, report)
                    if report.outcome:
                        log.info("attempt ended", extra=_ending(report.outcome))
        finally:
            if self._runs.get(task.job_id) is run:
                del self._runs[task.job_id]
            level("tasks_running", len(self._runs))

    def _is_new(self, job_id: str, attempt: int) -> bool:
        """Whether this attempt was not begun here before; from now on it was."""
        if self._begun.get(job_id, 0) >= attempt:
            return False
        self._begun[job_id] = attempt
        self._begun.move_to_end(job_id)
        if len(self._begun) > BEGUN_KEPT:
            self._begun.popitem(last=False)
        return True

    async def _tell(self, task: Task, attempt: int, told: Report) -> None:
        """Return when the broker has the report; a broker that is away is waited for."""
        report = self._report(task, attempt, told)
        while True:
            try:
                await self._ledger.tell(task.partition, report)
                break
            except NotDelivered as error:
                log.warning("report not delivered, telling again", extra={"job_id": task.job_id, "reason": str(error)})
        _measure(told.nodes)
        spans.visited(task, attempt, told.nodes)
        if task.module:
            _measure_items(task.module, told.items)

    async def _may_go_on(self, task: Task, attempt: int, nodes: tuple[NodeReport, ...]) -> bool:
        """Report nodes and return whether the call that comes next is paid."""
        report = replace(self._report(task, attempt, Report(nodes)), requester=self._ledger.boot_id)
        reply = await self._asked(task, report)
        _measure(nodes)
        spans.visited(task, attempt, nodes)
        if isinstance(reply.body, Refused):
            log.info("job not gone on with", extra={"job_id": task.job_id, "reason": reply.body.code})
            if reply.body.code in ENDED:  # others wait for its worker to stop
                await self._tell(task, attempt, GIVEN_BACK)
            return False
        return True

    def _report(self, task: Task, attempt: int, told: Report) -> ReportProgress:
        return ReportProgress(
            command_id=uuid7(),
            org_id=task.org_id,
            job_id=task.job_id,
            actor=f"worker:{self._worker_id}",
            traceparent=task.traceparent,
            attempt=attempt,
            worker_id=self._worker_id,
            boot_id=self._ledger.boot_id,
            nodes=told.nodes,
            outcome=told.outcome,
            items=told.items,
        )

    def _ended(self, work: asyncio.Task[None]) -> None:
        self._works.discard(work)
        self._slots.give()
        self._pass_on(work)

    def _pass_on(self, work: asyncio.Task[None]) -> None:
        error = None if work.cancelled() else work.exception()
        if error and not self.failed.done():
            self.failed.set_exception(error)


def _measure(nodes: tuple[NodeReport, ...]) -> None:
    for node in nodes:
        count("nodes_finished", kind=node.node_kind, outcome=node.outcome)
        timed("node_seconds", node.latency_ms / 1000, kind=node.node_kind)


def _measure_items(module: str, parts: tuple[ItemsReport, ...]) -> None:
    for part in parts:
        if isinstance(part, Chunk):
            count("items_told", part.next_item - part.first_item - part.errors, module=module, outcome="succeeded")
            count("items_told", part.errors, module=module, outcome="failed")
            count("item_chunk_bytes", part.rows_bytes + part.outcomes_bytes + part.stats_bytes, module=module)


def _ending(outcome: Outcome) -> dict[str, str]:
    return {"outcome": type(outcome).__name__, "error_type": getattr(outcome, "error_type", "")}
