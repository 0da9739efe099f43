"""Says the same to the rules and to the model: what is submitted, and what is set of an org."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, RuleBasedStateMachine, initialize, multiple, rule

from schemas.events import AnyEvent, JobDispatched, ReportRefused, ScheduleFired
from schemas.values import Destination, OnExhausted
from services.ledger.commands import (
    ChangeOrgLimit,
    ChangePlan,
    FireSchedule,
    GrantCredits,
    NewJob,
    PauseOrg,
    PauseWorkflow,
    RegisterOrg,
    ResumeOrg,
    ResumeWorkflow,
    SubmitJobs,
)
from services.ledger.plans import Prices
from services.ledger.policy import HOUR, SECOND, Policy
from services.ledger.replies import Done, Refused
from services.ledger.setting import SettingCommand
from tests.property.gate_model import ModelJob
from tests.property.ledger_model import LOSSES, RETENTION, Model
from tests.property.org_model import SPAN
from tests.unit.ledger.world import START, World

CAPS = {"acme": 2, "beta": 1}
BALANCES = {"acme": 4}  # credits; beta is not metered
PLACES = [
    Destination(destination_id="held", kind="postgres", on_exhausted=OnExhausted.HOLD, gate_seconds=60),
    Destination(destination_id="waived", kind="webhook", on_exhausted=OnExhausted.WAIVE, gate_seconds=40),
    Destination(destination_id="failing", kind="webhook", on_exhausted=OnExhausted.FAIL, gate_seconds=50),
    Destination(destination_id="side", kind="webhook", gating=False, gate_seconds=50),
]
ORGS = st.sampled_from(list(CAPS))
WORKFLOWS = ("v", "w")
SETTINGS = st.one_of(
    st.sampled_from([("pause", ""), ("resume", ""), ("resume", "")]),
    st.sampled_from([(what, workflow) for what in ("pause", "resume") for workflow in WORKFLOWS]),
    st.sampled_from([("cap", 1), ("cap", 2), ("cap", 3), ("retention", 0), ("retention", 5), ("retention", 60)]),
    st.sampled_from([("plan", "prepaid"), ("plan", "bi")]),
)
Said = tuple[SettingCommand, int]  # and when


def setting(name: str, org: str, what: str, value: int | str) -> SettingCommand:
    """Return the command that sets something of an org."""
    match what, value:
        case "cap", int():
            return ChangeOrgLimit(command_id=name, org_id=org, max_in_flight=value)
        case "retention", int():
            return ChangeOrgLimit(command_id=name, org_id=org, retention_seconds=value)
        case "plan", str():
            return ChangePlan(command_id=name, org_id=org, plan=value)
        case "pause", "":
            return PauseOrg(command_id=name, org_id=org)
        case "resume", "":
            return ResumeOrg(command_id=name, org_id=org)
        case "pause", str():
            return PauseWorkflow(command_id=name, org_id=org, workflow_id=value)
        case _:
            return ResumeWorkflow(command_id=name, org_id=org, workflow_id=str(value))


class Submissions(RuleBasedStateMachine):
    """Orgs, their settings and their jobs."""

    jobs = Bundle("jobs")
    settings = Bundle("settings")

    def __init__(self) -> None:
        super().__init__()
        policy = Policy(
            min_window=1000,
            delivery_schedule=(SECOND, SECOND),
            webhook_schedule=(SECOND, SECOND),
            spread_percent=0,
            max_losses=LOSSES,
            endpoint_span=SPAN,
            retention=RETENTION * SECOND,
            prices=Prices(fallback=1),
        )
        self.world = World(policy)
        self.model = Model(CAPS, BALANCES, self.world.now)
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
        org=ORGS,
        places=st.sets(st.integers(0, 3)),
        limit=st.sampled_from([0, 0, 30]),
        workflow=st.sampled_from(WORKFLOWS),
    )
    def submit(self, org: str, places: set[int], limit: int, workflow: str) -> str | MultipleResults[str]:
        """A customer submits a job."""
        self.submitted += 1
        job_id, destinations = f"j{self.submitted}", tuple(PLACES[place] for place in sorted(places))
        new = NewJob(job_id=job_id)
        submit = SubmitJobs(
            command_id="s",
            org_id=org,
            jobs=(new,),
            destinations=destinations,
            max_run_seconds=limit,
            workflow_id=workflow,
        )
        accepted = self.model.submit(job_id, ModelJob(org, destinations, limit, workflow))
        self.follow(self.world.when(submit))
        assert isinstance(self.world.reply, Done) == accepted
        return job_id if accepted else multiple()

    @rule(amount=st.integers(1, 3))
    def grant(self, amount: int) -> None:
        """The operator gives credits."""
        self.said += 1
        self.model.grant("acme", amount)
        digest = self.said.to_bytes(16, "big")
        self.world.when(GrantCredits(command_id="g", org_id="acme", credits=amount, idempotency_digest=digest))

    @rule(target=settings, org=ORGS, asked=SETTINGS)
    def set(self, org: str, asked: tuple[str, int | str]) -> Said:
        """The operator sets something of an org."""
        self.said += 1
        command = setting(f"set {self.said}", org, *asked)
        self.model.orgs[org].set(*asked)
        self.follow(self.world.when(command))
        assert not isinstance(self.world.reply, Refused)
        return command, self.world.now

    @rule(said=settings)
    def set_again(self, said: Said) -> None:
        """What set something is sent again, because its answer was lost, and lands behind whatever came since."""
        command, at = said
        if self.world.now - at < 20 * HOUR:
            assert self.world.when(command) == []
            assert not isinstance(self.world.reply, Refused)

    @rule(target=jobs, org=ORGS, due=st.integers(0, 12))
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
        self.follow(events)
        return job_id if paid else multiple()

    def follow(self, events: list[AnyEvent]) -> None:
        """Let the model know whose turn it was."""
        for event in events:
            if isinstance(event, JobDispatched):
                assert self.model.dispatched(event.job_id)
            assert not isinstance(event, ReportRefused) or event.reason

    def org_of(self, job: str) -> str:
        """Return the org of a job."""
        return self.model.jobs[job].org_id
