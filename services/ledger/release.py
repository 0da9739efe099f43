"""What happens to a job whose worker is gone: back to its queue, or failed when that happened too often."""

from schemas.events import AnyEvent, JobFailed, JobReleased
from schemas.values import ReleaseReason
from services.ledger.job import Job
from services.ledger.state import Ledger


def release(ledger: Ledger, job: Job, reason: ReleaseReason) -> AnyEvent:
    """Return the event that takes a running job from its worker."""
    if reason is ReleaseReason.LEASE_EXPIRED and job.run.losses + 1 >= ledger.policy.max_losses:
        return JobFailed(org_id=job.org_id, job_id=job.job_id, attempt=job.attempt, error_type="worker_lost")
    return JobReleased(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt,
        reason=reason,
        worker_id=job.run.worker_id,
        boot_id=job.boot_id,
    )
