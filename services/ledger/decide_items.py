"""What follows from a worker's report on the items of its job: each part is recorded once, in its order."""

from typing import TypeAlias, assert_never

from msgspec.structs import replace

from schemas.events import AnyEvent, JobFailed
from schemas.item_events import ItemsPlanned, ItemsRecorded, JobLogged, StatsRecorded
from schemas.values import Vocabulary
from services.ledger.credits import Purse, ran_out_of_items
from services.ledger.items import Items, evolve_items
from services.ledger.job import Job
from services.ledger.reports import Chunk, ItemsReport, Logged, Planned, Stats

Told: TypeAlias = ItemsPlanned | ItemsRecorded | JobLogged | StatsRecorded


def is_new(items: Items | None, part: ItemsReport) -> bool:
    """Whether a part of a report was not recorded before."""
    match part:
        case Planned():
            return not (items and items.plan_ref)
        case Chunk():
            return part.chunk >= (items.chunks if items else 0)
        case Logged():
            return part.number >= (items.logged if items else 0)
        case Stats():
            return part.number >= (items.stats if items else 0)
        case _:
            assert_never(part)


def item_events(job: Job, parts: tuple[ItemsReport, ...], purse: Purse) -> list[AnyEvent] | None:
    """Return the events of those parts of a report that are new; the end of the job last, where credits run out.

    None: a chunk or a plan before it is missing, so that this one must not be recorded.
    """
    events: list[AnyEvent] = []
    ends: list[JobFailed] = []
    items = job.items
    for part in parts:
        if not is_new(items, part) or (ends and not isinstance(part, Logged)):
            continue
        told = _told(job, items, part)
        if told is None:
            return None
        event, ran_out = _paid(job, items, told, purse)
        if ran_out:
            ends.append(ran_out_of_items(job))
        events.append(event)
        items = evolve_items(items, job.job_id, event)
    return [*events, *ends]


def _paid(job: Job, items: Items | None, event: Told, purse: Purse) -> tuple[Told, bool]:
    """Return an event with what it costs, and whether that is less than its price: credits have run out."""
    match event:
        case ItemsRecorded():
            asked = (event.next_item - event.first_item - event.errors) * job.terms.item_credits
        case StatsRecorded():
            asked = max(0, event.routed - (items.routed if items else 0)) * purse.ledger.policy.prices.routed
        case _:
            return event, False
    paid = purse.pay_items(asked)
    return replace(event, surcharge=paid), purse.pays_items and paid < asked


def _told(job: Job, items: Items | None, part: ItemsReport) -> Told | None:
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
            before = items or Items(chain_id=job.job_id)
            return _recorded(job, before, part) if _follows(job, before, part) else None
        case Logged():
            return JobLogged(
                org_id=job.org_id,
                job_id=job.job_id,
                attempt=job.attempt,
                private=part.private,
                number=part.number,
                lines=part.lines,
                lines_ref=part.lines_ref,
                lines_bytes=part.lines_bytes,
                levels=part.levels,
            )
        case Stats():
            return StatsRecorded(
                org_id=job.org_id,
                job_id=job.job_id,
                attempt=job.attempt,
                private=part.private,
                number=part.number,
                scraped=part.scraped,
                final=part.final,
                routed=part.routed,
            )
        case _:
            assert_never(part)


def _follows(job: Job, items: Items, part: Chunk) -> bool:
    """Whether a chunk is the next one: of items that are planned, or of those that a spider scraped."""
    if part.chunk != items.chunks or part.first_item != items.next_item:
        return False
    if job.vocabulary is Vocabulary.SPIDER:
        return 0 < part.rows == part.next_item - part.first_item and not (part.errors or part.outcomes_bytes)
    return part.first_item < part.next_item <= items.planned


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
