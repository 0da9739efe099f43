"""What a snapshot is written in: the state of a partition as parts, each a small message of its own."""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from services.ledger.endpoints import Disabled, Failing
from services.ledger.job_parts import Ending, Run, Terms
from services.ledger.redating import Dating
from services.ledger.status import Status
from services.ledger.timers import Timer


class OrgRow(Struct, array_like=True):
    """An org without its jobs and keys."""

    org_id: str
    max_in_flight: int
    seq: int
    holders: list[str]  # jobs that hold a slot, in the order of taking it
    max_pending: int
    max_queue_seconds: int
    retention_seconds: int
    paused: bool
    paused_workflows: list[str]


class TurnsRow(Struct, array_like=True):
    """Whose turn it is for tasks of a kind."""

    kind: str
    now: list[list[str]]
    later: list[list[str]]
    had: list[str]
    last: str
    latest_next: bool


class Basics(Struct, tag=True, array_like=True):
    """Everything that is few, but for orgs and workers themselves."""

    partition: int
    position: int
    cause: int
    occurred_at: int
    heads: dict[str, bytes]
    orgs: list[OrgRow]
    workers: list[tuple[str, str, str, int, int]]  # boot id, name, kind, slots, seen at
    run_means: dict[str, int]
    turns: list[TurnsRow]
    archived_up_to: int
    dating: Dating  # of the waits in it


class Row(Struct, array_like=True, gc=False):
    """A job without what it shares."""

    job_id: str
    terms: int  # index into the terms of its part
    domain: str
    private: bytes
    submitted_at: int
    status: Status
    seq: int
    attempt: int
    dispatch: int
    task_out: bool
    run: Run | None
    ending: Ending | None


class Jobs(Struct, tag=True, array_like=True):
    """Some jobs, in the order in which they were submitted."""

    terms: list[Terms]
    rows: list[Row]


class KeysOfHour(Struct, tag=True, array_like=True):
    """The idempotency keys of an org and hour."""

    org_id: str
    hour: int
    digests: list[bytes]
    requests: bytes
    jobs: list[str | list[str]]


class FiresOfOrg(Struct, tag=True, array_like=True):
    """The newest due time that each schedule of an org was fired for."""

    org_id: str
    newest: dict[str, int]


class AccountOfOrg(Struct, tag=True, array_like=True):
    """Plan and credits of an org."""

    org_id: str
    plan: str
    metered: bool
    balance: int
    holds: list[tuple[bytes, int]]


class EndpointsOfOrg(Struct, tag=True, array_like=True):
    """Endpoints of an org that only fail, and those that were disabled for it, the oldest first."""

    org_id: str
    failing: list[tuple[str, Failing]]
    disabled: list[tuple[str, Disabled]]


class ChainsOfOrg(Struct, tag=True, array_like=True):
    """The chains of an org whose items are kept: first job, links, who goes on from whom, whose results are kept."""

    org_id: str
    chains: list[tuple[str, int, dict[str, str], list[str]]]


class Waits(Struct, tag=True, array_like=True):
    """Some timers."""

    timers: list[Timer]


class Ended(Struct, tag=True, array_like=True):
    """Some ended jobs that are still in memory, each with the position of its newest event, in its order."""

    jobs: Sequence[tuple[str, int]]


Part: TypeAlias = Basics | Jobs | KeysOfHour | FiresOfOrg | AccountOfOrg | EndpointsOfOrg | ChainsOfOrg | Waits | Ended
