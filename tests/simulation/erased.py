"""Whether a deleted job is gone, and stays so: from every store and read view, and from what deciders know of it.

Of a job whose results have expired the results are gone in the same way, and the job itself is not.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from schemas import events as e
from services.ledger.erasure import STORE, TABLES
from services.ledger.state import Ledger
from services.runtime.blob import JobKey
from tests.simulation.modules import Chains
from tests.simulation.story import AT_CUSTOMERS, Story
from tests.simulation.world import World

SETTLING_SECONDS = 3.0  # in which a worker that was told to drop a deleted job has told that it did
MILLISECOND = 0.001
Generation = tuple[str, int]  # of the erasure of a job


class Erased:
    """Sees the log, and looks into the stores at the end."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._asked: dict[Generation, float] = {}
        self._newest = 0.0  # event of a deleted job, in seconds
        self._gone: dict[JobKey, float] = {}  # since when, in seconds
        self._at_it: dict[str, str] = {}  # job -> run of the worker that may be at it
        self._running: defaultdict[str, bool] = defaultdict(bool)
        self._chains = Chains()
        self.wrong: list[str] = []

    def see(self, event: e.AnyEvent, at: float) -> None:
        """Note what is asked of the stores; an ACK of an erasure may only stand in the log of what is gone by then."""
        self._note_worker(event)
        self._chains.see(event)
        if isinstance(event, e.JobDeleted | e.JobExpired):
            self._gone.setdefault((event.org_id, event.job_id), at)
        if (event.org_id, event.job_id) in self._gone:
            self._newest = at
        if isinstance(event, e.DeliveryAcked) and event.destination_id == TABLES["clickhouse"]:
            known = self._world.lake.erased.get((event.org_id, event.job_id), float("inf"))
            if known > at + MILLISECOND:
                self.wrong.append(f"{event.job_id}: ClickHouse acknowledged at {at} s what its table knew at {known} s")
        if isinstance(event, e.DeliveryAcked) and event.destination_id == AT_CUSTOMERS:
            erased_at = self._world.houses.erased.get((event.org_id, event.job_id), float("inf"))
            if erased_at > at + MILLISECOND:
                self.wrong.append(
                    f"{event.job_id}: a customer's warehouse acknowledged at {at} s, erased at {erased_at} s"
                )
        if not isinstance(event, e.DeliveryEvent) or event.destination_id != STORE:
            return
        this = event.job_id, event.generation
        if isinstance(event, e.DeliveryRequested):
            self._asked.setdefault(this, at)
        elif isinstance(event, e.DeliveryAcked):
            key, asked = (event.org_id, event.job_id), self._asked[this]
            gone = [when for when in self._world.blobs.emptied[key] if asked <= when <= at + MILLISECOND]
            row = self._world.warehouse.rows.get(key)
            if not gone or row is None or not row.erased:
                self.wrong.append(
                    f"{key}: erasure {event.generation} of {asked} s was acknowledged at {at} s, not done"
                )

    def _note_worker(self, event: e.AnyEvent) -> None:
        """Note which run of a worker may be at a job: until its last word on it, or until it is lost."""
        match event:
            case e.JobClaimed():
                self._at_it[event.job_id] = event.boot_id
            case e.JobReleased() | e.JobExtracted() | e.RetryScheduled():
                self._at_it.pop(event.job_id, None)
            case e.JobFailed() if event.error_type not in ("timed_out", "worker_lost"):
                self._at_it.pop(event.job_id, None)
            case e.ReportRefused() if event.report != "nodes" and self._at_it.get(event.job_id) == event.boot_id:
                del self._at_it[event.job_id]
            case e.WorkerLost():
                self._at_it = {job: boot for job, boot in self._at_it.items() if boot != event.boot_id}

    def quiet(self) -> bool:
        """Whether no worker can still have something to say of a deleted job, or leave something of it behind."""
        site, gone = self._world.site, {job_id for _, job_id in self._gone}
        if gone & self._at_it.keys() or any(self._blobs_of(key) for key in self._gone):
            return False
        return self._world.loop.time() > self._newest + SETTLING_SECONDS and not site.calling(gone)

    def verdict(self, jobs: Mapping[str, Story], folded: Mapping[int, Ledger]) -> Iterator[str]:
        """Yield what is left of deleted jobs."""
        yield from self.wrong
        for key, at in self._world.blobs.swept.items():
            if at + MILLISECOND < self._gone.get(key, float("inf")):
                yield f"{key}: its bodies were taken for left over at {at} s"
        deleted = {name: job for name, job in jobs.items() if job.deleted}
        yield from (
            f"{job} was said to be deleted, and is not" for job in self._world.traffic.deleted if job not in deleted
        )
        for name, job in jobs.items():
            if job.gone:
                yield from self._left(job.org_id, name, "deleted" if job.deleted else "expired")
            if job.deleted:
                yield from self._seen(job.org_id, name)
        for ledger in folded.values():
            yield from _known(ledger, deleted)

    def _left(self, org_id: str, name: str, how: str) -> Iterator[str]:
        world, key = self._world, (org_id, name)
        row = world.warehouse.rows.get(key)
        if row is None or not row.erased:
            yield f"{name} is {how}, and the table of extractions has {row}"
        if any((each["org_id"], each["job_id"]) == key for each in world.warehouse.attempts):
            yield f"{name} is {how}, and the log of attempts tells of it"
        if late := world.lake.of_job(key):
            yield f"{name} is {how}, and ClickHouse has {late}"
        if blobs := self._blobs_of(key):
            yield f"{name} is {how}, and there are {blobs}"

    def _blobs_of(self, key: JobKey) -> list[str]:
        return self._chains.unwanted(key, self._world.blobs.of_job(*key))

    def _seen(self, org_id: str, name: str) -> Iterator[str]:
        world, key = self._world, (org_id, name)
        if rows := world.model.rows_of(key):
            yield f"{name} is deleted, and the read model has {rows}"
        if key not in world.model.deleted:
            yield f"{name} is deleted, and the read model does not know that"


def _known(ledger: Ledger, deleted: Mapping[str, Story]) -> Iterator[str]:
    for name in deleted.keys() & ledger.jobs.keys():
        job = ledger.jobs[name]
        told = job.private, job.domain, job.extracted, job.ending.failed, job.resume.body_ref
        if any(told) or not all(delivery.erase for delivery in job.deliveries):
            yield f"{name} is deleted, and its decider knows {told} {job.deliveries}"
        if name in ledger.orgs[job.org_id].holders:
            yield f"{name} is deleted, and holds a slot of {job.org_id}"
