"""Shows a job from its events alone, as Postgres would show it.

Of a job whose events Postgres may lack, nothing past the event that ends it: whoever learns that a job has ended must
be able to read its result and rows at once, so Postgres alone may say so.
"""

import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import takewhile
from typing import NamedTuple
from uuid import UUID

from projections.postgres.fold import Current, fold
from projections.postgres.rows import NEVER, Delivery, Job
from projections.postgres.views import Gate, JobDetail
from schemas.recorded import Recorded
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
    first: dict[str, _Opener] = {}
    for row in deliveries:
        first[row.destination_id] = min([*_openers(row), first.get(row.destination_id, NOT_OPENED)])
    openers = [first.get(name, NOT_OPENED) for name in gating]
    opened = sorted(openers) if job.status == Status.COMPLETED else []
    times = [opener.at for opener in opened] + ([job.extracted_at] if job.extracted_at else [])
    return Gate(
        expected=len(gating),
        acked=sum(opener.acked for opener in openers),
        pending=[name for name, opener in zip(gating, openers, strict=True) if opener is NOT_OPENED],
        opened_by=[opener.event_id for opener in opened],
        opened_at=max(times) if job.status == Status.COMPLETED else None,
        waived=[name for name, opener in zip(gating, openers, strict=True) if opener.waived],
    )


class _Opener(NamedTuple):
    """An ACK or a waiver; the first one of a destination opens its part of the gate."""

    seq: float
    at: datetime
    event_id: UUID
    acked: bool
    waived: bool


NOT_OPENED = _Opener(math.inf, NEVER, UUID(int=0), False, False)


def _openers(row: Delivery) -> Iterator[_Opener]:
    if row.ack_seq and row.acked_at and row.ack_event_id:
        yield _Opener(row.ack_seq, row.acked_at, row.ack_event_id, True, False)
    if row.waive_seq and row.waived_at and row.waive_event_id:
        yield _Opener(row.waive_seq, row.waived_at, row.waive_event_id, False, True)
