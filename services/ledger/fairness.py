"""Who goes next: round robin over the orgs of a partition, each within its cap, no more than the fleet can take."""

from schemas.events import JobDispatched
from services.ledger.state import Ledger


def window(ledger: Ledger, kind: str) -> int:
    """How many tasks of a kind may be out and unclaimed: as many as the fleet has slots."""
    slots = sum(worker.slots for worker in ledger.workers.values() if worker.kind == kind)
    return max(ledger.policy.min_window, slots)


def next_dispatch(ledger: Ledger) -> JobDispatched | None:
    """Return the dispatch that is due now: the first waiting job of the org whose turn it is."""
    for kind, ring in ledger.rings.items():
        if not ring or ledger.unclaimed.get(kind, 0) >= window(ledger, kind):
            continue
        org_id = next(iter(ring))
        job = ledger.orgs[org_id].queues[kind].first(ledger.jobs)
        if job is not None:
            return JobDispatched(
                org_id=org_id, job_id=job.job_id, attempt=job.attempt, kind=kind, dispatch=job.dispatch + 1
            )
    return None
