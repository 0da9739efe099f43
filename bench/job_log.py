"""A log of jobs at work: commands of many orgs in, events of the rules themselves out, in their stored bytes.

Each partition has orgs, workers and a writer of its own. Some hundred jobs are under way at once, so that what comes
one after the other in the log is of many jobs. The same seed gives the same log.
"""

import random
import uuid
from collections.abc import Iterator
from itertools import count
from typing import TypeVar

from schemas.codec import Encoder
from schemas.events import JobsArchived
from schemas.values import Destination, NodeOutcome
from services.decider.batch import BatchDecider, StoredEvent
from services.ledger.archive import archivable
from services.ledger.commands import (
    AnnounceWorker,
    AnyCommand,
    CancelJob,
    ClaimTask,
    DeleteJob,
    NewJob,
    RegisterOrg,
    ReportProgress,
    SettleDeliveries,
    SubmitJobs,
)
from services.ledger.policy import MILLISECOND, SECOND, Policy
from services.ledger.reports import DeliveryResult, Extracted, Failed, NodeReport, Outcome, RetryLater
from services.ledger.state import Ledger
from services.ledger.tasks import Delivery, Task

START = 1_764_000_000_000_000  # microseconds UTC
UNDER_WAY = 400  # jobs of a partition
ORGS = 8  # of a partition
WORKERS = 4
STEP = 2 * MILLISECOND  # between two commands of a partition
HEARTBEAT_STEPS, TIMER_STEPS = 2_000, 50
MOST_SUBMITTED, MOST_SETTLED = 20, 25
RETRIES, FAILURES, DELIVERIES_AGAIN = 8, 6, 3  # of each hundred
CANCELLED_OF, DELETED_OF = 100, 1_000  # one of so many jobs
KEPT = 2_000  # jobs behind which one is deleted
POLICY = Policy(ended_kept=2 * KEPT, ended_kept_for=SECOND)
PLACES = (
    Destination(destination_id="internal-postgres", kind="postgres"),
    Destination(destination_id="hook-0197f2a4c3", kind="webhook"),
    Destination(destination_id="lake-0197f2a4c3", kind="clickhouse", gating=False),
)
NODES = ("entry", "fetch", "gate", "extraction")  # that a job visits, in their order
Item = TypeVar("Item")


