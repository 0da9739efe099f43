"""How far a job with planned items has come, as a fold: what is planned and recorded, and where another goes on."""

import hashlib

from msgspec import Struct
from msgspec.structs import replace

from schemas.item_events import Adopted, ItemEvent, ItemsPlanned, ItemsRecorded, JobContinued, JobLogged, StatsRecorded

DIGEST_BYTES = 16


class Items(Struct, frozen=True, kw_only=True, gc=False):
    """The planned items of a job, by their ordinals, with those of the jobs before it in its chain.

    `next_item`, `rows`, `errors` and `result_bytes` count what was adopted too.
    """

    chain_id: str  # the first job of its chain
    source_job_id: str = ""  # empty: it is the first
    link: int = 1  # which attempt of its chain it is
    adopts: tuple[Adopted, ...] = ()
    begins_at: int = 0  # the planned item that it began with
    plan_ref: str = ""  # empty: nothing is planned yet
    planned: int = 0
    chunks: int = 0  # its own
    next_item: int = 0
    rows: int = 0
    errors: int = 0
    result_bytes: int = 0
    resume_item: int = 0  # the planned item after the last that succeeded
    errors_before: int = 0  # that one
    logged: int = 0  # events with lines
    stats: int = 0  # events with statistics
    scraped: int = 0  # items of a spider by the newest of these; those that no chunk holds yet are in it
    routed: int = 0  # its requests that went through the unblocker, likewise
    cost: int = 0  # credits that its own items have cost
    digest: bytes = b""  # over its chunks, adopted ones first
    newest_ref: str = ""  # blob key of the newest of these chunks
    newest_stats_bytes: int = 0  # at its end

    @property
    def progressed(self) -> bool:
        """Whether an item has succeeded since this link of the chain began."""
        return self.resume_item > self.begins_at

    @property
    def processed(self) -> int:
        """How many planned items have their outcome."""
        return self.next_item


def chain_of(items: Items | None, job_id: str) -> str:
    """Return the first job of a chain; a job that has recorded nothing is its own."""
    return items.chain_id if items else job_id


def evolve_items(items: Items | None, job_id: str, event: ItemEvent) -> Items:
    """Fold one event into what a job has of items."""
    before = items or Items(chain_id=job_id)
    match event:
        case JobContinued():
            return Items(
                chain_id=event.chain_id,
                source_job_id=event.source_job_id,
                link=event.link,
                adopts=event.adopts,
                begins_at=event.next_item,
                plan_ref=event.plan_ref,
                planned=event.planned,
                next_item=event.next_item,
                rows=event.rows,
                errors=event.errors,
                result_bytes=event.result_bytes,
                resume_item=event.next_item,
                errors_before=event.errors,
                digest=event.digest,
                newest_ref=event.newest_ref,
                newest_stats_bytes=event.newest_stats_bytes,
            )
        case ItemsPlanned():
            return replace(before, plan_ref=event.plan_ref, planned=event.planned)
        case ItemsRecorded():
            return replace(
                before,
                chunks=event.chunk + 1,
                next_item=event.next_item,
                rows=before.rows + event.rows,
                errors=before.errors + event.errors,
                result_bytes=before.result_bytes + event.rows_bytes + event.outcomes_bytes + event.stats_bytes,
                resume_item=event.resume_item,
                errors_before=event.errors_before,
                cost=before.cost + event.surcharge,
                digest=chained(before.digest, event.digest),
                newest_ref=event.items_ref,
                newest_stats_bytes=event.stats_bytes,
            )
        case JobLogged():
            return replace(before, logged=event.number + 1)
        case StatsRecorded():
            return replace(
                before,
                stats=event.number + 1,
                scraped=event.scraped,
                routed=event.routed,
                cost=before.cost + event.surcharge,
            )


def chained(digest: bytes, chunk: bytes) -> bytes:
    """Return the digest over chunks, with one more behind them."""
    return hashlib.blake2b(digest + chunk, digest_size=DIGEST_BYTES).digest()


def adopted_by_next(items: Items, job_id: str) -> tuple[Adopted, ...]:
    """Return the chunks that whoever goes on from a job has before its own."""
    if not items.chunks:
        return items.adopts
    return (*items.adopts, Adopted(job_id=job_id, chunks=items.chunks, next_item=items.resume_item))
