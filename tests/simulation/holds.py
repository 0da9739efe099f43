"""What is held back in a partition: orgs and workflows that are paused, full queues, and time in a queue that is over.

Told by the events alone, written from docs/queue.md.
"""

from dataclasses import dataclass, field

from schemas import events as e

SECOND = 1_000_000
OF_HOLDS = e.OrgPaused | e.OrgResumed | e.WorkflowPaused | e.WorkflowResumed


@dataclass(slots=True)
class Holds:
    """What the events so far hold back."""

    orgs: set[str] = field(default_factory=set)
    workflows: set[tuple[str, str]] = field(default_factory=set)  # org and workflow
    depths: dict[str, int] = field(default_factory=dict)  # how many jobs an org may have pending; none: any number
    calls: set[bytes] = field(default_factory=set)  # digests of commands that took effect

    def tell(self, event: OF_HOLDS) -> str:
        """Go on by one event; return what is wrong with it, or nothing."""
        org = event.org_id
        match event:
            case e.OrgPaused():
                self.orgs.add(org)
            case e.OrgResumed():
                self.orgs.discard(org)
            case e.WorkflowPaused(workflow_id=workflow):
                self.workflows.add((org, workflow))
            case e.WorkflowResumed(workflow_id=workflow):
                self.workflows.discard((org, workflow))
        return self._once(event.idempotency_digest)

    def limit(self, event: e.OrgLimitChanged) -> str:
        """The operator set limits; return what is wrong with it, or nothing."""
        self.depths[event.org_id] = event.max_pending
        return self._once(event.idempotency_digest)

    def _once(self, digest: bytes) -> str:
        fault = "took effect twice" if digest in self.calls else ""
        self.calls.add(digest)
        return fault

    def holds(self, org: str, workflow: str) -> bool:
        """Whether no job of this workflow may be dispatched."""
        return org in self.orgs or (org, workflow) in self.workflows

    def too_many(self, org: str, pending: int) -> bool:
        """Whether an org has more pending than it may have."""
        return 0 < self.depths.get(org, 0) < pending


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a job waits for its first claim."""

    since: int = 0  # microseconds UTC
    seconds: int = 0  # 0: for ever

    def fault(self, event: e.AnyEvent, *, status: str, attempt: int, at: int) -> str:
        """Return what is wrong with an event of the job that happens at a time, or nothing."""
        over = bool(self.seconds) and at >= self.since + self.seconds * SECOND
        if isinstance(event, e.JobClaimed) and not attempt and over:
            return "claimed after its time in the queue"
        if isinstance(event, e.JobFailed) and event.error_type == "queue_expired":
            if attempt or status != "pending":
                return f"expired while {status}, after {attempt} claims"
            return "" if over else "expired before its time in the queue was over"
        return ""
