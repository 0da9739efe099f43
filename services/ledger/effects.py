"""What leaves the ledger because of an event: tasks, deliveries, and word to a worker that it lost a job."""

from schemas.events import DeliveryRequested, JobCancelled, JobDispatched, JobExtracted, JobFailed, JobReleased
from schemas.recorded import Recorded
from schemas.values import After, Vocabulary
from services.ledger.credits import QUOTA
from services.ledger.items import chain_of
from services.ledger.job import Job
from services.ledger.replies import Drop, Reply
from services.ledger.reports import Failed
from services.ledger.state import Ledger
from services.ledger.tasks import Delivery, Task

Effect = Task | Delivery | Reply


def effect_of(ledger: Ledger, recorded: Recorded) -> Effect | None:
    """Return what an event, already folded into the state, sends out."""
    event = recorded.event
    job = ledger.jobs.get(event.job_id)
    if job is None:
        return None
    match event:
        case JobDispatched():
            return _task(ledger, job, recorded)
        case DeliveryRequested():
            return _delivery(ledger, job, event, recorded.header.occurred_at)
        case JobCancelled() | JobFailed() | JobReleased() if job.boot_id and _unexpected(job, recorded):
            return Reply(
                command_id="",
                requester=job.boot_id,
                body=Drop(job_ids=(job.job_id,)),
                partition=ledger.partition,
                position=recorded.header.position,
            )
        case _:
            return None


def _unexpected(job: Job, recorded: Recorded) -> bool:
    """Whether the job ended otherwise than its own worker says: the credits ran out, or it was not its report."""
    if isinstance(recorded.event, JobFailed) and recorded.event.error_type == QUOTA:
        return True
    return recorded.header.actor != f"worker:{job.run.worker_id}"


def _task(ledger: Ledger, job: Job, recorded: Recorded) -> Task:
    return Task(
        org_id=job.org_id,
        job_id=job.job_id,
        partition=ledger.partition,
        dispatch=job.dispatch,
        vocabulary=job.vocabulary,
        workflow_ref=job.terms.workflow_ref,
        private=job.private,
        max_run_seconds=job.terms.max_run_seconds,
        traceparent=recorded.header.traceparent,
        module=job.terms.workflow_id if job.vocabulary is Vocabulary.MODULE else "",
    )


def _delivery(ledger: Ledger, job: Job, event: DeliveryRequested, at: int) -> Delivery:
    """Say what is to be delivered; a job that failed has nothing extracted, and only its end to tell of."""
    status = job.delivery(event.destination_id)
    extracted, failed = job.extracted or JobExtracted(), job.ending.failed
    chain_id = chain_of(job.items, job.job_id) if event.erase else ""
    return Delivery(
        org_id=job.org_id,
        job_id=job.job_id,
        partition=ledger.partition,
        destination_id=event.destination_id,
        kind=event.kind,
        generation=event.generation,
        try_number=event.try_number,
        result_ref=extracted.result_ref,
        content_type=extracted.content_type,
        extraction_ref=extracted.extraction_ref,
        domain=job.domain,
        schema_id=extracted.schema_id,
        data_type=extracted.data_type,
        items=extracted.items,
        quality_completeness=extracted.quality_completeness,
        quality_validation=extracted.quality_validation,
        quality_composite=extracted.quality_composite,
        latency_ms=extracted.latency_ms,
        submitted_at=job.submitted_at,
        extracted_at=job.run.extracted_at,
        after=status.destination.after if status else After.EXTRACTION,
        ended_position=job.ending.position,
        ended_at=job.ending.at,
        failed=_failure(failed) if failed else None,
        erase=event.erase,
        requested_at=at,
        chain_id=chain_id,
        items_kept=chain_id in ledger.orgs[job.org_id].chains,
    )


def _failure(failed: JobFailed) -> Failed:
    return Failed(
        error_type=failed.error_type,
        rule=failed.rule,
        node_id=failed.node_id,
        destination_id=failed.destination_id,
    )
