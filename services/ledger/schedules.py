"""Fires of schedules: at most one for each due time, whoever asks, how often and how late.

Of each schedule the newest due time that it was fired for is remembered; that one and all before it are over. A due
time of long ago is refused, so that schedules which have not fired since can be forgotten.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from schemas.events import AnyEvent, JobSubmitted, ScheduleFired
from schemas.values import FireKind, FireOutcome
from services.ledger.commands import FireSchedule, SubmitJobs
from services.ledger.replies import Refused


class Fires:
    """The newest due time that each schedule of an org was fired for (microseconds UTC)."""

    __slots__ = ("_newest",)

    def __init__(self, newest: Mapping[str, int] = {}) -> None:
        self._newest = dict(newest)

    def __len__(self) -> int:
        return len(self._newest)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self._newest.items())

    def over(self, schedule_id: str, due_at: int) -> bool:
        """Whether the schedule was fired for this due time or a later one."""
        return due_at <= self._newest.get(schedule_id, -1)

    def counted(self, command: FireSchedule) -> int:
        """Return for how many due times a fire stands that none stood for yet: an answer that was lost told of some."""
        newest = self._newest.get(command.schedule_id, -1)
        return max(1, command.due_times - sum(at <= newest for at in command.before))

    def note(self, event: ScheduleFired, forget_before: int) -> None:
        """Fold a fire; a trigger moves no clock. Schedules stand in the order in which they fired last."""
        if event.how is FireKind.TRIGGER:
            return
        newest = max(event.due_at, self._newest.pop(event.schedule_id, 0))
        self._newest[event.schedule_id] = newest
        while self._newest[oldest := next(iter(self._newest))] < forget_before:
            del self._newest[oldest]
            if not self._newest:
                break


def fire(
    command: FireSchedule,
    fires: Fires,
    refused: Callable[[SubmitJobs], Refused | None],
    submit: Callable[[SubmitJobs], Sequence[AnyEvent]],
) -> list[AnyEvent]:
    """Return the event of a fire and those of its jobs; none where its due time is over, or a trigger is a repeat."""
    if command.how is FireKind.TRIGGER:
        jobs = submit(command.submission) if command.submission else ()
        return [_fired(command, jobs), *jobs] if jobs else []
    command = replace(command, due_times=fires.counted(command))
    if fires.over(command.schedule_id, command.due_at):
        return []
    why = refused(command.submission) if command.submission else None
    if why is not None:
        return [_fired(command, (), code=why.code)]
    jobs = submit(command.submission) if command.submission else ()
    return [_fired(command, jobs, code=command.refused), *jobs]


def _fired(command: FireSchedule, jobs: Sequence[AnyEvent], code: str = "") -> ScheduleFired:
    submitted = tuple(event.job_id for event in jobs if isinstance(event, JobSubmitted))
    outcome = FireOutcome.REFUSED if code else FireOutcome.SUBMITTED if submitted else FireOutcome.SKIPPED
    return ScheduleFired(
        org_id=command.org_id,
        schedule_id=command.schedule_id,
        due_at=command.due_at,
        how=command.how,
        outcome=outcome,
        code=code,
        due_times=command.due_times,
        job_ids=submitted,
    )
