"""Since when jobs of a partition wait for the ACKs that their gate needs; from the log alone, beside the ledger."""

from collections.abc import Iterable

from schemas.recorded import Recorded
from services.ledger.job import Job
from services.ledger.policy import SECOND
from services.ledger.status import TRANSITIONS, Status

BEGINS = frozenset(event.__name__ for event, (_, target) in TRANSITIONS.items() if target is Status.EXTRACTION_DONE)
MOVES = frozenset(event.__name__ for event in TRANSITIONS)


class GateAges:
    """Jobs at their gate, the one that waits longest first. `jobs` are those in memory when this begins."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        waiting = [(job.run.extracted_at, job.job_id) for job in jobs if job.status is Status.EXTRACTION_DONE]
        self._since = {job_id: at for at, job_id in sorted(waiting)}

    def committed(self, recorded: Iterable[Recorded]) -> None:
        """Follow events that were just committed, in their order."""
        for each in recorded:
            if each.header.event_type in BEGINS:
                self._since[each.event.job_id] = each.header.occurred_at
            elif each.header.event_type in MOVES:
                self._since.pop(each.event.job_id, None)

    def oldest_seconds(self, now: int) -> float:
        """Return for how long the first of them has waited; 0 where none does. `now` in microseconds UTC."""
        return max(0, now - next(iter(self._since.values()), now)) / SECOND
