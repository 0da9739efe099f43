"""The states of a job as callers see them, and the one table of allowed transitions.

`docs/state_machine.md` is drawn from this table; a test fails when it is stale.
"""

from enum import StrEnum

from schemas.events import (
    AnyEvent,
    JobCancelled,
    JobClaimed,
    JobCompleted,
    JobExtracted,
    JobFailed,
    JobReleased,
    JobSubmitted,
    RetryScheduled,
)


class Status(StrEnum):
    """State of a job. `extraction_done`: extracted, waiting for the ACKs of its gating destinations."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING_RETRY = "waiting_retry"
    EXTRACTION_DONE = "extraction_done"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"
    LOST = "lost"


TERMINAL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.TIMED_OUT, Status.LOST})
LIVE = frozenset(Status) - TERMINAL

# event -> (states it may come from, state it leads to); None: the job does not exist yet
TRANSITIONS: dict[type[AnyEvent], tuple[frozenset[Status | None], Status]] = {
    JobSubmitted: (frozenset({None}), Status.PENDING),
    JobClaimed: (frozenset({Status.PENDING, Status.WAITING_RETRY}), Status.RUNNING),
    RetryScheduled: (frozenset({Status.RUNNING}), Status.WAITING_RETRY),
    JobReleased: (frozenset({Status.RUNNING}), Status.PENDING),
    JobExtracted: (frozenset({Status.RUNNING}), Status.EXTRACTION_DONE),
    JobCompleted: (frozenset({Status.EXTRACTION_DONE}), Status.COMPLETED),
    JobFailed: (LIVE, Status.FAILED),
    JobCancelled: (LIVE, Status.CANCELLED),
}


def error_type_of(status: str, recorded: str | None) -> str | None:
    """Return the class of a job's end: what its JobFailed recorded; of a cancelled job, which has none, `cancelled`."""
    return Status.CANCELLED.value if status == Status.CANCELLED else recorded


def allowed(event: AnyEvent, status: Status | None) -> bool:
    """Tell whether an event may follow this state; events that change no state follow any existing job."""
    rule = TRANSITIONS.get(type(event))
    return status is not None if rule is None else status in rule[0]


def diagram() -> str:
    """Draw the table as a Mermaid state diagram."""
    lines = ["stateDiagram-v2"]
    for event, (sources, target) in TRANSITIONS.items():
        names = sorted("[*]" if source is None else str(source) for source in sources)
        lines += [f"    {name} --> {target}: {event.__name__}" for name in names]
    lines += [f"    {status} --> [*]" for status in sorted({target for _, target in TRANSITIONS.values()} & TERMINAL)]
    return "\n".join(lines)
