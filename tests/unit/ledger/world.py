"""A partition to try rules on: given commands, when a command or the time comes, then these events."""

from dataclasses import dataclass, field

import msgspec

from schemas.events import AnyEvent, JobsArchived
from schemas.recorded import Recorded
from schemas.values import Destination, NodeOutcome
from services.decider.batch import Batch, BatchDecider
from services.ledger.apply import apply
from services.ledger.archive import absent, archivable
from services.ledger.commands import (
    AnnounceWorker,
    AnyCommand,
    CancelJob,
    ClaimTask,
    DeleteJob,
    ExpireJob,
    NewJob,
    RegisterOrg,
    ReportProgress,
    SettleDeliveries,
    SubmitJobs,
)
from services.ledger.job import Job
from services.ledger.policy import SECOND, Policy
from services.ledger.record import digest_of
from services.ledger.replies import Answer
from services.ledger.reports import DeliveryResult, Extracted, NodeReport, Outcome
from services.ledger.state import Ledger
from services.ledger.status import Status

POSTGRES = Destination(destination_id="internal-postgres", kind="postgres")
START = 1_800_000_000 * SECOND


class PlainEncoder:
    """Stores events as msgpack: the rules do not care how."""

    def encode(self, recorded: Recorded) -> bytes:
        """Return bytes that depend on every field."""
        return msgspec.msgpack.encode([recorded.header, recorded.event])


class Keeper:
    """Knows every job for ever, as the read model does: a fold of the events that forgets nothing."""

    def __init__(self) -> None:
        self._ledger = Ledger(0)

    def take(self, recorded: Recorded) -> None:
        """Fold the next event."""
        if not isinstance(recorded.event, JobsArchived):
            apply(self._ledger, recorded, digest_of(b""))

    def load(self, org_id: str, job_id: str) -> Job | None:
        """Return a job as it is now."""
        job = self._ledger.jobs.get(job_id)
        return job if job is not None and job.org_id == org_id else None


