"""Which dated waits no longer matter, so that they can be forgotten before they are due."""

from services.ledger.delivery import DeliveryState
from services.ledger.job import Job
from services.ledger.state import Ledger
from services.ledger.status import Status
from services.ledger.timers import Timer

OPENED = frozenset({DeliveryState.ACKED, DeliveryState.WAIVED})  # only a new generation of it begins another wait


def matters(ledger: Ledger, timer: Timer) -> bool:
    """Whether a wait may still lead to something; False only where it cannot, however the job goes on."""
    if timer.kind == "hold":
        org = ledger.orgs.get(timer.job_id)
        return org is not None and bytes.fromhex(timer.detail) in org.account.holds
    job = ledger.jobs.get(timer.job_id)
    if job is None:
        return False
    match timer.kind:
        case "retry":
            return job.status is Status.WAITING_RETRY and job.run.retry_due_at == timer.due_at
        case "dispatch":
            return job.task_out and str(job.dispatch) == timer.detail
        case "deadline":
            return not job.terminal and job.status is not Status.EXTRACTION_DONE
        case "queue":
            return unclaimed_yet(job)
        case "delivery":
            return _delivery_matters(job, timer)
        case _:
            return True


def unclaimed_yet(job: Job) -> bool:
    """Whether a job is pending and was so ever since: its time in the queue runs."""
    return job.status is Status.PENDING and not job.run.first_claimed_at


def _delivery_matters(job: Job, timer: Timer) -> bool:
    """Whether it belongs to what the delivery waits for now: an earlier wait ended before this one began."""
    delivery = job.delivery(timer.detail)
    if delivery is None or delivery.state in OPENED or not job.delivers(delivery):
        return False
    return delivery.changed_at <= timer.due_at
