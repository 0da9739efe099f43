"""What spider jobs add to a legal stream of recorded events: items without a plan, lines in blobs, statistics."""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schemas.events import ItemsRecorded, JobFailed, JobLogged, JobReleased, JobSubmitted, ReportRefused, StatsRecorded
from schemas.values import ReleaseReason, Vocabulary

if TYPE_CHECKING:
    from tests.event_streams import Play, Stream

ROWS_BYTES, LINES_BYTES = 100, 40


@dataclass
class Scraped:
    """How far a spider of the stream has come."""

    chunks: int = 0
    rows: int = 0
    logged: int = 0
    stats: int = 0
    routed: int = 0

    @property
    def begun(self) -> bool:
        """Whether its worker has told of it."""
        return bool(self.chunks or self.logged or self.stats)


def submit_spider(stream: "Stream", job: "Play", number: int) -> None:
    """Submit a spider job, which has no destinations."""
    job.destinations, job.cost, job.scraped = (), 0, Scraped()
    private = b'\0{"input":{"project":"shop","spiders":["s%d"]}}' % number
    stream.of(
        job,
        JobSubmitted(
            vocabulary=Vocabulary.SPIDER,
            workflow_id="shop",
            workflow_ref="deploys/acme/shop/3",
            max_run_seconds=3_600,
            private=private,
        ),
    )


def run_spider(stream: "Stream") -> "Play":
    """Submit a spider job and let it tell of items twice, of lines and of statistics."""
    job = stream.submit(0, spider=True)
    stream.dispatch(job)
    stream.claim(job)
    for number in (2, 4, 3, 5, 3):
        crawl(stream, job, number)
    return job


def crawl(stream: "Stream", job: "Play", number: int) -> None:
    """Let a spider's worker tell of items, lines or statistics."""
    scraped = job.scraped
    assert scraped is not None
    if number == 2:
        ref = f"{job.org_id}/{job.job_id}/{job.attempt}/log-{scraped.logged}"
        levels = (0, 3, scraped.logged % 2, 0, 0)
        logged = JobLogged(
            number=scraped.logged, lines=sum(levels), lines_ref=ref, lines_bytes=LINES_BYTES, levels=levels
        )
        stream.of(job, logged)
        scraped.logged += 1
    elif number == 3:
        count(stream, job, final=False)
    else:
        _record(stream, job, scraped, number)


def count(stream: "Stream", job: "Play", *, final: bool) -> None:
    """Let a spider's worker tell of statistics."""
    scraped = job.scraped
    assert scraped is not None
    metered, routed = job.org_id == stream.orgs[0], scraped.stats % 3
    scraped.routed += routed
    private = b'\0{"item_scraped_count":%d,"finish_reason":"\\u0000 done"}' % scraped.rows
    stats = StatsRecorded(
        number=scraped.stats,
        scraped=scraped.rows + (not final),
        final=final,
        routed=scraped.routed,
        surcharge=routed * metered,
        private=private,
    )
    stream.of(job, stats)
    scraped.stats += 1


def lose_or_release(stream: "Stream", job: "Play", number: int) -> None:
    """Let a spider's worker be lost, which then reports what became of it; or give back what it has not begun."""
    assert job.scraped is not None
    if not job.scraped.begun and number % 2:
        job.status = "pending"
        stream.of(job, JobReleased(reason=ReleaseReason.HANDED_BACK, worker_id="w1", boot_id="b1"))
        return
    job.status = "failed"
    private = b'\0{"message":"its runner is gone"}'
    stream.of(job, JobFailed(error_type="worker_lost", private=private))
    late = ReportRefused(report="extracted", reason="job_terminal", outcome="succeeded", items=job.scraped.rows)
    stream.of(job, late)


def _record(stream: "Stream", job: "Play", scraped: Scraped, rows: int) -> None:
    stream.of(
        job,
        ItemsRecorded(
            chunk=scraped.chunks,
            items_ref=f"items/{job.job_id}/{scraped.chunks}",
            rows_bytes=ROWS_BYTES,
            digest=hashlib.blake2b(f"{job.job_id}/{scraped.chunks}".encode(), digest_size=16).digest(),
            first_item=scraped.rows,
            next_item=scraped.rows + rows,
            first_row=scraped.rows,
            rows=rows,
            resume_item=scraped.rows + rows,
        ),
    )
    scraped.chunks, scraped.rows = scraped.chunks + 1, scraped.rows + rows
