"""Dated waits of a snapshot that was made under other settings: dated as the settings of now have it.

A wait that is dated by a setting, and by no event, is dated anew whenever the log is folded. So it has to be where the
fold begins with a snapshot, or a deadline that was raised would pass early and one that was lowered late.
"""

from collections.abc import Iterator

from msgspec import Struct

from services.ledger.gate import due_at
from services.ledger.job import Job
from services.ledger.policy import Policy
from services.ledger.timers import Timer


class Dating(Struct, frozen=True, array_like=True):
    """The settings that date waits. Times are microseconds."""

    dispatch_resend: int
    delivery_resend: int
    delivery_resend_cap: int
    spread_percent: int
    gate_deadline: int


def dating_of(policy: Policy) -> Dating:
    """Return the settings that date waits."""
    return Dating(*(getattr(policy, name) for name in Dating.__struct_fields__))


def redated(timer: Timer, before: Dating, now: Dating) -> Timer:
    """Return the wait for the claim of a task as it is dated now; any other as it is.

    What a delivery waits for comes by `waits_of`; an earlier date of it leads to nothing, or closes it.
    """
    if timer.kind != "dispatch":
        return timer
    return Timer(timer.due_at - before.dispatch_resend + now.dispatch_resend, timer.kind, timer.job_id, timer.detail)


def waits_of(job: Job, policy: Policy) -> Iterator[Timer]:
    """Yield what the deliveries of a job wait for."""
    for delivery in job.deliveries:
        if due := due_at(job, delivery, policy):
            yield Timer(due, "delivery", job.job_id, delivery.destination.destination_id)
