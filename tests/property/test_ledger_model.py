"""The rules of the ledger against a model of their own, under commands in any order."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import MultipleResults, invariant, rule
from msgspec.structs import replace

from schemas.events import JobExpired
from services.ledger.commands import (
    CancelJob,
    ClaimTask,
    ExpireJob,
    RedeliverJob,
    ReportProgress,
    RetryNow,
    SettleDeliveries,
    WaiveDelivery,
)
from services.ledger.policy import SECOND
from services.ledger.replies import Done, Granted
from services.ledger.reports import DeliveryResult, Extracted, Failed, HandedBack, NodeReport, Outcome, RetryLater
from services.ledger.status import Status
from tests.property.delivery_model import TRIES
from tests.property.ledger_machine import ORGS, PLACES, Submissions

DEAR = NodeReport(step=0, node_id="n", node_kind="service", edge="fail", next_node_id="m", next_is_fallback=True)
OUTCOMES: dict[str, Outcome | None] = {
    "dear": None,
    "internal": Failed(error_type="internal"),
    "extracted": Extracted(result_ref="r"),
    "failed": Failed(error_type="providers_exhausted"),
    "retry": RetryLater(node_id="n", try_number=2, delay_ms=5000),
    "handed_back": HandedBack(),
}
BOOTS = st.sampled_from(["b1", "b2", "b3"])
NAMES = st.sampled_from([place.destination_id for place in PLACES])


class Ledger(Submissions):
    """Lets jobs live, and compares what becomes of them."""

    jobs = Submissions.jobs

    @rule(job=jobs, boot=BOOTS, older=st.sampled_from([0, 0, 0, 1, 2]))
    def claim(self, job: str, boot: str, older: int) -> None:
        """A worker asks for a job, by its newest task or an older one."""
        if boot not in self.world.ledger.workers:
            self.follow(self.world.announce(boot, slots=1000))
        task = max(1, self.model.jobs[job].tasks - older)
        claim = ClaimTask(
            command_id="c", org_id=self.org_of(job), job_id=job, dispatch=task, worker_id="w", boot_id=boot
        )
        granted = self.model.claim(job, boot, task)
        self.follow(self.world.when(claim))
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

    @rule(target=jobs, org=ORGS, places=st.sets(st.integers(0, 3), min_size=1))
    def deliver(self, org: str, places: set[int]) -> str | MultipleResults[str]:
        """A job is submitted and, where it finds a slot, extracted at once."""
        job = self.submit(org, places, 0, "v")
        if isinstance(job, str):
            self.claim(job, "b1", 0)
            self.report(job, "b1", 0, "extracted")
        return job

    @rule(job=jobs)
    def cancel(self, job: str) -> None:
        """The customer cancels."""
        self.said += 1
        cancel = CancelJob(command_id="x", org_id=self.org_of(job), job_id=job, correlation_id=str(self.said))
        cancelled = self.model.cancel(job)
        self.follow(self.world.when(cancel))
        assert isinstance(self.world.reply, Done) == cancelled

    @rule(job=jobs)
    def retry_now(self, job: str) -> None:
        """The customer does not want to wait."""
        self._retry_now(job, self.model.jobs[job].attempt)

    @rule(job=jobs, older=st.integers(1, 3))
    def retry_now_of_before(self, job: str, older: int) -> None:
        """What hurried an earlier wait lands once more."""
        self._retry_now(job, self.model.jobs[job].attempt - older)

    @rule(job=jobs, boot=BOOTS)
    def wait_again(self, job: str, boot: str) -> None:
        """A job, where a worker gets it, waits for a retry once more than it was hurried for."""
        self.retry_now(job)
        self.claim(job, boot, 0)
        self.report(job, boot, 0, "retry")
        self.retry_now_of_before(job, 1)

    def _retry_now(self, job: str, attempt: int) -> None:
        why = self.model.retry_now(job, attempt)
        hurry = RetryNow(command_id="h", org_id=self.org_of(job), job_id=job, attempt=attempt)
        events = self.world.when(hurry)
        assert getattr(self.world.reply, "code", "") == why
        self.follow([*events, *self.world.after(0)])

    @rule(job=jobs)
    def expire(self, job: str) -> None:
        """Somebody who sweeps through old jobs asks for the results of one to go."""
        was, why = self.model.jobs[job].expired, self.model.expire(job)
        events = self.world.when(ExpireJob(command_id="y", org_id=self.org_of(job), job_id=job))
        assert getattr(self.world.reply, "code", "") == why
        expired = [event for event in events if isinstance(event, JobExpired)]
        assert len(expired) == (not was and not why)
        self.follow(events)

    @rule(
        job=jobs,
        place=NAMES,
        error=st.sampled_from(["", "connection", "connection", "gone"]),
        older=st.booleans(),
        back=st.sampled_from([0, 0, 0, 1]),
    )
    def settle(self, job: str, place: str, error: str, older: bool, back: int) -> None:
        """A writer answers, perhaps for what was made once more since; its endpoint may have been set anew, too."""
        self._settle(job, place, error, older=older, back=back)

    @rule(job=jobs, place=NAMES)
    def fail_all(self, job: str, place: str) -> None:
        """An endpoint takes nothing for longer than it may."""
        for _ in range(TRIES):
            self._settle(job, place, "connection")
            self.wait(12)

    @rule(org=ORGS, place=NAMES)
    def enable(self, org: str, place: str) -> None:
        """The owner sets an endpoint anew."""
        self.model.orgs[org].endpoint(place).version += 1

    @rule(job=jobs)
    def settle_all(self, job: str) -> None:
        """The writers are well."""
        for place in PLACES:
            self._settle(job, place.destination_id)

    @rule(job=jobs, place=NAMES, older=st.sampled_from([0, 0, 1]))
    def waive(self, job: str, place: str, older: int) -> None:
        """A person waives a delivery, or did so for one of before and is heard once more."""
        generation = self._newest(job, place) - older
        counts = self.model.waive(job, place, generation)
        waive = WaiveDelivery(
            command_id="v", org_id=self.org_of(job), job_id=job, destination_id=place, generation=generation
        )
        events = self.world.when(waive)
        assert counts or not events
        self.follow(events)

    @rule(job=jobs, place=NAMES, waived=st.booleans())
    def deliver_again(self, job: str, place: str, waived: bool) -> None:
        """What was waived is wanted after all, or what has arrived once more; the waiver lands again."""
        if waived:
            self.waive(job, place, 0)
        else:
            self._settle(job, place)
        self.redeliver(job, place, 1)
        self.waive(job, place, 1)

    @rule(job=jobs, place=NAMES, more=st.sampled_from([0, 1, 1, 1, 2]))
    def redeliver(self, job: str, place: str, more: int) -> None:
        """A person has a delivery made once more."""
        generation = self._newest(job, place) + more
        self.model.redeliver(job, place, generation)
        again = RedeliverJob(
            command_id="d", org_id=self.org_of(job), job_id=job, destination_id=place, generation=generation
        )
        self.follow(self.world.when(again))

    @rule(boot=BOOTS)
    def lose(self, boot: str) -> None:
        """A worker falls silent."""
        self.model.lose(boot)
        self.follow(self.world.lose(boot))

    @rule(seconds=st.sampled_from([1, 2, 6, 20, 45, 3 * 86_400]))
    def wait(self, seconds: int) -> None:
        """Time passes."""
        self.model.pass_time(self.world.now + seconds * SECOND)
        self.follow(self.world.after(seconds))

    @invariant()
    def same(self) -> None:
        """State, fencing number and slots are those of the model; a free slot is taken."""
        for job_id, job in self.model.jobs.items():
            known = self.world.job(job_id)
            assert (known.status, known.attempt) == (Status(job.status), job.attempt), job_id
            assert (known.holds_slot, known.expired) == (job.in_slot, job.expired), job_id
        for org_id, org in self.model.orgs.items():
            known_org = self.world.ledger.orgs[org_id]
            assert (known_org.max_in_flight, known_org.retention_seconds) == (org.cap, org.retention_seconds)
            assert (known_org.paused, known_org.paused_workflows) == (org.paused, org.paused_workflows)
            assert known_org.account.metered == org.metered
            assert known_org.account.balance == self.model.balances[org_id] >= 0
            assert self.model.in_flight(org_id) >= org.cap or not self.model.waiting(org_id)

    @invariant()
    def same_endpoints(self) -> None:
        """Which endpoints fail, since when, and which were disabled, are those of the model."""
        for org_id, org in self.model.orgs.items():
            known = self.world.ledger.orgs[org_id].endpoints
            failing = {name: each.failing_since for name, each in org.endpoints.items() if each.failing_since}
            assert {name: each.since for name, each in known.failing.items()} == failing
            disabled = {name: each.disabled_at for name, each in org.endpoints.items() if each.disabled_at}
            assert {name: each.at for name, each in known.disabled.items()} == disabled

    def _report(self, job: str, boot: str, attempt: int, outcome: str) -> None:
        known = self.world.ledger.jobs.get(job)
        step = known.resume.step if known else 0
        nodes = (replace(DEAR, step=step),) if outcome == "dear" else ()
        report = ReportProgress(
            command_id="p",
            org_id=self.org_of(job),
            job_id=job,
            attempt=attempt,
            worker_id="w",
            boot_id=boot,
            actor="worker:w",
            nodes=nodes,
            outcome=OUTCOMES[outcome],
        )
        self.model.report(job, boot, attempt, outcome)
        self.follow(self.world.when(report))

    def _newest(self, job: str, place: str) -> int:
        asked = self.model.jobs[job].asked.get(place)
        return asked.generation if asked else 0

    def _settle(self, job: str, place: str, error: str = "", *, older: bool = False, back: int = 0) -> None:
        generation = self._newest(job, place) - back
        known = self.world.job(job).delivery(place)
        version = self.model.orgs[self.org_of(job)].endpoint(place).version - older
        result = DeliveryResult(
            org_id=self.org_of(job),
            job_id=job,
            destination_id=place,
            generation=generation,
            try_number=known.try_number if known else 1,
            error_type=error,
            closed=error == "gone",
            endpoint_version=version,
        )
        self.model.answer(job, place, error, version=version, generation=generation)
        events = self.world.when(SettleDeliveries(command_id="d", results=(result,)))
        self.follow([*events, *self.world.after(0)])


TestLedger = Ledger.TestCase
TestLedger.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
