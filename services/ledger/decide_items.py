"""What follows from a worker's report on the planned items of its job: each part is recorded once, in its order."""

from typing import assert_never

from msgspec.structs import replace

from schemas.events import AnyEvent
from schemas.item_events import ItemsPlanned, ItemsRecorded, JobLogged
from services.ledger.credits import Purse, ran_out_of_items
from services.ledger.items import Items, evolve_items
from services.ledger.job import Job
from services.ledger.reports import Chunk, ItemsReport, Logged, Planned


def is_new(items: Items | None, part: ItemsReport) -> bool:
    """Whether a part of a report was not recorded before."""
    match part:
        case Planned():
            return not (items and items.plan_ref)
        case Chunk():
            return part.chunk >= (items.chunks if items else 0)
        case Logged():
            return part.number >= (items.logged if items else 0)
        case _:
            assert_never(part)


def item_events(job: Job, parts: tuple[ItemsReport, ...], purse: Purse) -> list[AnyEvent] | None:
    """Return the events of those parts of a report that are new; the end of the job last, where credits run out.

    None: a chunk or a plan before it is missing, so that this one must not be recorded.
    """
    events: list[AnyEvent] = []
    ends: list[AnyEvent] = []
    items = job.items
    for part in parts:
        if not is_new(items, part) or (ends and not isinstance(part, Logged)):
            continue
        event = _event(job, items, part)
        if event is None:
            return None
        if isinstance(event, ItemsRecorded):
            asked = (event.next_item - event.first_item - event.errors) * job.terms.item_credits
            event = replace(event, surcharge=purse.pay_items(asked))
            if purse.pays_items and event.surcharge < asked:
                ends.append(ran_out_of_items(job))
        events.append(event)
        items = evolve_items(items, job.job_id, event)
    return [*events, *ends]


def _event(job: Job, items: Items | None, part: ItemsReport) -> ItemsPlanned | ItemsRecorded | JobLogged | None:
    match part:
        case Planned():
            return ItemsPlanned(
                org_id=job.org_id,
                job_id=job.job_id,
                attempt=job.attempt,
                plan_ref=part.plan_ref,
                planned=part.planned,
                plan_bytes=part.plan_bytes,
            )
        case Chunk():
            return _recorded(job, items, part) if items and _follows(items, part) else None
        case Logged():
            return JobLogged(
                org_id=job.org_id,
                job_id=job.job_id,
                attempt=job.attempt,
                private=part.private,
                number=part.number,
                lines=part.lines,
            )
        case _:
            assert_never(part)


def _follows(items: Items, part: Chunk) -> bool:
    """Whether a chunk is the next one, of items that are planned."""
    return (
        part.chunk == items.chunks
        and part.first_item == items.next_item
        and part.first_item < part.next_item <= items.planned
    )


def _recorded(job: Job, items: Items, part: Chunk) -> ItemsRecorded:
    succeeded = part.resume_item > 0
    return ItemsRecorded(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt,
        chunk=part.chunk,
        items_ref=part.items_ref,
        rows_bytes=part.rows_bytes,
        outcomes_bytes=part.outcomes_bytes,
        stats_bytes=part.stats_bytes,
        digest=part.digest,
        first_item=part.first_item,
        next_item=part.next_item,
        first_row=items.rows,
        rows=part.rows,
        errors=part.errors,
        resume_item=part.resume_item if succeeded else items.resume_item,
        errors_before=items.errors + part.errors_before if succeeded else items.errors_before,
    )
