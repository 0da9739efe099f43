"""One attempt at a job: the walk from where the grant says to its end, as a sequence of reports."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from services.ledger.replies import Granted
from services.ledger.reports import Extracted, Failed, ItemsReport, NodeReport, Outcome, RetryLater
from services.ledger.tasks import Task
from services.ledger.workflow import Workflow, WorkflowInvalid, entry_of, node_of
from services.runtime.errors import BlobFault, BlobMissing, CredentialsAway
from services.workers import walk
from services.workers.carried import NOTHING, Carried, Summary
from services.workers.extraction import carried_on
from services.workers.job import Job, job_of, private
from services.workers.notes import Notes
from services.workers.steps import Tools, Visit, visit
from services.workers.walk import Continue, Errored, Exhausted, Failures, Finished, Point, Retry
from services.workers.workflows import Workflows

HOLD_SECONDS = 0.05  # a finished node waits this long for the next one, to be told in the same record
AWAY_DELAY_MS = 30_000  # until a job is tried again that met an outage of the blob store, or of that of credentials

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Report:
    """Nodes finished since the last report; with the outcome of the attempt in the last one."""

    nodes: tuple[NodeReport, ...] = ()
    outcome: Outcome | None = None
    items: tuple[ItemsReport, ...] = ()  # of a module
    asks: bool = False  # the next call may cost more: it is made once the ledger has answered that it is paid


class _Walk:
    """Where a walk is and what it has not told: also after an accident."""

    def __init__(self, tools: Tools, workflow: Workflow, job: Job) -> None:
        resume = job.resume
        self._tools = tools
        self._workflow = workflow
        self._job = job
        self.notes = Notes(workflow, job.job_id, resume.step)
        self.point = Point(resume.node_id, resume.try_number, Failures(resume.saw_verdict, resume.saw_error))

    async def reports(self) -> AsyncGenerator[Report]:
        """Walk to the end or to a deferred retry."""
        step, carried = await self._first()
        while isinstance(step, Continue | Retry):
            self.point = step.point
            if self._job.asks_first and self.notes.may_cost():
                yield Report(self.notes.take(), asks=True)
            delay_ms = step.delay_ms if isinstance(step, Retry) else 0
            visiting = asyncio.ensure_future(self._visit(carried, delay_ms))
            try:
                await asyncio.wait({visiting}, timeout=HOLD_SECONDS if self.notes.worth_telling() else None)
                if not visiting.done():
                    yield Report(self.notes.take())
                seen = await visiting
            finally:
                if not visiting.done():
                    visiting.cancel()
                    await asyncio.wait({visiting})
                if not visiting.cancelled():
                    visiting.exception()  # looked at, also where the walk ends before it asks what came of the visit
            carried = seen.carried
            step = walk.after(self._workflow, self.point, seen.outcome, self._job.job_id)
            self.notes.visited(self.point, seen, step)
            if isinstance(step, Retry) and step.deferred:
                yield Report(self.notes.take(), _later(step, seen))
                return
        yield Report(self.notes.take(), _outcome(step, carried))

    async def _first(self) -> tuple[walk.Step, Carried]:
        """Return where the walk begins: at the entry, or where the grant says."""
        if self._job.resume.node_id:
            return Continue(self.point), await carried_on(self._tools.blobs, self._job)
        self.notes.passed(entry_of(self._workflow))
        return walk.begin(self._workflow, self._job.job_id), NOTHING

    async def _visit(self, carried: Carried, delay_ms: int) -> Visit:
        if delay_ms:
            await asyncio.sleep(delay_ms / 1000)
        node = node_of(self._workflow, self.point.node_id)
        return await visit(self._tools, self._job, node, self.notes.next_step, carried)


async def attempt(tools: Tools, workflows: Workflows, task: Task, granted: Granted) -> AsyncGenerator[Report]:
    """Yield the reports of one attempt; the last one has an outcome, whatever goes wrong on the way."""
    walked: _Walk | None = None
    try:
        job = job_of(task, granted)
        walked = _Walk(tools, await workflows.document(job.workflow_ref), job)
        async with contextlib.aclosing(walked.reports()) as reports:
            async for report in reports:
                yield report
    except Exception as error:
        resume = granted.resume
        point = walked.point if walked else Point(resume.node_id, resume.try_number)
        outcome = _accident(error, point, task.job_id)
        yield Report(walked.notes.take() if walked else (), outcome)


def _accident(error: Exception, point: Point, job_id: str) -> Outcome:
    """Return how an attempt ends that met an error: in no case is the job lost."""
    match error:
        case WorkflowInvalid():
            return Failed(error_type="workflow_invalid", private=private(message=str(error)))
        case BlobFault() if not isinstance(error, BlobMissing):
            log.warning("blob store failed, job is tried again", extra={"job_id": job_id, "error": str(error)})
            return _when_back(point, "blobs_unavailable")
        case CredentialsAway():
            log.warning("no credential to be had, job is tried again", extra={"job_id": job_id, "error": str(error)})
            return _when_back(point, "credentials_unavailable")
        case _:
            log.error(
                "job failed by a fault of ours", extra={"job_id": job_id, "node_id": point.node_id}, exc_info=error
            )
            message = f"{type(error).__name__}: {error}"
            return Failed(error_type="internal", node_id=point.node_id, private=private(message=message))


def _when_back(point: Point, error_type: str) -> RetryLater:
    """Try the same node again, without counting it as one of its tries: the outage is ours."""
    return RetryLater(node_id=point.node_id, try_number=point.try_number, delay_ms=AWAY_DELAY_MS, error_type=error_type)


def _later(step: Retry, seen: Visit) -> RetryLater:
    error_type = seen.outcome.error_type if isinstance(seen.outcome, Errored) else ""
    point = step.point
    return RetryLater(node_id=point.node_id, try_number=point.try_number, delay_ms=step.delay_ms, error_type=error_type)


def _outcome(step: Finished | Exhausted, carried: Carried) -> Outcome:
    if isinstance(step, Exhausted):
        why = private(message=step.message)
        return Failed(error_type=step.error_type, rule=step.rule, node_id=step.node_id, private=why)
    body, found = carried.body, carried.extraction or Summary()
    return Extracted(
        result_ref=body.ref if body else "",
        content_type=body.content_type if body else "",
        result_bytes=len(body.data) if body else 0,
        extraction_ref=found.ref,
        schema_id=found.schema_id,
        data_type=found.data_type,
        items=found.items,
        quality_completeness=found.completeness,
        quality_validation=found.validation,
        quality_composite=found.composite,
    )
