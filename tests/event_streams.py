"""Legal streams of recorded events, made from a list of numbers: the same numbers give the same stream."""

import hashlib
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace

from schemas.codec import Encoder
from schemas.events import (
    EVENT_TYPES,
    AnyEvent,
    DeliveryAcked,
    DeliveryRequested,
    JobCancelled,
    JobClaimed,
    JobCompleted,
    JobDeleted,
    JobDispatched,
    JobExpired,
    JobExtracted,
    JobFailed,
    JobReleased,
    JobSubmitted,
    OrgRegistered,
    ReportRefused,
    RetryBroughtForward,
    RetryScheduled,
    ScheduleFired,
    WorkerAlive,
    WriterOpened,
)
from schemas.recorded import Header, Recorded
from schemas.values import Destination, FireKind, FireOutcome, ReleaseReason
from tests.delivery_streams import acknowledge, requested, settle
from tests.item_streams import finish, go_on, submit_module, work
from tests.plays import DESTINATIONS, Play
from tests.spider_streams import count, crawl, lose_or_release, submit_spider
from tests.streamed import entries_of, records_of
from tests.walk_streams import START, STEP, visited

ENCODER = Encoder({name: number for number, name in enumerate(EVENT_TYPES, start=1)})
ENDED = ("completed", "failed", "cancelled")
__all__ = ["DESTINATIONS", "ENCODER", "ENDED", "START", "STEP", "Play", "Stream", "entries_of", "records_of"]


