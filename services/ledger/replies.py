"""Replies: from the decider to whoever asked, after the commit."""

from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from services.ledger.bounds import Int
from services.ledger.tasks import Resume


class Done(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """The command is in effect, now or since earlier."""

    job_ids: tuple[str, ...] = ()  # of a submission, in its order
    repeated: bool = False  # true: an earlier command with the same idempotency key had made them


class Granted(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """The job is yours under this fencing number, to be continued at `resume`."""

    attempt: Int
    resume: Resume
    asks_first: bool = False  # calls may cost more than the job: each that may is reported first, and answered


class Refused(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """The command has no effect, and why."""

    code: str  # unknown_org, unknown_job, job_terminal, idempotency_conflict, not_dispatched, stale_attempt ...
    message: str = ""
    status: str = ""  # of a job that has ended, where that is why
    asked: Int = 0  # credits, where these are why
    remaining: Int = 0  # credits that are left


class Balance(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """What an org has now that its plan or its credits were changed."""

    plan: str
    metered: bool
    credits: Int


class Drop(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Stop working on these jobs: they are cancelled, or no longer yours. Also sent unasked."""

    job_ids: tuple[str, ...] = ()


class Reason(StrEnum):
    """What a job waits for."""

    TURN = "turn"  # other orgs have theirs first
    CAP = "cap"  # as many jobs of its org are dispatched or running as may be
    FLEET_FULL = "fleet_full"  # as many tasks are out and unclaimed as the workers can take
    ORG_PAUSED = "org_paused"  # the operator lets no job of its org go
    WORKFLOW_PAUSED = "workflow_paused"  # its org lets no job of its workflow go
    NO_WORKERS = "no_workers"  # no worker of its kind lives
    CLAIM = "claim"  # it is dispatched: the next free worker claims it
    WORKER = "worker"  # one runs it
    BACKOFF = "backoff"  # a node is to be tried again later
    ACKS = "acks"  # destinations have not acknowledged
    ENDED = "ended"

    @classmethod
    def _missing_(cls, value: object) -> "Reason | None":
        return cls.CAP if value == "org_cap" else None  # as deciders say it that are not upgraded yet


class Awaited(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """A gating delivery whose ACK is missing. Times are microseconds UTC, 0: none."""

    destination_id: str
    kind: str
    state: str  # requested, waiting, dead
    try_number: Int
    failures: Int = 0
    next_try_at: int = 0
    deadline_at: int = 0


class Explained(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Why a job stands where it stands. Times are microseconds UTC, 0: none; counts are of its partition."""

    status: str
    reason: Reason
    since: int
    attempt: Int
    until: int = 0
    node_id: str = ""
    worker_id: str = ""
    ahead: Int = 0  # jobs of its org that take a slot before it
    in_flight: Int = 0  # jobs of its org
    max_in_flight: Int = 0
    holders: tuple[str, ...] = ()  # the jobs that hold the org's slots, up to 100
    orgs_waiting: Int = 0  # orgs with a job that could go at once
    unclaimed: Int = 0  # tasks that are out
    window: Int = 0  # how many may be
    workers: Int = 0
    slots: Int = 0
    awaited: tuple[Awaited, ...] = ()
    expires_at: int = 0  # of a pending job: then it fails unless somebody has claimed it
    generations: tuple[tuple[str, Int], ...] = ()  # the newest one of each delivery that was asked for


Answer: TypeAlias = Done | Granted | Refused | Drop | Explained | Balance


class Reply(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """The answer to one command."""

    command_id: str  # empty: sent unasked
    requester: str
    body: Answer
    partition: Int = 0
    position: int = 0  # of the last event when the command had been decided: a reader at it sees the effect