class JobLog:
    """The events of one partition, as its decider records them."""

    def __init__(self, partition: int, encoder: Encoder, seed: int = 1) -> None:
        self._partition = partition
        self._dice = random.Random(seed * 1_000 + partition)
        self._decider = BatchDecider(Ledger(partition, POLICY), encoder)
        self._now, self._offset = START, 0
        self._jobs = 0
        self._tasks: list[Task] = []
        self._running: list[tuple[ClaimTask, int]] = []  # with the step that comes next
        self._deliveries: list[Delivery] = []
        self._newest: list[tuple[str, str]] = []  # org and job id

    def events(self) -> Iterator[StoredEvent]:
        """Yield events without end."""
        for org in range(ORGS):
            yield from self._tell(
                RegisterOrg(
                    command_id="o",
                    org_id=self._org(org),
                    name=f"Org {org}",
                    max_in_flight=100,
                    credits=10**9 if org % 2 else None,
                )
            )
        for step in count():
            self._now += STEP
            if step % HEARTBEAT_STEPS == 0:
                for worker in range(WORKERS):
                    yield from self._tell(self._alive(worker))
            if step % TIMER_STEPS == 0:
                self._decider.timers(self._now, 1_000)
                yield from self._taken()
                if up_to := archivable(self._decider.ledger, self._decider.ledger.position):
                    self._decider.say(JobsArchived(up_to=up_to), self._now)
            yield from self._tell(self._next())

    def _next(self) -> AnyCommand:
        """Choose what happens next: what waits longest most often comes first, but not always."""
        waiting, running, delivering = len(self._tasks), len(self._running), len(self._deliveries)
        if waiting + running + delivering < UNDER_WAY:
            return self._other() or self._submit()
        chosen = self._dice.randrange(waiting + running + delivering)
        if chosen < waiting:
            return self._claim(self._pick(self._tasks))
        if chosen < waiting + running:
            return self._report(*self._pick(self._running))
        return self._settle()

    def _pick(self, items: list[Item]) -> Item:
        return items.pop(self._dice.randrange(min(len(items), MOST_SETTLED)))

    def _tell(self, command: AnyCommand) -> Iterator[StoredEvent]:
        self._decider.command(command, self._offset, self._now)
        self._offset += 1
        yield from self._taken()

    def _taken(self) -> Iterator[StoredEvent]:
        batch = self._decider.take()
        self._tasks += batch.tasks
        self._deliveries += batch.deliveries
        yield from batch.events

    def _submit(self) -> SubmitJobs:
        org = self._dice.randrange(ORGS)
        jobs = tuple(self._job(org) for _ in range(self._dice.randint(1, MOST_SUBMITTED)))
        self._newest = (self._newest + [(self._org(org), job.job_id) for job in jobs])[-KEPT:]
        return SubmitJobs(
            command_id="s",
            org_id=self._org(org),
            actor=f"api:key-{org}",
            correlation_id=self._uuid("request", self._offset),
            jobs=jobs,
            workflow_id=f"products-{org % 3}",
            workflow_version=3,
            workflow_ref=f"workflows/{self._org(org)}/products-{org % 3}/3",
            destinations=PLACES[: 1 + org % 3],
            max_run_seconds=3_600,
        )

    def _job(self, org: int) -> NewJob:
        self._jobs += 1
        number, host = self._jobs, f"shop-{self._dice.randrange(300)}.example"
        spec = (
            f'{{"url":"https://{host}/catalogue/products/{number:09d}?variant={number % 977}&ref=feed",'
            f'"input":{{"sku":"{number:09d}","country":"NL"}},"metadata":{{"batch":"nightly-{number // 1000}"}}}}'
        )
        return NewJob(job_id=self._uuid("job", number), domain=host, private=b"\0" + spec.encode())

    def _other(self) -> AnyCommand | None:
        """Now and then somebody cancels a job that was just submitted, or deletes an older one."""
        if len(self._newest) == KEPT and self._dice.randrange(DELETED_OF) < MOST_SUBMITTED // 2:
            org_id, job_id = self._newest[0]
            return DeleteJob(command_id="x", org_id=org_id, job_id=job_id, actor="api:key")
        if self._newest and self._dice.randrange(CANCELLED_OF) < MOST_SUBMITTED // 2:
            org_id, job_id = self._newest[-1]
            return CancelJob(command_id="c", org_id=org_id, job_id=job_id, reason="caller", actor="api:key")
        return None

    def _claim(self, task: Task) -> ClaimTask:
        worker = self._dice.randrange(WORKERS)
        claim = ClaimTask(
            command_id="t",
            org_id=task.org_id,
            job_id=task.job_id,
            dispatch=task.dispatch,
            worker_id=f"worker-{worker}",
            boot_id=self._boot(worker),
            actor=f"worker:worker-{worker}",
        )
        self._running.append((claim, 0))
        return claim

    def _report(self, claim: ClaimTask, step: int) -> ReportProgress:
        """Report a node, and with the last one the end: entry, fetch (once more where it failed), gate, extraction."""
        job = self._decider.ledger.jobs.get(claim.job_id)
        attempt = job.attempt if job else 1
        percent = self._dice.randrange(100)
        outcome: Outcome | None = None
        node = NODES[step]
        if node == "fetch" and percent < RETRIES:
            outcome = RetryLater(node_id=node, try_number=2, delay_ms=2_000, error_type="http_503")
        elif node == "gate" and percent < FAILURES:
            message = b'\0{"message":"all providers failed, the last one with 403"}'
            outcome = Failed(error_type="providers_exhausted", node_id=node, rule="captcha", private=message)
        elif node == NODES[-1]:
            outcome = self._extracted(claim)
        if outcome is None:
            self._running.append((claim, step + 1))
        good = not isinstance(outcome, RetryLater | Failed)
        visit = NodeReport(
            step=step,
            node_id=node,
            node_kind="service" if node == "fetch" else node,
            provider="direct" if node == "fetch" else "",
            outcome=NodeOutcome.SUCCEEDED if good else NodeOutcome.FAILED,
            status_code=(200 if good else 503) if node == "fetch" else 0,
            error_type="" if good else "http_503",
            edge="success" if good else "",
            next_node_id=NODES[min(step + 1, len(NODES) - 1)] if good else "",
            latency_ms=self._dice.randrange(20, 3_000),
            body_ref=f"{claim.org_id}/{claim.job_id}/{attempt}/body" if node == "fetch" else "",
            content_type="text/html" if node == "fetch" else "",
            body_bytes=48_213 if node == "fetch" else 0,
            private=b'\0{"finalUrl":"https://shop.example/catalogue/products/1"}' if node == "fetch" else b"",
        )
        return ReportProgress(
            command_id="r",
            org_id=claim.org_id,
            job_id=claim.job_id,
            actor=claim.actor,
            attempt=attempt,
            worker_id=claim.worker_id,
            boot_id=claim.boot_id,
            nodes=(visit,),
            outcome=outcome,
        )

    def _extracted(self, claim: ClaimTask) -> Extracted:
        place = f"{claim.org_id}/{claim.job_id}/1"
        return Extracted(
            result_ref=f"{place}/body",
            content_type="text/html",
            result_bytes=48_213,
            extraction_ref=f"{place}/extraction",
            schema_id="product",
            data_type="product",
            items=1,
            quality_completeness=0.875,
            quality_validation=1.0,
            quality_composite=0.9375,
        )

    def _settle(self) -> SettleDeliveries:
        answered = [self._pick(self._deliveries) for _ in range(min(MOST_SETTLED, len(self._deliveries)))]
        return SettleDeliveries(
            command_id="d",
            actor="writer:writer-1",
            writer_id="writer-1",
            results=tuple(self._result(delivery) for delivery in answered),
        )

    def _result(self, delivery: Delivery) -> DeliveryResult:
        again = delivery.try_number == 1 and self._dice.randrange(100) < DELIVERIES_AGAIN
        return DeliveryResult(
            org_id=delivery.org_id,
            job_id=delivery.job_id,
            destination_id=delivery.destination_id,
            generation=delivery.generation,
            try_number=delivery.try_number,
            rows=0 if again else delivery.items,
            error_type="http_503" if again else "",
        )

    def _alive(self, worker: int) -> AnnounceWorker:
        return AnnounceWorker(
            command_id="w",
            worker_id=f"worker-{worker}",
            boot_id=self._boot(worker),
            kind="workflow",
            slots=200,
            free_slots=100,
            running=tuple(claim.job_id for claim, _ in self._running if claim.boot_id == self._boot(worker)),
        )

    def _boot(self, worker: int) -> str:
        return self._uuid("boot", worker)

    def _org(self, org: int) -> str:
        return f"org-{self._partition:02d}-{org:02d}"

    def _uuid(self, kind: str, number: int) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{kind}-{self._partition}-{number}"))
