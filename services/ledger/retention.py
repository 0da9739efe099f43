"""Retention: the results of an ended job are purged once they are old enough; the job itself stays.

Nothing is kept in memory until then. Whoever looks through the archive for old jobs asks for each (`ExpireJob`), as
often as it likes and at any time: here alone is said whether it is time, and it happens once.
"""

from schemas.events import AnyEvent, JobExpired
from schemas.values import Vocabulary
from services.ledger.delivery import DeliveryState
from services.ledger.erasure import OUR_STORES
from services.ledger.job import Job
from services.ledger.policy import SECOND
from services.ledger.replies import Done, Refused
from services.ledger.state import Ledger


def retention(ledger: Ledger, job: Job) -> int:
    """Return for how long the results of a job are kept after its end, in microseconds; 0: for ever."""
    policy = ledger.policy
    usual = policy.module_retention if job.vocabulary is Vocabulary.MODULE else policy.retention
    return ledger.orgs[job.org_id].retention_seconds * SECOND or usual


def expire(ledger: Ledger, job: Job, now: int) -> list[AnyEvent]:
    """Return the event by which the results of an ended job go; none while they are kept, or gone already.

    As long as something is delivered of it, or its worker may be at it, its results are needed, or may come back.
    """
    kept = retention(ledger, job)
    if job.expired or not job.settled or not kept or now < job.ending.at + kept:
        return []
    extracted, items = job.extracted, job.items
    return [
        JobExpired(
            org_id=job.org_id,
            job_id=job.job_id,
            attempt=job.attempt,
            ended_at=job.ending.at,
            retention_seconds=kept // SECOND,
            result_bytes=items.result_bytes if items else extracted.result_bytes if extracted else 0,
            items=items.rows if items else extracted.items if extracted else 0,
            rows=sum(
                each.state is DeliveryState.ACKED and each.destination.kind in OUR_STORES for each in job.deliveries
            ),
            digest=items.digest if items else b"",
            planned=items.planned if items else 0,
            errors=items.errors if items else 0,
        )
    ]


def not_ended(job: Job | None) -> Refused | None:
    """Return why there is nothing that could be past retention, or None."""
    if job is None or job.deleted:
        return Refused(code="unknown_job")
    return None if job.terminal else Refused(code="not_ended", message=f"the job is {job.status}")


def answer_expiry(job: Job) -> Done | Refused:
    """Say whether the results of an ended job are past retention by now."""
    if job.expired:
        return Done()
    if not job.settled:
        return Refused(code="not_settled", message="something is delivered of it still, or its worker is at it")
    return Refused(code="retained", message="its results are kept for longer")


def past_retention() -> Refused:
    """Return why nothing is delivered any more of a job whose results have expired."""
    return Refused(code="results_expired", message="past retention: the results of the job were purged")