@dataclass
class World:
    """One partition with a clock and everything it has sent out."""

    policy: Policy = field(default_factory=lambda: Policy(spread_percent=0))
    now: int = START
    offset: int = 0
    seen: list[Recorded] = field(default_factory=list)
    sent: Batch = field(default_factory=Batch)

    def __post_init__(self) -> None:
        self.keeper = Keeper()
        self.decider = BatchDecider(Ledger(0, self.policy), PlainEncoder())

    @property
    def ledger(self) -> Ledger:
        """State of the partition."""
        return self.decider.ledger

    def when(self, command: AnyCommand) -> list[AnyEvent]:
        """Decide a command and return its events."""
        loaded = [self.keeper.load(*key) for key in absent(self.ledger, command)]
        archived = [job for job in loaded if job is not None]
        self.decider.command(msgspec.structs.replace(command, requester="me"), self.offset, self.now, archived)
        self.offset += 1
        return self._take()

    def after(self, seconds: float) -> list[AnyEvent]:
        """Let time pass and return the events of what became due."""
        self.now += int(seconds * SECOND)
        self.decider.timers(self.now, 1000)
        return self._take()

    def lose(self, boot_id: str) -> list[AnyEvent]:
        """Let the lease of a worker run out."""
        self.decider.lost_workers([boot_id], self.now)
        return self._take()

    def archive(self) -> list[AnyEvent]:
        """Let ended jobs leave memory, as far as the policy wants it."""
        up_to = archivable(self.ledger, self.ledger.position)
        if up_to:
            self.decider.say(JobsArchived(up_to=up_to), self.now)
        return self._take()

    @property
    def reply(self) -> Answer:
        """The reply to the newest command."""
        return [reply for reply in self.sent.replies if reply.command_id][-1].body

    def job(self, job_id: str = "j1") -> Job:
        """State of a job."""
        return self.ledger.jobs[job_id]

    def status(self, job_id: str = "j1") -> Status:
        """Status of a job."""
        return self.job(job_id).status

    def types(self, job_id: str = "j1") -> list[str]:
        """Every event type of a job so far."""
        return [r.header.event_type for r in self.seen if r.event.job_id == job_id]

    # ---- shortcuts to a state ----

    def org(self, org_id: str = "acme", cap: int = 5, plan: str = "bi", **fields: object) -> "World":
        """Register an org, on the plan that has every kind of destination unless told otherwise."""
        register = RegisterOrg(command_id="r", org_id=org_id, name=org_id, max_in_flight=cap, plan=plan)
        self.when(msgspec.structs.replace(register, **fields))
        return self

    def submit(
        self, *job_ids: str, org_id: str = "acme", destinations: tuple[Destination, ...] = (POSTGRES,), **fields: object
    ) -> list[AnyEvent]:
        """Submit jobs."""
        command = SubmitJobs(
            command_id="s",
            org_id=org_id,
            jobs=tuple(NewJob(job_id=job_id) for job_id in job_ids or ("j1",)),
            destinations=destinations,
        )
        return self.when(msgspec.structs.replace(command, **fields))

    def claim(
        self, job_id: str = "j1", boot: str = "boot-1", org_id: str = "acme", dispatch: int = 0
    ) -> list[AnyEvent]:
        """Claim a job for a worker, by its newest task or that of a dispatch."""
        dispatch = dispatch or (self.ledger.jobs[job_id].dispatch if job_id in self.ledger.jobs else 1)
        return self.when(
            ClaimTask(command_id="c", org_id=org_id, job_id=job_id, dispatch=dispatch, worker_id="w", boot_id=boot)
        )

    def report(
        self,
        outcome: Outcome | None,
        *nodes: NodeReport,
        job_id: str = "j1",
        boot: str = "boot-1",
        attempt: int = 1,
        org_id: str = "acme",
    ) -> list[AnyEvent]:
        """Report on a job."""
        return self.when(
            ReportProgress(
                command_id="p",
                org_id=org_id,
                job_id=job_id,
                attempt=attempt,
                worker_id="w",
                boot_id=boot,
                nodes=nodes,
                outcome=outcome,
                actor="worker:w",
            )
        )

    def settle(self, *results: DeliveryResult) -> list[AnyEvent]:
        """Answer deliveries."""
        return self.when(SettleDeliveries(command_id="d", results=results))

    def announce(self, boot: str = "boot-1", slots: int = 8, *running: str, stopping: bool = False) -> list[AnyEvent]:
        """Give a sign of life."""
        return self.when(
            AnnounceWorker(
                command_id="a",
                worker_id="w",
                boot_id=boot,
                kind="workflow",
                slots=slots,
                free_slots=slots,
                running=running,
                stopping=stopping,
            )
        )

    def cancel(self, job_id: str = "j1", org_id: str = "acme", call: str = "call-1") -> list[AnyEvent]:
        """Cancel a job."""
        return self.when(CancelJob(command_id="x", org_id=org_id, job_id=job_id, correlation_id=call))

    def delete(self, job_id: str = "j1", org_id: str = "acme") -> list[AnyEvent]:
        """Delete a job."""
        return self.when(DeleteJob(command_id="e", org_id=org_id, job_id=job_id))

    def expire(self, job_id: str = "j1", org_id: str = "acme") -> list[AnyEvent]:
        """Ask whether the results of a job are past retention."""
        return self.when(ExpireJob(command_id="y", org_id=org_id, job_id=job_id))

    def extracted(self, job_id: str = "j1", **submit: object) -> "World":
        """Bring a fresh job to extraction_done."""
        self.org().submit(job_id, **submit)  # type: ignore[arg-type]
        self.claim(job_id)
        self.report(EXTRACTED, node(0), job_id=job_id)
        return self

    def _take(self) -> list[AnyEvent]:
        batch = self.decider.take()
        self.seen += [stored.recorded for stored in batch.events]
        for stored in batch.events:
            self.keeper.take(stored.recorded)
        self.sent.events += batch.events
        self.sent.tasks += batch.tasks
        self.sent.deliveries += batch.deliveries
        self.sent.replies += batch.replies
        return [stored.recorded.event for stored in batch.events]


EXTRACTED = Extracted(result_ref="body", extraction_ref="data", items=1)


def node(step: int, **fields: object) -> NodeReport:
    """A visit of a service node that succeeded, unless told otherwise."""
    report = NodeReport(step=step, node_id=f"n{step}", node_kind="service", edge="success", next_node_id=f"n{step + 1}")
    return msgspec.structs.replace(report, **fields)


def failed_node(step: int, **fields: object) -> NodeReport:
    """A visit of a service node that failed and will be tried again."""
    return node(step, outcome=NodeOutcome.FAILED, edge="", next_node_id="", **fields)


def ack(job_id: str = "j1", destination: str = "internal-postgres", **fields: object) -> DeliveryResult:
    """A writer's answer: durable, unless told otherwise."""
    result = DeliveryResult(org_id="acme", job_id=job_id, destination_id=destination, generation=1, rows=1)
    return msgspec.structs.replace(result, **fields)


def names(events: list[AnyEvent]) -> list[str]:
    """Type names of events."""
    return [type(event).__name__ for event in events]


__all__ = ["EXTRACTED", "POSTGRES", "World", "ack", "failed_node", "names", "node"]
