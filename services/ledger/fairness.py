"""Who goes next: a turn an org and round, each org within its cap, and no more tasks out than can start soon."""

from schemas.events import JobDispatched
from services.ledger.state import Ledger


def window(ledger: Ledger, kind: str) -> int:
    """How many tasks of a kind may be out and unclaimed: one for each free slot, and what is claimed within a moment.

    What is out cannot be overtaken any more. So where jobs take long no task goes out before a slot is free, and
    where they are short enough that slots never have to wait for one.
    """
    slots = sum(worker.slots for worker in ledger.workers.values() if worker.kind == kind)
    if not slots:
        return ledger.policy.min_window
    running, mean = ledger.running.get(kind, 0), ledger.run_means.get(kind, 0)
    soon = running * ledger.policy.ahead // mean if mean else 0
    return max(0, slots - running) + min(slots, soon)


def next_dispatch(ledger: Ledger) -> JobDispatched | None:
    """Return the dispatch that is due now: the first waiting job of the org whose turn it is."""
    for kind, turns in ledger.turns.items():
        org_id = turns.first()
        if org_id is None or ledger.unclaimed.get(kind, 0) >= window(ledger, kind):
            continue
        job = ledger.orgs[org_id].queues[kind].first(ledger.jobs)
        if job is not None:
            return JobDispatched(
                org_id=org_id, job_id=job.job_id, attempt=job.attempt, kind=kind, dispatch=job.dispatch + 1
            )
    return None