@dataclass(slots=True)
class Stream:
    """The log of one partition, as a decider would write it."""

    partition: int = 0
    orgs: tuple[str, ...] = ("acme", "globex")
    encoder: Encoder = ENCODER
    modules: bool = False  # whether it plays module and spider jobs too
    events: list[Recorded] = field(default_factory=list)
    raws: list[bytes] = field(default_factory=list)
    jobs: list[Play] = field(default_factory=list)
    live: list[Play] = field(default_factory=list)  # jobs, less those that were seen to have ended
    cause: int = -1
    heads: dict[str, bytes] = field(default_factory=dict)
    org_seqs: dict[str, int] = field(default_factory=dict)

    def open(self) -> "Stream":
        """Begin as a decider does: its marker, then the registration of every org."""
        self.record(WriterOpened(writer_id="decider-1"), 0)
        for org in self.orgs:
            self.cause += 1
            metered = org == self.orgs[0]
            registered = OrgRegistered(
                org_id=org, name=org, plan="standard", max_in_flight=5, metered=metered, credits=1_000_000 * metered
            )
            self.record(registered, 1)
        return self

    def play(self, numbers: Iterable[int]) -> "Stream":
        """Do one legal thing for each number."""
        for number in numbers:
            self.cause += 1
            pick, what = divmod(number, 16)
            # A long stream has many jobs, few of them live: all of them are looked through only where one is deleted.
            self.live = [job for job in self.live if job.status not in ENDED]
            if what == 14 and (ended := [job for job in self.jobs if job.status in ENDED]):
                job = ended[pick % len(ended)]
                resumed = job.follower is not None and job.follower.status not in ENDED
                if job.come and not job.gone and pick % 2 and not resumed:
                    self.resume(job)
                    continue
                self.delete(job) if pick % 3 or job.gone else self.expire(job)
            elif what == 1:
                self.record(WorkerAlive(worker_id="w1", boot_id="b1", kind="workflow", slots=8, free_slots=pick % 9), 0)
            elif not self.live or what == 0:
                self.submit(pick, module=self.modules and pick % 5 == 4, spider=self.modules and pick % 5 == 3)
            else:
                self.advance(self.live[pick % len(self.live)], what)
        return self

    def record(self, event: AnyEvent, seq: int, actor: str = "timer") -> Recorded:
        """Append an event at the next position."""
        position = len(self.events) + 1
        header = Header(
            event_id=uuid.uuid5(uuid.NAMESPACE_OID, f"{self.partition}:{position}").bytes,
            event_type=type(event).__name__,
            seq=seq,
            partition=self.partition,
            position=position,
            occurred_at=START + position * STEP,
            actor=actor,
            cause=self.cause,
            correlation_id=f"request-{self.cause}",
            traceparent="",
            prev_hash=self.heads.get(event.org_id, bytes(32)),
        )
        recorded = Recorded(header, event)
        raw = self.encoder.encode(recorded)
        self.heads[event.org_id] = hashlib.blake2b(raw, digest_size=32).digest()
        self.events.append(recorded)
        self.raws.append(raw)
        return recorded

    def fire(self, org_seq: int, due_at: int, *, code: str = "") -> None:
        """Fire a schedule of the first org, with one job unless it is refused."""
        job_id = f"0197{self.partition:04x}-{len(self.jobs):04x}-7000-8000-000000000000"
        fired = ScheduleFired(
            org_id=self.orgs[0],
            schedule_id="sch-1",
            due_at=due_at,
            how=FireKind.CRON,
            outcome=FireOutcome.REFUSED if code else FireOutcome.SUBMITTED,
            code=code,
            job_ids=() if code else (job_id,),
        )
        self.record(fired, org_seq)
        if not code:
            self.submit(schedule_id="sch-1")

    def submit(
        self,
        number: int = 0,
        destinations: tuple[Destination, ...] | None = None,
        *,
        schedule_id: str = "",
        module: bool = False,
        spider: bool = False,
    ) -> Play:
        """Submit a job, of a workflow, a module or a spider; the number chooses org and destinations."""
        chosen = DESTINATIONS[: 1 + number % len(DESTINATIONS)] if destinations is None else destinations
        job_id = f"0197{self.partition:04x}-{len(self.jobs):04x}-7000-8000-000000000000"
        org = self.orgs[number % len(self.orgs)]
        job = Play(org, job_id, chosen, cost=int(org == self.orgs[0]))
        self.jobs.append(job)
        self.live.append(job)
        if module:
            submit_module(self, job, number)
            return job
        if spider:
            submit_spider(self, job, number)
            return job
        self.of(
            job,
            JobSubmitted(
                workflow_id="wf",
                workflow_version=3,
                workflow_ref="workflows/wf/3",
                domain="shop.example",
                priority=number % 3,
                destinations=chosen,
                schedule_id=schedule_id,
                credits=job.cost,
                private=b'\0{"url":"https://shop.example/%d","input":{"n":%d},"metadata":{"tag":"a\\u0000b"}}'
                % (number, number),
            ),
        )
        return job

    def resume(self, source: Play) -> Play:
        """Let a job go on from a module job that ended."""
        job_id = f"0197{self.partition:04x}-{len(self.jobs):04x}-7000-8000-000000000000"
        job = Play(source.org_id, job_id, ())
        self.jobs.append(job)
        self.live.append(job)
        source.follower = job
        go_on(self, source, job)
        return job

    def advance(self, job: Play, what: int) -> None:
        """Do the next legal thing with a job; the number chooses among them."""
        match job.status:
            case "waiting_retry" if what in (5, 6, 7) and not job.out:
                self.of(job, RetryBroughtForward(node_id="node-1", due_at=START + STEP))
            case "pending" | "waiting_retry" if not job.out:
                self.end_early(job, what) if what == 15 else self.dispatch(job)
            case "pending" | "waiting_retry":
                self.end_early(job, what) if what == 15 else self.claim(job)
            case "running":
                self._run(job, what)
            case _:
                settle(self, job, what)

    def dispatch(self, job: Play) -> None:
        """Dispatch a job."""
        job.out, job.dispatched = True, job.dispatched + 1
        self.of(job, JobDispatched(kind="workflow", dispatch=job.dispatched))

    def claim(self, job: Play) -> None:
        """Let a worker claim a job."""
        job.out, job.status, job.attempt = False, "running", job.attempt + 1
        self.of(job, JobClaimed(worker_id="w1", boot_id="b1"))

    def visit(self, job: Play, number: int = 0) -> None:
        """Let a worker finish a node."""
        self.of(job, visited(self, job, number))
        job.step += 1

    def extract(self, job: Play, extraction_ref: str = "") -> None:
        """End the walk in success and ask for every delivery, as one decision does."""
        job.status = "extraction_done"
        result_ref = f"results/{job.job_id}"
        extracted = JobExtracted(result_ref=result_ref, content_type="text/html", items=1, latency_ms=7)
        self.of(job, replace(extracted, extraction_ref=extraction_ref))
        for destination in job.destinations:
            job.open_deliveries[destination.destination_id] = 1
            job.generations[destination.destination_id] = 1
            self.of(job, requested(job, destination.destination_id))
        self.complete_if_open(job)

    def ack(self, job: Play, destination_id: str) -> None:
        """Acknowledge a delivery and complete the job if that opens its gate."""
        acknowledge(self, job, destination_id)

    def delete(self, job: Play) -> None:
        """Delete a job that has ended; of one that was deleted, let its worker come late: the stores forget again."""
        late = job.gone == "deleted"
        self.of(job, ReportRefused(report="nodes", reason="job_deleted") if late else JobDeleted())
        job.gone = "deleted"
        self._erase(job)

    def expire(self, job: Play) -> None:
        """Let the results of a job that has ended be purged."""
        self.of(job, JobExpired(ended_at=START, retention_seconds=1, items=1, rows=1))
        job.gone = "expired"
        self._erase(job)

    def _erase(self, job: Play) -> None:
        job.erasures += 1
        name = "erasure"
        self.of(job, DeliveryRequested(destination_id=name, kind="postgres", generation=job.erasures, erase=True))
        self.of(job, DeliveryAcked(destination_id=name, generation=job.erasures, writer_id="pg-1"))

    def _run(self, job: Play, what: int) -> None:
        match what:
            case 2 | 3 | 4 | 5 | 6 if job.come:
                work(self, job, what)
            case 2 | 3 | 4 | 5 | 6 if job.scraped:
                crawl(self, job, what)
            case 2 | 3 | 4 | 5 | 6:
                self.visit(job, what)
            case 8 if job.scraped:
                lose_or_release(self, job, len(self.events))
            case 7 if not (job.scraped and job.scraped.begun):
                job.status = "waiting_retry"
                self.of(job, RetryScheduled(node_id="node-1", try_number=2, due_at=START, error_type="http_503"))
            case 8:
                job.status = "pending"
                self.of(job, JobReleased(reason=ReleaseReason.LEASE_EXPIRED, worker_id="w1", boot_id="b1"))
            case 9:
                self.of(job, ReportRefused(report="nodes", claimed_attempt=job.attempt - 1, reason="stale_attempt"))
            case 15:
                self.end_early(job, what + len(self.events))
            case _:
                finish(self, job)
                if job.scraped:
                    count(self, job, final=True)
                self.extract(job)

    def end_early(self, job: Play, number: int) -> None:
        """End a job before it is completed."""
        if number % 2:
            job.status = "cancelled"
            self.of(job, JobCancelled(reason="caller", refund=0 if job.attempt else job.cost))
        else:
            job.status = "failed"
            private = b'\0{"message":"all providers failed"}'
            self.of(job, JobFailed(error_type="providers_exhausted", node_id="node-1", private=private))

    def complete_if_open(self, job: Play) -> None:
        """Complete a job whose gate is open."""
        gating = {destination.destination_id for destination in job.destinations if destination.gating}
        if job.status == "extraction_done" and gating <= job.openers.keys():
            job.status = "completed"
            self.of(job, JobCompleted(opened_by=tuple(job.openers[name] for name in sorted(gating))))

    def of(self, job: Play, event: AnyEvent) -> Recorded:
        """Append an event of a job."""
        job.seq += 1
        fields = {name: getattr(event, name) for name in event.__struct_fields__}
        fields |= {"org_id": job.org_id, "job_id": job.job_id, "attempt": job.attempt}
        return self.record(type(event)(**fields), job.seq)
