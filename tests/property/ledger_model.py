"""A small model of jobs, slots and the gate, written from docs/state_machine.md: what every command has to lead to.

It does not say which waiting job goes next (that is fairness), only that a free slot is taken and no more than those.
"""

from dataclasses import dataclass, field

from schemas.values import Destination, OnExhausted

SECOND = 1_000_000
TERMINAL = ("completed", "failed", "cancelled")
LOSSES = 3  # claims that may end by a lost worker
TRIES = 3  # of one delivery


@dataclass(slots=True)
class Asked:
    """The delivery of a job to one gating or other destination."""

    destination: Destination
    deadline: int  # microseconds UTC
    failures: int = 0
    next_try_at: int = 0  # microseconds UTC; 0: under way
    acked: bool = False
    over: bool = False  # given up or waived
    opened: bool = False


@dataclass(slots=True)
class ModelJob:
    """One job."""

    org_id: str
    destinations: tuple[Destination, ...]
    max_run_seconds: int
    status: str = "pending"
    attempt: int = 0
    boot: str = ""
    out: bool = False  # its task is out and nobody has claimed it
    tasks: int = 0  # how often it was dispatched
    spent: int = 0  # how many of these tasks a claim has made worthless
    losses: int = 0
    due_at: int = 0  # of a retry
    first_claimed_at: int = 0
    cost: int = 0  # credits that were paid for it
    asked: dict[str, Asked] = field(default_factory=dict)

    @property
    def in_slot(self) -> bool:
        """Whether it counts against the cap of its org."""
        return self.out or self.status == "running"

    def waits(self, now: int) -> bool:
        """Whether it wants a slot now."""
        due = self.status == "pending" or (self.status == "waiting_retry" and self.due_at <= now)
        return due and not self.out


