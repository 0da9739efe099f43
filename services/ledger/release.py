"""What happens to a job whose worker is gone: back to its queue, or failed when that happened too often."""

from schemas.events import AnyEvent, JobFailed, JobReleased
from schemas.private import private_bytes
from schemas.values import ReleaseReason
from services.ledger.job import Job
from services.ledger.state import Ledger


def release(ledger: Ledger, job: Job, reason: ReleaseReason) -> AnyEvent:
    """Return the event that takes a running job from its worker."""
    if reason is ReleaseReason.LEASE_EXPIRED and job.run.losses + 1 >= ledger.policy.max_losses:
        private = private_bytes({"message": f"its worker was lost in {ledger.policy.max_losses} of its attempts"})
        return JobFailed(
            org_id=job.org_id, job_id=job.job_id, attempt=job.attempt, private=private, error_type="worker_lost"
        )
    return JobReleased(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt,
        reason=reason,
        worker_id=job.run.worker_id,
        boot_id=job.boot_id,
    )
