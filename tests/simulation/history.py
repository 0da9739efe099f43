"""What a log says, folded by a few lines of their own: written from docs/state_machine.md, not from the code."""

from dataclasses import dataclass, field
from hashlib import blake2b

from schemas import events as e
from schemas.credit_events import CreditsGranted, CreditsHeld, CreditsReleased, OrgPlanChanged
from schemas.recorded import Recorded
from schemas.values import FireKind, FireOutcome
from tests.simulation.balances import Balances
from tests.simulation.endpoints import Health
from tests.simulation.forgetting import Forgetting
from tests.simulation.holds import Holds, Patience
from tests.simulation.story import ERASURES, LIVE, Story, Told

ALLOWED: dict[type[e.AnyEvent], tuple[tuple[str, ...], str]] = {
    e.JobClaimed: (("pending", "waiting_retry"), "running"),
    e.RetryScheduled: (("running",), "waiting_retry"),
    e.JobReleased: (("running",), "pending"),
    e.JobExtracted: (("running",), "extraction_done"),
    e.JobCompleted: (("extraction_done",), "completed"),
    e.JobFailed: (LIVE, "failed"),
    e.JobCancelled: (LIVE, "cancelled"),
}
AFTER_DELETION = (e.ReportRefused, e.JobRecalled)
BY_THE_OWNER = (e.NodeFinished, e.RetryScheduled, e.JobExtracted)
FREES_THE_SLOT = (e.RetryScheduled, e.JobReleased, e.JobExtracted, e.JobCompleted, e.JobFailed, e.JobCancelled)


