"""A small model of jobs, slots, the gate and retention, written from docs/state_machine.md, docs/retention.md and
docs/webhooks.md: what every command has to lead to.

It does not say which waiting job goes next (that is fairness), only that a free slot is taken and no more than those.
"""

from tests.property.delivery_model import SECOND, Asked
from tests.property.gate_model import TERMINAL, GateModel, ModelJob

LOSSES = 3  # claims that may end by a lost worker
RETENTION = 30  # seconds, of an org that has no other


class Model(GateModel):
    """All jobs."""

    def __init__(self, caps: dict[str, int], balances: dict[str, int], now: int) -> None:
        super().__init__(caps, balances, now)
        self.fired: dict[str, int] = {}  # org -> the newest due time of its schedule

    def submit(self, job_id: str, job: ModelJob) -> bool:
        """Return whether it is paid for and new."""
        if self.orgs[job.org_id].metered:
            if not self.balances[job.org_id]:
                return False
            self._pay(job, 1)
        return self.jobs.setdefault(job_id, job) is job

    def grant(self, org: str, amount: int) -> None:
        """An org is given credits, from the first of which on its jobs cost some."""
        self.balances[org] += amount
        self.orgs[org].metered = True

    def fire(self, org: str, due: int) -> bool:
        """Return whether a due time is fired now: it and all before it are over once it was."""
        is_new = due > self.fired.get(org, -1)
        self.fired[org] = max(due, self.fired.get(org, -1))
        return is_new

    def claim(self, job_id: str, boot: str, task: int) -> int:
        """Return the attempt that is granted, 0: none."""
        job = self.jobs[job_id]
        if job.status == "running" and job.boot == boot:
            return job.attempt
        if not job.out or task <= job.spent:
            return 0
        job.status, job.out, job.boot, job.attempt = "running", False, boot, job.attempt + 1
        job.spent = job.tasks
        job.first_claimed_at = job.first_claimed_at or self.now
        return job.attempt

    def report(self, job_id: str, boot: str, attempt: int, outcome: str) -> bool:
        """Return whether the report counts: only the newest claim of a running job may report."""
        job = self.jobs.get(job_id)
        if job is None or job.status != "running" or (job.boot, job.attempt) != (boot, attempt):
            if job is not None and job.boot == boot and outcome != "dear":
                job.parting = False
            return False
        match outcome:
            case "extracted":
                job.status = "extraction_done"
                for place in job.destinations:
                    job.asked[place.destination_id] = Asked(place, asked_at=self.now, sent_at=self.now)
                self._gate(job)
            case "failed":
                self._end(job, "failed")
            case "internal":
                self._end(job, "failed", refund=True)
            case "dear":
                if job.cost and self.orgs[job.org_id].metered and not self.balances[job.org_id]:
                    self._end(job, "failed")
                elif job.cost and self.orgs[job.org_id].metered:
                    self._pay(job, 1)
            case "retry":
                job.status, job.due_at = "waiting_retry", self.now + 5 * SECOND
            case _:
                job.status = "pending"
        return True

    def cancel(self, job_id: str) -> bool:
        """Return whether it is cancelled now."""
        job = self.jobs.get(job_id)
        if job is None or job.status in TERMINAL:
            return False
        job.parting = job.status == "running"
        self._end(job, "cancelled", refund=not job.attempt)
        return True

    def retry_now(self, job_id: str, attempt: int) -> str:
        """Return why the wait behind an attempt may not be hurried, or nothing."""
        job = self.jobs.get(job_id)
        if job is None:
            return "unknown_job"
        if job.status != "waiting_retry":
            return "job_terminal" if job.status in TERMINAL else "not_waiting"
        if job.attempt != attempt:
            return "not_waiting"
        job.due_at = min(job.due_at, self.now)
        return ""

    def expire(self, job_id: str) -> str:
        """Return why the results of a job are kept, or nothing: they are past retention, now or before."""
        job = self.jobs[job_id]
        if job.status not in TERMINAL:
            return "not_ended"
        if job.expired:
            return ""
        if job.parting or (job.delivers and any(asked.under_way for asked in job.asked.values())):
            return "not_settled"
        seconds = self.orgs[job.org_id].retention_seconds or RETENTION
        job.expired = self.now >= job.ended_at + seconds * SECOND
        return "" if job.expired else "retained"

    def lose(self, boot: str) -> None:
        """A worker was not heard from."""
        for job in self.jobs.values():
            if job.status == "running" and job.boot == boot:
                job.losses += 1
                job.status = "pending"
                if job.losses == LOSSES:
                    self._end(job, "failed", refund=True)
            if job.boot == boot:
                job.parting = False

    def pass_time(self, now: int) -> None:
        """What is dated happens, the earliest first."""
        self.now = now
        dated: list[tuple[int, str, str]] = []
        for name, job in self.jobs.items():
            if job.max_run_seconds and job.first_claimed_at:
                dated.append((job.first_claimed_at + job.max_run_seconds * SECOND, name, ""))
            for place, asked in job.asked.items():
                until = asked.deadline if job.waits_for(asked) else 0
                if at := min(filter(None, (until, asked.sent_again_at)), default=0):
                    dated.append((at, name, place))
        for at, name, place in sorted(dated):
            if at <= now and place:
                self._look_at(self.jobs[name], self.jobs[name].asked[place])
            elif at <= now and self.jobs[name].status in ("pending", "running", "waiting_retry"):
                self.jobs[name].parting = self.jobs[name].status == "running"
                self._end(self.jobs[name], "failed")

    def dispatched(self, job_id: str) -> bool:
        """Return whether a job may be dispatched now: it waits, or nobody has claimed its task."""
        job = self.jobs[job_id]
        may = job.out or (self._waits(job) and self.in_flight(job.org_id) < self.orgs[job.org_id].cap)
        job.out = True
        job.tasks += 1
        return may

    def in_flight(self, org_id: str) -> int:
        """How many jobs of an org hold a slot."""
        return sum(job.in_slot for job in self.jobs.values() if job.org_id == org_id)

    def waiting(self, org_id: str) -> int:
        """How many jobs of an org want one, and may have it."""
        return sum(self._waits(job) for job in self.jobs.values() if job.org_id == org_id)

    def _waits(self, job: ModelJob) -> bool:
        return job.wants_slot(self.now) and not self.orgs[job.org_id].holds_back(job.workflow_id)

    def _pay(self, job: ModelJob, price: int) -> None:
        self.balances[job.org_id] -= price
        job.cost += price