class Model:
    """All jobs."""

    def __init__(self, caps: dict[str, int], balances: dict[str, int]) -> None:
        self.caps, self.jobs = caps, dict[str, ModelJob]()
        self.fired: dict[str, int] = {}  # org -> the newest due time of its schedule
        self.balances = balances  # of the orgs whose jobs cost a credit

    def submit(self, job_id: str, job: ModelJob) -> bool:
        """Return whether it is paid for and new."""
        if job.org_id in self.balances:
            if not self.balances[job.org_id]:
                return False
            self._pay(job, 1)
        return self.jobs.setdefault(job_id, job) is job

    def fire(self, org: str, due: int) -> bool:
        """Return whether a due time is fired now: it and all before it are over once it was."""
        is_new = due > self.fired.get(org, -1)
        self.fired[org] = max(due, self.fired.get(org, -1))
        return is_new

    def claim(self, job_id: str, boot: str, task: int, now: int) -> int:
        """Return the attempt that is granted, 0: none."""
        job = self.jobs[job_id]
        if job.status == "running" and job.boot == boot:
            return job.attempt
        if not job.out or task <= job.spent:
            return 0
        job.status, job.out, job.boot, job.attempt = "running", False, boot, job.attempt + 1
        job.spent = job.tasks
        job.first_claimed_at = job.first_claimed_at or now
        return job.attempt

    def report(self, job_id: str, boot: str, attempt: int, outcome: str, now: int) -> bool:
        """Return whether the report counts: only the newest claim of a running job may report."""
        job = self.jobs.get(job_id)
        if job is None or job.status != "running" or (job.boot, job.attempt) != (boot, attempt):
            return False
        match outcome:
            case "extracted":
                job.status = "extraction_done"
                for place in job.destinations:
                    job.asked[place.destination_id] = Asked(place, now + place.gate_seconds * SECOND)
                self._gate(job)
            case "failed":
                job.status = "failed"
            case "internal":
                job.status = "failed"
                self._refund(job)
            case "dear":
                if job.cost and not self.balances[job.org_id]:
                    job.status = "failed"
                elif job.cost:
                    self._pay(job, 1)
            case "retry":
                job.status, job.due_at = "waiting_retry", now + 5 * SECOND
            case _:
                job.status = "pending"
        return True

    def cancel(self, job_id: str) -> bool:
        """Return whether it is cancelled now."""
        job = self.jobs.get(job_id)
        if job is None or job.status in TERMINAL:
            return False
        job.status, job.out = "cancelled", False
        if not job.attempt:
            self._refund(job)
        return True

    def retry_now(self, job_id: str, now: int) -> str:
        """Return why nothing may be hurried, or nothing."""
        job = self.jobs.get(job_id)
        if job is None:
            return "unknown_job"
        if job.status != "waiting_retry":
            return "job_terminal" if job.status in TERMINAL else "not_waiting"
        job.due_at = min(job.due_at, now)
        return ""

    def lose(self, boot: str) -> None:
        """A worker was not heard from."""
        for job in self.jobs.values():
            if job.status == "running" and job.boot == boot:
                job.losses += 1
                job.status = "pending" if job.losses < LOSSES else "failed"
                if job.status == "failed":
                    self._refund(job)

    def answer(self, job_id: str, place: str, *, good: bool, now: int) -> None:
        """A writer answers for a delivery."""
        asked = self._asked(job_id, place)
        if asked is None or asked.acked:
            return
        job = self.jobs[job_id]
        if good:
            asked.acked = asked.opened = True
        elif not asked.over and not asked.next_try_at:
            asked.failures += 1
            asked.next_try_at = now + SECOND
            if asked.failures == TRIES:
                asked.over = True
                self._give_up(job, asked)
        self._gate(job)

    def waive(self, job_id: str, place: str) -> None:
        """A person waives a delivery."""
        asked, job = self._asked(job_id, place), self.jobs.get(job_id)
        if asked and job and job.status in ("extraction_done", "completed") and not asked.acked:
            asked.over = asked.opened = True
            self._gate(job)

    def pass_time(self, now: int) -> None:
        """What is dated happens, the earliest first."""
        dated: list[tuple[int, str, str]] = []
        for name, job in self.jobs.items():
            if job.max_run_seconds and job.first_claimed_at:
                dated.append((job.first_claimed_at + job.max_run_seconds * SECOND, name, ""))
            dated += [(asked.deadline, name, place) for place, asked in job.asked.items()]
            for asked in job.asked.values():
                if asked.next_try_at <= now and not asked.over:
                    asked.next_try_at = 0
        for at, name, place in sorted(dated):
            if at <= now:
                self._overdue(self.jobs[name], place)

    def dispatched(self, job_id: str, now: int) -> bool:
        """Return whether a job may be dispatched now: it waits, or nobody has claimed its task."""
        job = self.jobs[job_id]
        may = job.waits(now) or job.out
        job.out = True
        job.tasks += 1
        return may

    def in_flight(self, org_id: str) -> int:
        """How many jobs of an org hold a slot."""
        return sum(job.in_slot for job in self.jobs.values() if job.org_id == org_id)

    def waiting(self, org_id: str, now: int) -> int:
        """How many jobs of an org want one."""
        return sum(job.waits(now) for job in self.jobs.values() if job.org_id == org_id)

    def _pay(self, job: ModelJob, price: int) -> None:
        self.balances[job.org_id] -= price
        job.cost += price

    def _refund(self, job: ModelJob) -> None:
        if job.cost:
            self.balances[job.org_id] += job.cost

    def _asked(self, job_id: str, place: str) -> Asked | None:
        job = self.jobs.get(job_id)
        return job.asked.get(place) if job else None

    def _overdue(self, job: ModelJob, place: str) -> None:
        if not place:
            if job.status in ("pending", "running", "waiting_retry"):
                job.status, job.out = "failed", False
            return
        asked = job.asked[place]
        if job.status != "extraction_done" or not asked.destination.gating or asked.opened:
            return
        if asked.destination.on_exhausted is OnExhausted.WAIVE:
            asked.over = asked.opened = True
            self._gate(job)
        else:
            job.status = "failed"

    def _give_up(self, job: ModelJob, asked: Asked) -> None:
        if job.status != "extraction_done" or not asked.destination.gating or asked.opened:
            return
        if asked.destination.on_exhausted is OnExhausted.FAIL:
            job.status = "failed"
        elif asked.destination.on_exhausted is OnExhausted.WAIVE:
            asked.opened = True

    def _gate(self, job: ModelJob) -> None:
        gating = [asked for asked in job.asked.values() if asked.destination.gating]
        if job.status == "extraction_done" and all(asked.opened for asked in gating):
            job.status = "completed"
