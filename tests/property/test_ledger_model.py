"""The rules of the ledger against a model of their own, under commands in any order."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, RuleBasedStateMachine, initialize, invariant, multiple, rule
from msgspec.structs import replace

from schemas.events import AnyEvent, JobDispatched, ReportRefused, ScheduleFired
from schemas.values import Destination, OnExhausted
from services.ledger.commands import (
    CancelJob,
    ClaimTask,
    FireSchedule,
    GrantCredits,
    NewJob,
    RegisterOrg,
    ReportProgress,
    RetryNow,
    SettleDeliveries,
    SubmitJobs,
    WaiveDelivery,
)
from services.ledger.plans import Prices
from services.ledger.policy import SECOND, Policy
from services.ledger.replies import Done, Granted
from services.ledger.reports import DeliveryResult, Extracted, Failed, HandedBack, NodeReport, Outcome, RetryLater
from services.ledger.status import Status
from tests.property.ledger_model import Model, ModelJob
from tests.unit.ledger.world import START, World

CAPS = {"acme": 2, "beta": 1}
BALANCES = {"acme": 4}  # credits; beta is not metered
DEAR = NodeReport(step=0, node_id="n", node_kind="service", edge="fail", next_node_id="m", next_is_fallback=True)
OUTCOMES: dict[str, Outcome | None] = {
    "dear": None,
    "internal": Failed(error_type="internal"),
    "extracted": Extracted(result_ref="r"),
    "failed": Failed(error_type="providers_exhausted"),
    "retry": RetryLater(node_id="n", try_number=2, delay_ms=5000),
    "handed_back": HandedBack(),
}
PLACES = [
    Destination(destination_id="held", kind="postgres", on_exhausted=OnExhausted.HOLD, gate_seconds=60),
    Destination(destination_id="waived", kind="webhook", on_exhausted=OnExhausted.WAIVE, gate_seconds=40),
    Destination(destination_id="failing", kind="webhook", on_exhausted=OnExhausted.FAIL, gate_seconds=50),
    Destination(destination_id="side", kind="webhook", gating=False, gate_seconds=50),
]
BOOTS = st.sampled_from(["b1", "b2", "b3"])
NAMES = st.sampled_from([place.destination_id for place in PLACES])


class Ledger(RuleBasedStateMachine):
    """Says the same to the rules and to the model, and compares."""

    jobs = Bundle("jobs")

    def __init__(self) -> None:
        super().__init__()
        policy = Policy(
            min_window=1000,
            delivery_schedule=(SECOND, SECOND),
            webhook_schedule=(SECOND, SECOND),
            max_losses=3,
            prices=Prices(fallback=1),
        )
        self.world = World(policy)
        self.model = Model(CAPS, dict(BALANCES))
        self.submitted = 0
        self.said = 0

    @initialize()
    def orgs(self) -> None:
        """Register the orgs."""
        for org, cap in CAPS.items():
            register = RegisterOrg(command_id="r", org_id=org, name=org, max_in_flight=cap, credits=BALANCES.get(org))
            self.world.when(register)

    @rule(
        target=jobs,
        org=st.sampled_from(list(CAPS)),
        places=st.sets(st.integers(0, 3)),
        limit=st.sampled_from([0, 0, 30]),
    )
    def submit(self, org: str, places: set[int], limit: int) -> str | MultipleResults[str]:
        """A customer submits a job."""
        self.submitted += 1
        job_id, destinations = f"j{self.submitted}", tuple(PLACES[place] for place in sorted(places))
        new = NewJob(job_id=job_id)
        submit = SubmitJobs(command_id="s", org_id=org, jobs=(new,), destinations=destinations, max_run_seconds=limit)
        accepted = self.model.submit(job_id, ModelJob(org, destinations, limit))
        self._follow(self.world.when(submit))
        assert isinstance(self.world.reply, Done) == accepted
        return job_id if accepted else multiple()

    @rule(amount=st.integers(1, 3))
    def grant(self, amount: int) -> None:
        """The operator gives credits."""
        self.said += 1
        self.model.balances["acme"] += amount
        digest = self.said.to_bytes(16, "big")
        self.world.when(GrantCredits(command_id="g", org_id="acme", credits=amount, idempotency_digest=digest))

    @rule(target=jobs, org=st.sampled_from(list(CAPS)), due=st.integers(0, 12))
    def fire(self, org: str, due: int) -> Any:
        """A scheduler, or another one, fires the schedule of an org for a due time."""
        self.submitted += 1
        job_id, is_new = f"j{self.submitted}", self.model.fire(org, due)
        submission = SubmitJobs(command_id="s", org_id=org, jobs=(NewJob(job_id=job_id),), schedule_id="s")
        command = FireSchedule(command_id="f", org_id=org, schedule_id="s", due_at=START + due, submission=submission)
        events = self.world.when(command)
        assert any(isinstance(event, ScheduleFired) for event in events) == is_new
        if not is_new:
            assert events == []
            return multiple()
        paid = self.model.submit(job_id, ModelJob(org, (), 0))
        self._follow(events)
        return job_id if paid else multiple()

    @rule(job=jobs, boot=BOOTS, older=st.sampled_from([0, 0, 0, 1, 2]))
    def claim(self, job: str, boot: str, older: int) -> None:
        """A worker asks for a job, by its newest task or an older one."""
        if boot not in self.world.ledger.workers:
            self._follow(self.world.announce(boot, slots=1000))
        task = max(1, self.model.jobs[job].tasks - older)
        claim = ClaimTask(command_id="c", org_id=self._org(job), job_id=job, dispatch=task, worker_id="w", boot_id=boot)
        granted = self.model.claim(job, boot, task, self.world.now)
        self._follow(self.world.when(claim))
        reply = self.world.reply
        assert (reply.attempt if isinstance(reply, Granted) else 0) == granted

    @rule(job=jobs, boot=BOOTS, back=st.sampled_from([0, 0, 0, 1]), outcome=st.sampled_from(list(OUTCOMES)))
    def report(self, job: str, boot: str, back: int, outcome: str) -> None:
        """A worker reports how an attempt ended: the owner mostly, at times somebody else or an older attempt."""
        known = self.model.jobs[job]
        boot = boot if back else known.boot or boot
        self._report(job, boot, known.attempt - back, outcome)

    @rule(job=jobs, boot=BOOTS, attempt=st.integers(0, 3), outcome=st.sampled_from(list(OUTCOMES)))
    def report_of_anybody(self, job: str, boot: str, attempt: int, outcome: str) -> None:
        """Anybody reports anything."""
        self._report(job, boot, attempt, outcome)

    @rule(job=jobs)
    def cancel(self, job: str) -> None:
        """The customer cancels."""
        self.said += 1
        cancel = CancelJob(command_id="x", org_id=self._org(job), job_id=job, correlation_id=str(self.said))
        cancelled = self.model.cancel(job)
        self._follow(self.world.when(cancel))
        assert isinstance(self.world.reply, Done) == cancelled

    @rule(job=jobs)
    def retry_now(self, job: str) -> None:
        """The customer does not want to wait."""
        why = self.model.retry_now(job, self.world.now)
        events = self.world.when(RetryNow(command_id="h", org_id=self._org(job), job_id=job))
        assert getattr(self.world.reply, "code", "") == why
        self._follow([*events, *self.world.after(0)])

    @rule(job=jobs, place=NAMES, good=st.booleans())
    def settle(self, job: str, place: str, good: bool) -> None:
        """A writer answers."""
        self._settle(job, place, good=good)

    @rule(job=jobs)
    def settle_all(self, job: str) -> None:
        """The writers are well."""
        for place in PLACES:
            self._settle(job, place.destination_id, good=True)

    @rule(job=jobs, place=NAMES)
    def waive(self, job: str, place: str) -> None:
        """A person waives a delivery."""
        self.model.waive(job, place)
        self._follow(
            self.world.when(WaiveDelivery(command_id="v", org_id=self._org(job), job_id=job, destination_id=place))
        )

    @rule(boot=BOOTS)
    def lose(self, boot: str) -> None:
        """A worker falls silent."""
        self.model.lose(boot)
        self._follow(self.world.lose(boot))

    @rule(seconds=st.sampled_from([1, 2, 6, 20, 45]))
    def wait(self, seconds: int) -> None:
        """Time passes."""
        self.model.pass_time(self.world.now + seconds * SECOND)
        self._follow(self.world.after(seconds))

    @invariant()
    def same(self) -> None:
        """State, fencing number and slots are those of the model; a free slot is taken, and none beyond the cap."""
        for job_id, job in self.model.jobs.items():
            known = self.world.job(job_id)
            assert (known.status, known.attempt) == (Status(job.status), job.attempt), job_id
            assert known.holds_slot == job.in_slot, job_id
        assert self.world.ledger.orgs["acme"].account.balance == self.model.balances["acme"] >= 0
        for org, cap in CAPS.items():
            taken = self.model.in_flight(org)
            assert taken <= cap
            assert taken == cap or not self.model.waiting(org, self.world.now)

    def _report(self, job: str, boot: str, attempt: int, outcome: str) -> None:
        known = self.world.ledger.jobs.get(job)
        step = known.resume.step if known else 0
        nodes = (replace(DEAR, step=step),) if outcome == "dear" else ()
        report = ReportProgress(
            command_id="p",
            org_id=self._org(job),
            job_id=job,
            attempt=attempt,
            worker_id="w",
            boot_id=boot,
            nodes=nodes,
            outcome=OUTCOMES[outcome],
        )
        self.model.report(job, boot, attempt, outcome, self.world.now)
        self._follow(self.world.when(report))

    def _settle(self, job: str, place: str, *, good: bool) -> None:
        known = self.world.job(job).delivery(place)
        result = DeliveryResult(
            org_id=self._org(job),
            job_id=job,
            destination_id=place,
            generation=1,
            try_number=known.try_number if known else 1,
            error_type="" if good else "connection",
        )
        self.model.answer(job, place, good=good, now=self.world.now)
        self._follow(self.world.when(SettleDeliveries(command_id="d", results=(result,))))

    def _follow(self, events: list[AnyEvent]) -> None:
        for event in events:
            if isinstance(event, JobDispatched):
                assert self.model.dispatched(event.job_id, self.world.now)
            assert not isinstance(event, ReportRefused) or event.reason

    def _org(self, job: str) -> str:
        return self.model.jobs[job].org_id


TestLedger = Ledger.TestCase
TestLedger.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
