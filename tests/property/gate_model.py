"""A small model of jobs and of their gate, written from docs/state_machine.md and docs/webhooks.md: what becomes of
deliveries that are answered, given up, waived and made once more, and of the job that waits for them."""

from dataclasses import dataclass, field

from schemas.values import Destination, OnExhausted
from tests.property.delivery_model import Asked
from tests.property.org_model import ModelOrg

TERMINAL = ("completed", "failed", "cancelled")


@dataclass(slots=True)
class ModelJob:
    """One job."""

    org_id: str
    destinations: tuple[Destination, ...]
    max_run_seconds: int
    workflow_id: str = ""
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
    ended_at: int = 0
    parting: bool = False  # it ended without its worker, which has not said since that it is at it no more
    expired: bool = False
    asked: dict[str, Asked] = field(default_factory=dict)

    @property
    def in_slot(self) -> bool:
        """Whether it counts against the cap of its org."""
        return self.out or self.status == "running"

    @property
    def delivers(self) -> bool:
        """Whether its data still goes anywhere."""
        return self.status in ("extraction_done", "completed") and not self.expired

    def waits_for(self, asked: Asked) -> bool:
        """Whether a delivery is what it waits for."""
        return self.status == "extraction_done" and asked.destination.gating and not asked.opened

    def wants_slot(self, now: int) -> bool:
        """Whether it wants a slot now."""
        due = self.status == "pending" or (self.status == "waiting_retry" and self.due_at <= now)
        return due and not self.out


class GateModel:
    """Orgs, their jobs and what these deliver."""

    def __init__(self, caps: dict[str, int], balances: dict[str, int], now: int) -> None:
        self.now = now  # microseconds UTC
        self.orgs = {org: ModelOrg(cap, metered=org in balances) for org, cap in caps.items()}
        self.jobs: dict[str, ModelJob] = {}
        self.balances = {**dict.fromkeys(caps, 0), **balances}

    def answer(self, job_id: str, place: str, error: str = "", *, version: int = 1, generation: int = 1) -> None:
        """A writer answers for a delivery, of which it failed if there is an error; it tried an endpoint as it was."""
        job = self.jobs[job_id]
        asked = job.asked.get(place)
        if asked is None or asked.generation != generation or asked.state == "acked":
            return
        endpoint = self.orgs[job.org_id].endpoint(place)
        is_webhook = asked.destination.kind == "webhook"
        if not error:
            asked.state, asked.opened = "acked", True
            endpoint.failing_since = 0
        elif asked.state == "out":
            was_disabled = is_webhook and asked.asked_at <= endpoint.disabled_at
            is_last, closed = asked.fail(self.now), was_disabled or error == "gone"
            disables = is_webhook and endpoint.fail(version, self.now, gone=error == "gone")
            if is_last or closed:
                self._give_up(job, asked, closed=closed)
            if disables:
                self._close_all(job.org_id, place)
            if closed and not was_disabled:
                endpoint.failing_since = 0
        self._gate(job)

    def waive(self, job_id: str, place: str, generation: int) -> bool:
        """A person waives a delivery; return whether it is of the generation that they saw."""
        job = self.jobs[job_id]
        asked = job.asked.get(place)
        if asked is None or asked.generation != generation:
            return False
        if job.delivers and asked.state != "acked":
            asked.state, asked.opened = "over", True
            self._gate(job)
        return True

    def redeliver(self, job_id: str, place: str, generation: int) -> None:
        """A person has a delivery made once more."""
        job = self.jobs[job_id]
        asked = job.asked.get(place)
        if asked and job.delivers and asked.generation + 1 == generation and asked.state != "out":
            job.asked[place] = Asked(asked.destination, self.now, self.now, generation=generation, opened=asked.opened)

    def _end(self, job: ModelJob, status: str, *, refund: bool = False) -> None:
        job.status, job.out, job.ended_at = status, False, self.now
        if refund:
            self.balances[job.org_id] += job.cost

    def _look_at(self, job: ModelJob, asked: Asked) -> None:
        if not job.delivers:
            return
        if asked.under_way and self._is_closed(job, asked):
            self._give_up(job, asked, closed=True)
            self._gate(job)
        elif job.waits_for(asked) and asked.deadline <= self.now:
            if asked.destination.on_exhausted is OnExhausted.WAIVE:
                asked.state, asked.opened = "over", True
                self._gate(job)
            else:
                self._end(job, "failed")
        elif asked.under_way:
            asked.send_again(self.now)

    def _is_closed(self, job: ModelJob, asked: Asked) -> bool:
        name = asked.destination.destination_id
        is_webhook = asked.destination.kind == "webhook"
        return is_webhook and asked.asked_at <= self.orgs[job.org_id].endpoint(name).disabled_at

    def _close_all(self, org_id: str, place: str) -> None:
        """An endpoint is disabled: what waits for its next try there is closed in that moment."""
        for job in self.jobs.values():
            asked = job.asked.get(place)
            if job.org_id == org_id and asked and asked.state == "waiting" and job.delivers:
                self._give_up(job, asked, closed=True)
                self._gate(job)

    def _give_up(self, job: ModelJob, asked: Asked, *, closed: bool = False) -> None:
        asked.state = "over"
        if not job.waits_for(asked):
            return
        match asked.destination.on_exhausted:
            case OnExhausted.FAIL:
                self._end(job, "failed")
            case OnExhausted.WAIVE:
                asked.opened = True
            case _:
                asked.opened = closed  # a person can redeliver to what is there

    def _gate(self, job: ModelJob) -> None:
        gating = [asked for asked in job.asked.values() if asked.destination.gating]
        if job.status == "extraction_done" and all(asked.opened for asked in gating):
            self._end(job, "completed")
