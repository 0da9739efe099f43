"""Shows a job from its events alone, as Postgres would show it, but never past the event that ends it.

Whoever learns that a job has ended must be able to read its result and rows at once: Postgres alone may say so.
"""

from collections.abc import Sequence
from itertools import takewhile

from projections.postgres.fold import Current, fold
from projections.postgres.rows import Delivery, Job
from projections.postgres.views import Gate, JobDetail
from schemas.events import Recorded
from services.ledger.status import TERMINAL, TRANSITIONS


def detail(events: Sequence[Recorded]) -> JobDetail:
    """Fold the events of one job, the first of them its JobSubmitted, into what a reader sees.

    An event of a type that this version does not know ends the view too: what follows it cannot be folded.
    """
    known = (recorded for number, recorded in enumerate(events, 1) if recorded.header.seq == number)
    changes = fold(Current(), takewhile(_goes_on, known))
    [job] = changes.jobs.values()
    assert isinstance(job, Job)
    deliveries = sorted(changes.deliveries.values(), key=lambda row: (row.destination_id, row.generation))
    return JobDetail(job, changes.transitions, changes.visits, deliveries, _gate(job, deliveries))


def _goes_on(recorded: Recorded) -> bool:
    rule = TRANSITIONS.get(type(recorded.event))
    return rule is None or rule[1] not in TERMINAL


def _gate(job: Job, deliveries: Sequence[Delivery]) -> Gate:
    """What a job waits for. Before the gate has opened nothing has opened it."""
    gating = [place["destination_id"] for place in job.destinations if place["gating"]]
    acked = {row.destination_id for row in deliveries if row.status == "acked"}
    pending = [name for name in gating if name not in acked]
    return Gate(expected=len(gating), acked=len(gating) - len(pending), pending=pending, opened_by=[], opened_at=None)
