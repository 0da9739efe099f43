"""Deliveries of a job: list them, have one made once more, stop waiting for one."""

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from api import delivery_answers
from api.errors import not_found
from api.http import answer
from api.operation import Call, Operation
from api.present import present
from api.refused import accepted
from api.routes.jobs import job_id_of, ledger_position
from api.spiders.delivered import arrived
from api.times import iso, iso_or_none
from projections.postgres.rows import Delivery, Job
from projections.postgres.views import JobDetail
from services.ledger.commands import RedeliverJob, WaiveDelivery

OVER = frozenset({"acked", "waived"})  # a later generation takes nothing from these


async def every(call: Call) -> web.StreamResponse:
    """Answer every delivery of a job, notices included."""
    detail = await _detail(call)
    shown = [_shown(detail.job, row, _newest(detail, row.destination_id)) for row in detail.deliveries if not row.erase]
    return answer(200, delivery_answers.JobDeliveries(deliveries=shown))


async def redeliver(call: Call) -> web.StreamResponse:
    """Deliver once more; several askers at once make one more delivery, not several."""
    detail = await _detail(call)
    place = _place(call, detail)
    command = RedeliverJob(
        destination_id=place, generation=_newest(detail, place) + 1, job_id=detail.job.job_id, **call.asks()
    )
    return await _ordered(call, command, command.generation)


async def waive(call: Call) -> web.StreamResponse:
    """Stop waiting for a destination, and stop trying it: this delivery, and none that is asked for later."""
    detail = await _detail(call)
    place, job_id = _place(call, detail), detail.job.job_id
    generation = dict((await present(call, job_id)).generations).get(place, 0)
    command = WaiveDelivery(destination_id=place, generation=generation, job_id=job_id, **call.asks())
    return await _ordered(call, command, generation)


async def _detail(call: Call) -> JobDetail:
    detail = await call.parts.jobs.find(call.caller, job_id_of(call))
    if detail is None:
        raise not_found("job")
    return detail


def _place(call: Call, detail: JobDetail) -> str:
    place = call.request.match_info["destination_id"]
    if not any(each["destination_id"] == place for each in detail.job.destinations):
        raise not_found("destination of this job")
    return place


def _newest(detail: JobDetail, destination_id: str) -> int:
    """Return the newest generation of the deliveries to a destination; 0: nothing was delivered there yet."""
    return max((row.generation for row in detail.deliveries if row.destination_id == destination_id), default=0)


async def _ordered(call: Call, command: RedeliverJob | WaiveDelivery, generation: int) -> web.StreamResponse:
    reply = await call.parts.commander.ask(call.caller.partition, command)
    accepted(reply)
    ordered = delivery_answers.DeliveryOrder(
        job_id=command.job_id, destination_id=command.destination_id, generation=generation, accepted=True
    )
    return answer(202, ordered, ledger_position(reply))


def _shown(job: Job, row: Delivery, newest: int) -> delivery_answers.JobDelivery:
    place: Mapping[str, Any] = next(
        (each for each in job.destinations if each["destination_id"] == row.destination_id), {}
    )
    status = row.status if row.status in OVER or row.generation == newest else "superseded"
    return delivery_answers.JobDelivery(
        destination_id=row.destination_id,
        kind=row.kind,
        gating=place.get("gating", False),
        on_exhausted=place.get("on_exhausted", "hold"),
        generation=row.generation,
        status=status,
        tries=row.tries,
        requested_at=iso(row.requested_at),
        delivered_at=iso_or_none(row.acked_at),
        next_try_at=iso_or_none(row.next_try_at) if row.generation == newest else None,
        waived_at=iso_or_none(row.waived_at),
        waive_reason=row.waive_reason,
        error_type=row.error_type,
        error_message=row.error_message,
        rows=row.rows,
        place=row.place or (row.destination_id if row.rows is not None else None),
        summary=_summary(row, status),
    )


def _summary(row: Delivery, status: str) -> str:
    """Say in a few words how a delivery went: what arrived where, or how often it was tried in vain."""
    if row.rows is not None:
        return arrived(row)
    error = f", {row.error_type}" if row.error_type else ""
    return f"{status} -> {row.destination_id} ({row.tries} {'try' if row.tries == 1 else 'tries'}{error})"


_PATH = "/api/v1/jobs/{job_id}/deliveries"
_ERRORS = ("not_found", "not_deliverable", "results_expired", "catching_up", "ledger_unavailable")
OPERATIONS = (
    Operation(
        method="GET",
        path=_PATH,
        summary="List the deliveries of a job",
        access="read",
        handler=every,
        positioned=True,
        answers={200: delivery_answers.JobDeliveries},
        errors=("not_found", "catching_up"),
    ),
    Operation(
        method="POST",
        path=_PATH + "/{destination_id}/redeliver",
        summary="Deliver a job to a destination once more",
        access="submit",
        handler=redeliver,
        answers={202: delivery_answers.DeliveryOrder},
        errors=(*_ERRORS, "delivery_under_way"),
    ),
    Operation(
        method="POST",
        path=_PATH + "/{destination_id}/waive",
        summary="Stop waiting for the ACK of a destination",
        access="admin",
        handler=waive,
        answers={202: delivery_answers.DeliveryOrder},
        errors=_ERRORS,
    ),
)
