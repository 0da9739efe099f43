"""What a run came to, as one JSON document."""

from collections import Counter
from collections.abc import Mapping

import msgspec

from schemas.events import JobClaimed
from tests.chaos.cluster import machine
from tests.chaos.faults import Breaker
from tests.chaos.ledger import Ledger
from tests.chaos.receiver import Receiver
from tests.chaos.traffic import Told
from tests.chaos.verdict import Verdict

SHOWN = 50  # of each kind


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict as counts, what was found, and what happened meanwhile."""

    ok: bool
    lost: int
    doubled: int
    illegal: int
    early_gates: int
    found: dict[str, list[str]]  # the first of each
    jobs: dict[str, int]
    log: dict[str, int]
    webhooks: dict[str, int]
    customers: dict[str, int]
    faults: dict[str, int]
    missed: dict[str, int]  # faults that could not be done
    restarts: dict[str, int]
    seconds: dict[str, float]
    machine: dict[str, object]


def report_of(
    verdict: Verdict,
    told: Told,
    ledger: Ledger,
    receiver: Receiver,
    breaker: Breaker,
    restarts: Mapping[str, int],
    seconds: Mapping[str, float],
) -> Report:
    """Count."""
    stories = ledger.stories
    events = [each for recorded in ledger.by_job.values() for each in recorded]
    return Report(
        ok=verdict.ok,
        lost=len(verdict.lost),
        doubled=len(verdict.doubled),
        illegal=len(verdict.illegal),
        early_gates=len(verdict.early_gates),
        found={name: getattr(verdict, name)[:SHOWN] for name in verdict.__slots__ if getattr(verdict, name)},
        jobs={"accepted": len(told.accepted), **Counter(story.status for story in stories.values())},
        log={
            "events": sum(history.position for history in ledger.histories.values()),
            "jobs claimed more than once": sum(story.attempt > 1 for story in stories.values()),
            "claims": sum(isinstance(each.event, JobClaimed) for each in events),
            "reports of stale workers refused": sum(each.header.event_type == "ReportRefused" for each in events),
            "jobs released by lost workers": sum(each.header.event_type == "JobReleased" for each in events),
            "partitions opened by a decider": ledger.openings,
        },
        webhooks={"messages": len(receiver.messages), "requests": receiver.requests},
        customers={**told.counts, "cancels": len(told.cancelled)},
        faults=dict(sorted(breaker.done.items())),
        missed=dict(breaker.missed),
        restarts=dict(restarts),
        seconds=dict(seconds),
        machine=machine(),
    )
