"""What callers get who ask why a job stands where it stands."""

from api.answers import Answer, JobStatus
from api.times import Timestamp


class Queue(Answer, frozen=True, kw_only=True):
    """What stands between a job and a worker, as its decider sees it; counts are of the job's partition."""

    ahead: int  # jobs of the org that take a slot before it
    in_flight: int  # jobs of the org that are dispatched or running
    max_in_flight: int
    holders: list[str]  # the jobs that hold the org's slots, up to 100
    orgs_waiting: int  # orgs with a job that could go at once
    unclaimed: int  # tasks that no worker has claimed yet
    window: int  # how many of them there may be
    workers: int
    slots: int


class AwaitedDelivery(Answer, frozen=True, kw_only=True):
    """A gating delivery whose ACK is missing."""

    destination_id: str
    kind: str
    state: str  # requested, waiting, dead
    try_number: int
    failures: int
    next_try_at: Timestamp | None
    deadline_at: Timestamp | None  # then the verdict of the destination's `onExhausted` is given


class Explanation(JobStatus, frozen=True, kw_only=True):
    """Why a job stands where it stands: a code and a sentence, and the facts behind them."""

    reason: str
    message: str
    since: Timestamp
    until: Timestamp | None
    expires_at: Timestamp | None  # of a pending job: then it fails unless a worker has claimed it
    attempt: int
    worker_id: str | None
    node: str | None
    queue: Queue | None
    awaited: list[AwaitedDelivery]
    error_type: str | None
    rule: str | None
    opened_by: list[str]  # the events that opened the gate of a completed job
    expired_at: Timestamp | None  # since when the results of an ended job are past retention
