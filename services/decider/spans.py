"""What a decider did for jobs, as spans: each transaction with events of a job, and the whole job once it ended."""

from collections.abc import Mapping, Sequence

from schemas.recorded import Recorded
from services.ledger.job import Job
from services.ledger.status import TERMINAL, TRANSITIONS
from services.runtime.tracing import ROOT, Attribute, Span, clock, span, traced

ENDS = {event.__name__: target for event, (_, target) in TRANSITIONS.items() if target in TERMINAL}
FAILED = "JobFailed"


def tell_decided(jobs: Mapping[str, Job], committed: Sequence[Recorded], began: int) -> None:
    """Tell of a transaction that has just been committed and began then (microseconds UTC)."""
    by_job: dict[str, list[Recorded]] = {}
    for recorded in committed:
        if traced(recorded.event.job_id):
            by_job.setdefault(recorded.event.job_id, []).append(recorded)
    ended = clock()
    for job_id, its in by_job.items():
        first, last = its[0].header, its[-1].header
        told: dict[str, Attribute] = {
            "org_id": its[0].event.org_id,
            "partition": first.partition,
            "position": first.position,
            "last_position": last.position,
            "events": ",".join(each.header.event_type for each in its),
        }
        span(Span(job_id, "decide", str(first.position), began, ended, told))
        for each in its:
            if each.header.event_type in ENDS:
                _tell_ended(each, jobs.get(job_id))


def _tell_ended(recorded: Recorded, job: Job | None) -> None:
    """Tell of a whole job: from its submission to its end."""
    header, event = recorded.header, recorded.event
    told = {
        "org_id": event.org_id,
        "status": ENDS[header.event_type].value,
        "error_type": getattr(event, "error_type", ""),
        "partition": header.partition,
        "position": header.position,
    }
    began = job.submitted_at if job else header.occurred_at
    span(Span(event.job_id, ROOT, "", began, header.occurred_at, told, failed=header.event_type == FAILED))
