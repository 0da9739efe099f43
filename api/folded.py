"""Shows a job from its events alone, as Postgres would show it.

Of a job whose events Postgres may lack, nothing past the event that ends it: whoever learns that a job has ended must
be able to read its result and rows at once, so Postgres alone may say so.
"""

from collections.abc import Sequence
from itertools import takewhile

from projections.postgres.fold import Current, fold
from projections.postgres.rows import Delivery, Job
from projections.postgres.views import Gate, JobDetail
from schemas.events import Recorded
from services.ledger.status import TERMINAL, TRANSITIONS, Status


def detail(events: Sequence[Recorded]) -> JobDetail:
    """Fold the events of one job that Postgres may lack, the first of them its JobSubmitted, up to its end."""
    return whole(list(takewhile(_goes_on, events)))


def whole(events: Sequence[Recorded]) -> JobDetail:
    """Fold the events of one job, the first of them its JobSubmitted, into what a reader sees after the last of them.

    An event of a type that this version does not know ends the view: what follows it cannot be folded.
    """
    known = (recorded for number, recorded in enumerate(events, 1) if recorded.header.seq == number)
    changes = fold(Current(), known)
    [job] = changes.jobs.values()
    assert isinstance(job, Job)
    deliveries = sorted(changes.deliveries.values(), key=lambda row: (row.destination_id, row.generation))
    return JobDetail(job, changes.transitions, changes.visits, deliveries, _gate(job, deliveries))


def _goes_on(recorded: Recorded) -> bool:
    rule = TRANSITIONS.get(type(recorded.event))
    return rule is None or rule[1] not in TERMINAL


def _gate(job: Job, deliveries: Sequence[Delivery]) -> Gate:
    """What a job waits for; what opened the gate is told of a completed job alone."""
    gating = [place["destination_id"] for place in job.destinations if place["gating"]]
    acks = {row.destination_id: row for row in deliveries if row.ack_event_id is not None}
    pending = [name for name in gating if name not in acks]
    opened = [acks[name] for name in gating] if job.status == Status.COMPLETED else []
    times = [row.acked_at for row in opened if row.acked_at] + ([job.extracted_at] if job.extracted_at else [])
    return Gate(
        expected=len(gating),
        acked=len(gating) - len(pending),
        pending=pending,
        opened_by=[row.ack_event_id for row in sorted(opened, key=_ack_order) if row.ack_event_id],
        opened_at=max(times) if job.status == Status.COMPLETED else None,
    )


def _ack_order(row: Delivery) -> int:
    return row.ack_seq or 0
