"""Endpoints of webhooks that only fail, and those that were disabled for it: what is queued for these is closed.

Of an endpoint nothing is remembered while it takes messages. A span of failures begins with the first one behind a
success; it begins anew where nothing was tried for two days, and with a new version of the endpoint (another url, or
enabled again). The fold asks no setting how long a span may last: `verdict` does, once, and its event is the fact.
"""

from collections.abc import Iterator

from msgspec import Struct

from schemas.events import (
    DeliveryAcked,
    DeliveryDeadLettered,
    DeliveryFailed,
    EndpointDisabled,
    JobEvent,
)
from services.ledger.delivery import DeliveryState, DeliveryStatus
from services.ledger.job import Job
from services.ledger.policy import HOUR
from services.ledger.retries import WEBHOOK
from services.ledger.timers import Timer

GONE = "gone"  # the endpoint said that it wants nothing any more
OURS = frozenset({"store_unavailable", "extraction_missing", "extraction_unreadable", "endpoint_closed"})
SILENCE = 48 * HOUR  # behind which a failure says nothing about the one before it
MOST = 100  # endpoints of an org that are remembered in either way; it has ten at a time


class Failing(Struct, frozen=True, array_like=True, gc=False):
    """An endpoint that took nothing lately. Times are microseconds UTC."""

    since: int
    last_at: int
    version: int
    error_type: str


class Disabled(Struct, frozen=True, array_like=True, gc=False):
    """An endpoint that the ledger had disabled."""

    at: int  # microseconds UTC
    version: int


class Endpoints:
    """What is remembered of an org's endpoints, by webhook id: the oldest are forgotten beyond a hundred."""

    __slots__ = ("disabled", "failing", "queued")

    def __init__(self) -> None:
        self.failing: dict[str, Failing] = {}
        self.disabled: dict[str, Disabled] = {}
        self.queued: dict[str, set[str]] = {}  # jobs with a delivery that waits for its next try: follows from the jobs

    def closed(self, delivery: DeliveryStatus) -> bool:
        """Whether a delivery was asked for before its endpoint was disabled."""
        if delivery.destination.kind != WEBHOOK:
            return False
        disabled = self.disabled.get(webhook_of(delivery.destination.destination_id))
        return disabled is not None and delivery.requested_at <= disabled.at


def webhook_of(destination_id: str) -> str:
    """Return the endpoint of a destination: that of a notice is `<webhook id>:<event type>`."""
    return destination_id.partition(":")[0]


def fold_answer(endpoints: Endpoints, job: Job, event: JobEvent, at: int) -> None:
    """Fold what came of a delivery into what is remembered of its endpoint."""
    if not isinstance(event, DeliveryAcked | DeliveryFailed | DeliveryDeadLettered):
        return
    delivery = job.delivery(event.destination_id)
    if delivery is None or delivery.destination.kind != WEBHOOK:
        return
    webhook_id = webhook_of(event.destination_id)
    if isinstance(event, DeliveryFailed):
        _fail(endpoints, webhook_id, event, at)
    elif isinstance(event, DeliveryAcked) or (event.closed and not endpoints.closed(delivery)):
        endpoints.failing.pop(webhook_id, None)  # what was asked of an earlier version says nothing of this one


def _fail(endpoints: Endpoints, webhook_id: str, event: DeliveryFailed, at: int) -> None:
    version, before = event.endpoint_version, endpoints.failing.get(webhook_id)
    if event.error_type in OURS or _disabled(endpoints, webhook_id, version) or (before and version < before.version):
        return
    goes_on = before is not None and before.version == version and at - before.last_at <= SILENCE
    since = before.since if before is not None and goes_on else at
    endpoints.failing.pop(webhook_id, None)
    endpoints.failing[webhook_id] = Failing(since, at, version, event.error_type)
    _forget_oldest(endpoints.failing)


def _disabled(endpoints: Endpoints, webhook_id: str, version: int) -> bool:
    disabled = endpoints.disabled.get(webhook_id)
    return disabled is not None and version <= disabled.version


def _forget_oldest(kept: dict[str, Failing] | dict[str, Disabled]) -> None:
    while len(kept) > MOST:
        del kept[next(iter(kept))]


def fold_disabled(endpoints: Endpoints, event: EndpointDisabled, at: int) -> Iterator[Timer]:
    """Fold that an endpoint is disabled; yield what has to be looked at now: all that waits for its next try there."""
    endpoints.failing.pop(event.webhook_id, None)
    endpoints.disabled.pop(event.webhook_id, None)
    endpoints.disabled[event.webhook_id] = Disabled(at, event.endpoint_version)
    _forget_oldest(endpoints.disabled)
    for job_id in sorted(endpoints.queued.get(event.webhook_id, ())):
        for destination_id in (event.webhook_id, *_notices(event.webhook_id)):
            yield Timer(at, "delivery", job_id, destination_id)


def _notices(webhook_id: str) -> tuple[str, str]:
    return f"{webhook_id}:job.completed", f"{webhook_id}:job.failed"


def index_queued(endpoints: Endpoints, before: Job | None, after: Job) -> None:
    """Bring the index of what waits for its next try from one state of a job to the next."""
    if before is not None and before.deliveries is after.deliveries and before.ending is after.ending:
        return
    had = _waiting(before) if before is not None else frozenset()
    has = _waiting(after)
    for webhook_id in has - had:
        endpoints.queued.setdefault(webhook_id, set()).add(after.job_id)
    for webhook_id in had - has:
        jobs = endpoints.queued.get(webhook_id)
        if jobs is not None:
            jobs.discard(after.job_id)
            if not jobs:
                del endpoints.queued[webhook_id]


def _waiting(job: Job) -> frozenset[str]:
    return frozenset(
        webhook_of(delivery.destination.destination_id)
        for delivery in job.deliveries
        if delivery.state is DeliveryState.WAITING and delivery.destination.kind == WEBHOOK and job.delivers(delivery)
    )


def verdict(endpoints: Endpoints, job: Job, event: DeliveryFailed, *, now: int, longest: int) -> list[EndpointDisabled]:
    """Return that an endpoint is disabled, where a failure that is folded already was the last one that it may have."""
    webhook_id = webhook_of(event.destination_id)
    failing = endpoints.failing.get(webhook_id)
    delivery = job.delivery(event.destination_id)
    if failing is None or delivery is None or delivery.destination.kind != WEBHOOK or failing.last_at != now:
        return []
    if event.endpoint_version != failing.version or event.error_type in OURS:
        return []  # another failure of this moment counted
    gone = event.error_type == GONE
    if not gone and now - failing.since < longest:
        return []
    return [
        EndpointDisabled(
            org_id=job.org_id,
            webhook_id=webhook_id,
            reason=GONE if gone else "failing",
            first_failed_at=now if gone else failing.since,
            error_type=event.error_type,
            endpoint_version=failing.version,
        )
    ]
