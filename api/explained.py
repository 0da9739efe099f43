"""From what the decider says of a live job, or the read model of an ended one, to an explanation for people."""

from datetime import datetime

from api import explain_answers
from api.times import iso, iso_or_none
from projections.postgres.rows import instant
from projections.postgres.views import JobDetail
from services.ledger.replies import Awaited, Explained, Reason
from services.ledger.status import Status, error_type_of

BEFORE_A_WORKER = frozenset(
    {
        Reason.TURN,
        Reason.CAP,
        Reason.FLEET_FULL,
        Reason.NO_WORKERS,
        Reason.CLAIM,
        Reason.ORG_PAUSED,
        Reason.WORKFLOW_PAUSED,
    }
)


def live(job_id: str, why: Explained) -> explain_answers.Explanation:
    """Explain a job that has not ended."""
    return explain_answers.Explanation(
        job_id=job_id,
        status=why.status,
        reason=why.reason,
        message=sentence(why),
        since=iso(instant(why.since)),
        until=iso_or_none(_time(why.until)),
        expires_at=iso_or_none(_time(why.expires_at)),
        attempt=why.attempt,
        worker_id=why.worker_id or None,
        node=why.node_id or None,
        queue=_queue(why) if why.reason in BEFORE_A_WORKER else None,
        awaited=[_awaited(each) for each in why.awaited],
        error_type=None,
        rule=None,
        opened_by=[],
        expired_at=None,
    )


def ended(detail: JobDetail) -> explain_answers.Explanation:
    """Explain a job that has ended."""
    job = detail.job
    return explain_answers.Explanation(
        job_id=job.job_id,
        status=job.status,
        reason=Reason.ENDED,
        message=f"{end_sentence(detail)}{purged(detail)}",
        since=iso(job.finished_at or job.submitted_at),
        until=None,
        expires_at=None,
        attempt=job.attempt,
        worker_id=None,
        node=job.node_id or None,
        queue=None,
        awaited=[],
        error_type=error_type_of(job.status, job.error_type),
        rule=job.rule or None,
        opened_by=[str(event_id) for event_id in job.opened_by or ()],
        expired_at=iso_or_none(job.expired_at),
    )


def sentence(why: Explained) -> str:
    """Say for people what a live job waits for."""
    match why.reason:
        case Reason.TURN:
            said = f"{why.orgs_waiting} orgs take turns, and it is not yet this org's"
        case Reason.CAP:
            said = f"its org has {why.in_flight} of {why.max_in_flight} jobs in flight: {_some(why.holders)}"
        case Reason.FLEET_FULL:
            said = f"{why.unclaimed} tasks wait for {why.workers} workers with {why.slots} slots already"
        case Reason.ORG_PAUSED:
            said = "its org is paused: the operator lets none of its jobs start"
        case Reason.WORKFLOW_PAUSED:
            said = "its workflow is paused: resume it"
        case Reason.NO_WORKERS:
            said = "no worker lives that could take it: are the workers up?"
        case Reason.CLAIM:
            said = f"it is dispatched; the next of {why.workers} workers that has a free slot claims it"
        case Reason.WORKER:
            node = f" from node {why.node_id} on" if why.node_id else ""
            said = f"worker {why.worker_id} runs attempt {why.attempt}{node}"
        case Reason.BACKOFF:
            said = f"node {why.node_id} is tried again at {iso(instant(why.until))}"
        case Reason.ACKS:
            said = "it waits for " + "; ".join(map(_about, why.awaited))
        case Reason.ENDED:
            said = f"it is {why.status}"
    if why.ahead:
        said += f"; {why.ahead} jobs of its org go before it"
    return f"{said}; unclaimed by {iso(instant(why.expires_at))} it fails" if why.expires_at else said


def end_sentence(detail: JobDetail) -> str:
    """Say for people how a job ended."""
    job, gate = detail.job, detail.gate
    match job.status:
        case Status.COMPLETED:
            opened_by = job.opened_by or ()  # not later ACKs, nor those of destinations that do not gate
            acks = ", ".join(
                f"{row.destination_id} ({row.ack_event_id})"
                for row in detail.deliveries
                if row.ack_event_id in opened_by
            )
            waived = f"; waived: {', '.join(gate.waived)}" if gate.waived else ""
            return f"its gate was opened by {acks or 'nothing: it has no gating destination'}{waived}"
        case Status.FAILED:
            rule = f" ({job.rule})" if job.rule else ""
            node = f" at node {job.node_id}" if job.node_id else ""
            message = f": {job.error_message}" if job.error_message else ""
            return f"{job.error_type}{rule}{node}{message}"
        case _:
            return f"it was {job.status}"


def purged(detail: JobDetail) -> str:
    """Say for people why the results of a job that has ended are gone; empty: they are kept."""
    job = detail.job
    if not job.expired_at:
        return ""
    asked = {row.destination_id: row.acked_at for row in detail.deliveries if row.erase}  # the newest of each store
    left = [name for name, acked_at in asked.items() if acked_at is None]
    stores = (
        f", {len(left)} stores have not said so yet" if left else f", {len(asked)} stores said that nothing is left"
    )
    return f"; its results are past retention: purged since {iso(job.expired_at)}{stores}"


def _queue(why: Explained) -> explain_answers.Queue:
    return explain_answers.Queue(
        ahead=why.ahead,
        in_flight=why.in_flight,
        max_in_flight=why.max_in_flight,
        holders=list(why.holders),
        orgs_waiting=why.orgs_waiting,
        unclaimed=why.unclaimed,
        window=why.window,
        workers=why.workers,
        slots=why.slots,
    )


def _awaited(each: Awaited) -> explain_answers.AwaitedDelivery:
    return explain_answers.AwaitedDelivery(
        destination_id=each.destination_id,
        kind=each.kind,
        state=each.state,
        try_number=each.try_number,
        failures=each.failures,
        next_try_at=iso_or_none(_time(each.next_try_at)),
        deadline_at=iso_or_none(_time(each.deadline_at)),
    )


def _about(each: Awaited) -> str:
    if each.next_try_at:
        return f"{each.destination_id}, tried again at {iso(instant(each.next_try_at))} after {each.failures} failures"
    if each.state == "dead":
        return f"{each.destination_id}, given up after {each.failures} failures: redeliver or waive it"
    return f"{each.destination_id}, try {each.try_number} is under way"


def _some(job_ids: tuple[str, ...], most: int = 5) -> str:
    more = f" and {len(job_ids) - most} more" if len(job_ids) > most else ""
    return ", ".join(job_ids[:most]) + more


def _time(micros: int) -> datetime | None:
    return instant(micros) if micros else None