@dataclass(slots=True)
class History:
    """The log of one partition up to some position; `wrong` holds what may never stand in a log."""

    partition: int
    position: int = 0
    cause: int = -1
    occurred_at: int = 0
    heads: dict[str, bytes] = field(default_factory=dict)
    caps: dict[str, int] = field(default_factory=dict)
    org_seqs: dict[str, int] = field(default_factory=dict)
    jobs: dict[str, Story] = field(default_factory=dict)
    fired: dict[tuple[str, str], int] = field(default_factory=dict)  # org and schedule -> its newest due time
    to_submit: dict[str, str] = field(default_factory=dict)  # jobs that a fire named -> its schedule
    ids: set[bytes] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)  # jobs whose gate has opened, and that have to be completed next
    holds: Holds = field(default_factory=Holds)
    balances: Balances = field(default_factory=Balances)
    health: Health = field(default_factory=Health)  # of endpoints
    forgetting: Forgetting = field(default_factory=Forgetting)
    wrong: list[str] = field(default_factory=list)

    def tell(self, recorded: Recorded, stored: bytes) -> None:
        """Go on by one event."""
        header, event = recorded.header, recorded.event
        self._header(recorded)
        self.heads[event.org_id] = blake2b(stored, digest_size=32).digest()
        job = self.jobs.get(event.job_id)
        for fault in (self.balances.tell(event), self.forgetting.tell(event, gone=job is not None and job.gone)):
            self._expect(not fault, recorded, fault)
        match event:
            case OrgPlanChanged() | CreditsGranted() | CreditsHeld() | CreditsReleased():
                self._next_of_org(recorded)
            case e.OrgRegistered() | e.OrgLimitChanged():
                self.caps[event.org_id] = event.max_in_flight
                self._next_of_org(recorded)
                if isinstance(event, e.OrgLimitChanged):
                    fault = self.holds.limit(event)
                    self._expect(not fault, recorded, fault)
            case e.OrgPaused() | e.OrgResumed() | e.WorkflowPaused() | e.WorkflowResumed():
                self._next_of_org(recorded)
                fault = self.holds.tell(event)
                self._expect(not fault, recorded, fault)
            case e.EndpointDisabled():
                self._next_of_org(recorded)
                fault = self.health.disable(event, header.occurred_at)
                self._expect(not fault, recorded, fault)
            case e.ScheduleFired():
                self._next_of_org(recorded)
                self._fire(recorded, event)
            case e.JobSubmitted():
                schedule_id = self.to_submit.pop(event.job_id, "")
                self._expect(schedule_id == event.schedule_id, recorded, f"a fire of {schedule_id!r} names it")
                self._expect(event.job_id not in self.jobs, recorded, "submitted twice")
                self._expect(header.seq == 1, recorded, f"first event has seq {header.seq}")
                patience = Patience(header.occurred_at, event.max_queue_seconds)
                story = Story(event.org_id, event.destinations, event.workflow_id, patience, seq=1)
                self.jobs[event.job_id] = story
                waiting = sum(job.org_id == event.org_id and job.status == "pending" for job in self.jobs.values())
                self._expect(not self.holds.too_many(event.org_id, waiting), recorded, f"{waiting} are pending")
            case _ if event.job_id:
                self._of_a_job(recorded, event)
        if isinstance(event, e.DeliveryRequested):  # where none is gating they are asked for, and then it is completed
            self.opened.discard(event.job_id)
        for name in self.opened:
            self._expect(
                self.jobs[name].status == "completed", recorded, f"the gate of {name} is open, this came first"
            )
        self.opened.clear()
        job = self.jobs.get(event.job_id)
        if job and job.status == "extraction_done" and not job.missing():
            self.opened.add(event.job_id)

    def _header(self, recorded: Recorded) -> None:
        header, event = recorded.header, recorded.event
        self._expect(header.partition == self.partition, recorded, f"says partition {header.partition}")
        self._expect(
            header.position == self.position + 1, recorded, f"position {header.position} after {self.position}"
        )
        self._expect(header.cause >= self.cause, recorded, f"cause {header.cause} after {self.cause}")
        self._expect(header.occurred_at >= self.occurred_at, recorded, "time runs backwards")
        self._expect(header.prev_hash == self.heads.get(event.org_id, bytes(32)), recorded, "breaks the chain")
        self._expect(header.event_id not in self.ids, recorded, "its id was used before")
        self.ids.add(header.event_id)
        self.position, self.cause, self.occurred_at = header.position, header.cause, header.occurred_at

    def _next_of_org(self, recorded: Recorded) -> None:
        org, seq = recorded.event.org_id, recorded.header.seq
        self._expect(seq == self.org_seqs.get(org, 0) + 1, recorded, f"seq {seq} of the org")
        self.org_seqs[org] = seq

    def _fire(self, recorded: Recorded, event: e.ScheduleFired) -> None:
        """A due time is fired once, in order; the jobs of a fire follow before anything else is said of its org."""
        self._expect(not self.to_submit, recorded, f"{self.to_submit} were named by a fire and did not follow")
        self.to_submit |= dict.fromkeys(event.job_ids, event.schedule_id)
        submitted = event.outcome is FireOutcome.SUBMITTED
        self._expect(bool(event.job_ids) == submitted, recorded, f"{event.outcome} with {event.job_ids}")
        if event.how is not FireKind.TRIGGER:
            before = self.fired.get((event.org_id, event.schedule_id), -1)
            self._expect(event.due_at > before, recorded, f"due at {event.due_at}, was fired for {before}")
            self.fired[(event.org_id, event.schedule_id)] = event.due_at

    def _of_a_job(self, recorded: Recorded, event: e.AnyEvent) -> None:
        job = self.jobs.get(event.job_id)
        if job is None:
            self._expect(False, recorded, "of a job that was never submitted")
            return
        self._expect(event.org_id == job.org_id, recorded, f"of a job of {job.org_id}")
        self._expect(recorded.header.seq == job.seq + 1, recorded, f"seq {recorded.header.seq} after {job.seq}")
        job.seq = recorded.header.seq
        fault = job.patience.fault(event, status=job.status, attempt=job.attempt, at=recorded.header.occurred_at)
        self._expect(not fault, recorded, fault)
        if isinstance(event, e.JobClaimed):
            self._expect(event.attempt == job.attempt + 1, recorded, f"claim {event.attempt} after {job.attempt}")
            self._expect(job.in_slot, recorded, "claimed without a dispatch")
            job.attempt = event.attempt
        elif isinstance(event, BY_THE_OWNER):
            self._expect(job.status == "running", recorded, f"reported while {job.status}")
        self._expect(event.attempt == job.attempt, recorded, f"of attempt {event.attempt}, current is {job.attempt}")
        self._slots(recorded, job, event)
        self._details(recorded, job, event)
        if isinstance(event, e.DeliveryEvent):
            told = job.deliveries.get((event.destination_id, event.generation))
            fault = self.health.tell(event, told.kind if told else "", recorded.header.occurred_at)
            self._expect(not fault, recorded, fault)
        self._deletion(recorded, job, event)
        self._expiry(recorded, job, event)
        rule = ALLOWED.get(type(event))
        if rule:
            self._expect(job.status in rule[0], recorded, f"while {job.status}")
            job.status = rule[1]
            job.ended_at = recorded.header.occurred_at

    def _slots(self, recorded: Recorded, job: Story, event: e.AnyEvent) -> None:
        if isinstance(event, FREES_THE_SLOT):
            job.in_slot = False
        elif isinstance(event, e.JobDispatched):
            self._expect(
                event.dispatch == job.dispatch + 1, recorded, f"dispatch {event.dispatch} after {job.dispatch}"
            )
            self._expect(job.status in ("pending", "waiting_retry"), recorded, f"dispatched while {job.status}")
            early = job.status == "waiting_retry" and recorded.header.occurred_at < job.due_at
            self._expect(not early, recorded, "a retry before it was due")
            job.dispatch = event.dispatch
            if not job.in_slot:
                job.in_slot = True
                held = self.holds.holds(job.org_id, job.workflow_id)
                self._expect(not held, recorded, "dispatched while it is paused")
                taken = sum(each.in_slot for each in self.jobs.values() if each.org_id == job.org_id)
                self._expect(
                    taken <= self.caps[job.org_id], recorded, f"{taken} in flight, cap {self.caps[job.org_id]}"
                )

    def _details(self, recorded: Recorded, job: Story, event: e.AnyEvent) -> None:
        match event:
            case e.NodeFinished():
                self._expect(event.step == job.steps, recorded, f"step {event.step}, {job.steps} is next")
                job.steps = event.step + 1
            case e.RetryBroughtForward():
                self._expect(job.status == "waiting_retry", recorded, f"hurried while {job.status}")
                job.due_at = event.due_at
            case e.RetryScheduled():
                job.due_at = event.due_at
            case e.JobCompleted():
                opened = {job.opened.get(each.destination_id) for each in job.destinations if each.gating}
                self._expect(not job.missing(), recorded, f"completed without {job.missing()}")
                self._expect(set(event.opened_by) == opened, recorded, "opened by other events than those that did")
            case e.DeliveryRequested():
                told = job.deliveries.setdefault((event.destination_id, event.generation), Told(event.kind, 0))
                self._expect(event.try_number == told.tries + 1, recorded, f"try {event.try_number} after {told.tries}")
                self._expect(not (told.ack or told.over), recorded, "requested after it was settled")
                self._expect(recorded.header.occurred_at >= told.not_before, recorded, "before its next try was due")
                told.tries = event.try_number
            case e.DeliveryAcked() | e.DeliveryFailed() | e.DeliveryDeadLettered() | e.DeliveryWaived():
                told = job.deliveries.get((event.destination_id, event.generation), Told("", 0))
                self._expect(told.tries > 0, recorded, "answered, never requested")
                self._expect(not told.ack, recorded, "answered after its ACK")
                if isinstance(event, e.DeliveryAcked):
                    told.ack, told.rows = recorded.header.event_id, event.rows
                if isinstance(event, e.DeliveryFailed):
                    told.not_before = event.next_try_at
                told.over = told.over or isinstance(event, e.DeliveryDeadLettered | e.DeliveryWaived)
                if isinstance(event, e.DeliveryAcked | e.DeliveryWaived):
                    job.opened.setdefault(event.destination_id, recorded.header.event_id)

    def _deletion(self, recorded: Recorded, job: Story, event: e.AnyEvent) -> None:
        if job.deleted:
            of_erasures = isinstance(event, e.DeliveryEvent) and event.destination_id in ERASURES
            self._expect(of_erasures or isinstance(event, AFTER_DELETION), recorded, "after its deletion")
        if isinstance(event, e.JobDeleted):
            self._expect(not job.deleted, recorded, "deleted twice")
            self._expect(job.terminal and not job.in_slot, recorded, f"deleted while {job.status}")
            job.deleted = True

    def _expiry(self, recorded: Recorded, job: Story, event: e.AnyEvent) -> None:
        if isinstance(event, e.DeliveryRequested) and job.expired:
            self._expect(event.destination_id in ERASURES, recorded, "delivered after its results had expired")
        if isinstance(event, e.JobExpired):
            self._expect(not (job.expired or job.deleted), recorded, "expired twice, or after its deletion")
            self._expect(not (job.unsettled() or job.in_slot), recorded, f"expired while {job.unsettled()} was missing")
            kept = event.retention_seconds * 1_000_000
            in_time = job.terminal and event.ended_at == job.ended_at <= recorded.header.occurred_at - kept
            self._expect(in_time and kept > 0, recorded, f"expired, {job.status} since {job.ended_at}")
            job.expired = True

    def _expect(self, true: bool, recorded: Recorded, what: str) -> None:
        if not true:
            header = recorded.header
            where = f"{header.partition}:{header.position} {header.event_type} {recorded.event.job_id}"
            self.wrong.append(f"{where}: {what}")
