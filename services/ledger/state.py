"""Everything that the events of one partition add up to. `apply` folds them, `indexes` keeps what decisions look up."""

from collections import OrderedDict
from dataclasses import dataclass, field

from schemas.events import AnyEvent, JobRecalled
from services.ledger.account import Account
from services.ledger.chains import Chains
from services.ledger.endpoints import Endpoints
from services.ledger.job import Job
from services.ledger.keys import Keys
from services.ledger.policy import Policy
from services.ledger.queue import OrgQueue
from services.ledger.resends import Resends
from services.ledger.schedules import Fires
from services.ledger.timers import Timers
from services.ledger.turns import Turns

HASH_BYTES = 32
NO_HASH = bytes(HASH_BYTES)


@dataclass(slots=True)
class Org:
    """An org on this partition."""

    org_id: str
    max_in_flight: int
    seq: int = 0
    max_pending: int = 0  # 0: as the setting says
    max_queue_seconds: int = 0  # of a job whose submission does not say; 0: as the setting says
    retention_seconds: int = 0  # that results are kept after the end of a job; 0: as the setting says
    paused: bool = False
    paused_workflows: set[str] = field(default_factory=set)
    pending: int = 0  # its jobs that no worker has
    holders: dict[str, None] = field(default_factory=dict)  # its jobs that hold a slot, the earliest first
    queues: dict[str, OrgQueue] = field(default_factory=dict)  # by kind
    keys: Keys = field(default_factory=Keys)
    fires: Fires = field(default_factory=Fires)
    account: Account = field(default_factory=Account)
    endpoints: Endpoints = field(default_factory=Endpoints)
    chains: Chains = field(default_factory=dict)
    live: int = 0  # its jobs that have not ended

    @property
    def in_flight(self) -> int:
        """How many of its jobs are dispatched or running."""
        return len(self.holders)


@dataclass(slots=True)
class Worker:
    """A run of a worker."""

    worker_id: str
    kind: str
    slots: int
    seen_at: int  # microseconds UTC
    jobs: set[str] = field(default_factory=set)
    parting: set[str] = field(default_factory=set)  # jobs that ended while it ran them, until it says that it stopped


@dataclass(slots=True)
class Ledger:
    """State of one partition: the fold of its events. Only `apply`, and `pop_due` for its timers, change it."""

    partition: int
    policy: Policy = field(default_factory=Policy)
    position: int = 0
    cause: int = -1
    occurred_at: int = 0
    heads: dict[str, bytes] = field(default_factory=dict)  # org -> hash of its newest event
    orgs: dict[str, Org] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    workers: dict[str, Worker] = field(default_factory=dict)  # by boot id
    # Ended and settled jobs that are still in `jobs`, and the position of the newest event of each, in its order.
    ended: OrderedDict[str, int] = field(default_factory=OrderedDict)
    archived_up_to: int = 0  # position: what ended and settled before it is no longer in `jobs`
    unclaimed: dict[str, int] = field(default_factory=dict)  # by kind
    running: dict[str, int] = field(default_factory=dict)  # by kind
    run_means: dict[str, int] = field(default_factory=dict)  # by kind: microseconds that the latest runs took
    turns: dict[str, Turns] = field(default_factory=dict)  # by kind
    timers: Timers = field(default_factory=Timers)
    resends: Resends = field(init=False)

    def __post_init__(self) -> None:
        self.resends = Resends(self.policy.resend_window)


def next_seq(ledger: Ledger, event: AnyEvent) -> int:
    """Ordinal that an event would get: within its job, else within its org, else 0."""
    if isinstance(event, JobRecalled):
        return event.last_seq + 1
    if event.job_id:
        job = ledger.jobs.get(event.job_id)
        return job.seq + 1 if job else 1
    org = ledger.orgs.get(event.org_id)
    return (org.seq + 1 if org else 1) if event.org_id else 0
