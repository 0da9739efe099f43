"""How many jobs of each org were in which state at which time, by the times of their events."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from api.answers import Job
from services.cli.spans import milliseconds_between
from services.ledger.status import Status

STATES = tuple(status.value for status in Status)


@dataclass(frozen=True, slots=True)
class Timeline:
    """One org: at `times[i]` (seconds after the run's first submission) its jobs became `counts[state][i]` a state."""

    org_id: str
    times: list[float]
    counts: dict[str, list[int]]  # of the states that its jobs went through


def first_submission(jobs: Iterable[Job]) -> str:
    """Return the moment of the first submission; empty: there is no job."""
    return min((job.created_at for job in jobs), default="")


def timelines(jobs: Sequence[Job], org_ids: Iterable[str]) -> list[Timeline]:
    """Return one timeline per org, all from the same beginning to the same end."""
    start = first_submission(jobs)
    moments = {job.job_id: [_seconds(start, change.at) for change in job.transitions] for job in jobs}
    end = max((times[-1] for times in moments.values() if times), default=0.0)
    return [_timeline(org_id, [job for job in jobs if job.org_id == org_id], moments, end) for org_id in org_ids]


def _timeline(org_id: str, jobs: Sequence[Job], moments: dict[str, list[float]], end: float) -> Timeline:
    changes: list[tuple[float, str, int]] = []  # when, which state, one job more or less
    for job in jobs:
        former = ""
        for moment, change in zip(moments[job.job_id], job.transitions, strict=True):
            changes += [(moment, change.status, 1), *([(moment, former, -1)] if former else [])]
            former = change.status
    now: Counter[str] = Counter()
    times, seen = [0.0], [Counter(now)]
    for moment, together in groupby(sorted(changes), key=lambda change: change[0]):
        for _, state, by in together:
            now[state] += by
        times.append(moment)
        seen.append(Counter(now))
    times.append(end)
    seen.append(Counter(now))
    passed = {state for _, state, _ in changes}
    return Timeline(org_id, times, {state: [counts[state] for counts in seen] for state in STATES if state in passed})


def _seconds(start: str, moment: str) -> float:
    return milliseconds_between(start, moment) / 1000
