"""A small model of what is set of an org and of endpoints that only fail, from docs/queue.md and docs/webhooks.md."""

from dataclasses import dataclass, field

DAY = 86_400 * 1_000_000  # microseconds
SILENCE = 2 * DAY  # behind which a span of failures begins anew
SPAN = 20_000_000  # microseconds of nothing but failures, after which an endpoint is disabled


@dataclass(slots=True)
class Endpoint:
    """An endpoint that webhooks are sent to. Times are microseconds UTC."""

    version: int = 1  # of those that the owner made, the newest
    failing_since: int = 0  # 0: it takes what is sent to it
    failed_at: int = 0
    failing_version: int = 0
    disabled_at: int = 0  # the last time
    disabled_version: int = -1

    def fail(self, version: int, now: int, *, gone: bool) -> bool:
        """One message failed; return whether that disables the endpoint."""
        if version <= self.disabled_version or (self.failing_since and version < self.failing_version):
            return False
        fresh = not self.failing_since or version > self.failing_version or now - self.failed_at > SILENCE
        self.failing_since = now if fresh else self.failing_since
        self.failed_at, self.failing_version = now, version
        if not gone and now - self.failing_since < SPAN:
            return False
        self.failing_since, self.disabled_at, self.disabled_version = 0, now, version
        return True


@dataclass(slots=True)
class ModelOrg:
    """What the operator has set of one org, and what of it is in effect."""

    cap: int
    metered: bool = False
    retention_seconds: int = 0  # 0: as the ledger is set
    paused: bool = False
    paused_workflows: set[str] = field(default_factory=set)
    endpoints: dict[str, Endpoint] = field(default_factory=dict)

    def set(self, what: str, value: int | str) -> None:
        """Something is set, for the first time by this command: it is in effect now, whatever was before."""
        match what, value:
            case "cap", int():
                self.cap = value
            case "retention", int():
                self.retention_seconds = value
            case "plan", str():
                self.metered = value == "prepaid"
            case "pause", "":
                self.paused = True
            case "resume", "":
                self.paused = False
            case "pause", str():
                self.paused_workflows.add(value)
            case "resume", str():
                self.paused_workflows.discard(value)
            case _:
                raise AssertionError(what)

    def holds_back(self, workflow_id: str) -> bool:
        """Whether no job of a workflow is dispatched."""
        return self.paused or workflow_id in self.paused_workflows

    def endpoint(self, webhook_id: str) -> Endpoint:
        """Return an endpoint, of which nothing was said so far if it is not known."""
        return self.endpoints.setdefault(webhook_id, Endpoint())
