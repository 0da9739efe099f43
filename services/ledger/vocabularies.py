"""The vocabularies in which callers speak of jobs: what each calls a state of the ledger, and the moves between them.

Every state of a vocabulary is one state of the ledger, or several that it does not tell apart; what tells some apart
beside the state (that a task is out, why a job failed, that its results are gone) is named here too.
`docs/vocabularies.md` is made from these tables; a test fails when it is stale.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from schemas.events import AnyEvent, JobReleased
from schemas.values import Vocabulary
from services.ledger.status import TRANSITIONS, Status

DISPATCHED = "dispatched"  # pending, and its task is out
EXPIRED = "expired"  # ended, and its results are past retention
NEVER_YET = (Status.TIMED_OUT, Status.LOST)  # no event leads there: such a job has failed, and its error type says so


@dataclass(frozen=True, slots=True)
class Words:
    """What a vocabulary calls the states of the ledger."""

    states: Mapping[Status, str]
    failures: Mapping[str, str] = field(default_factory=dict)  # error type of a failed job -> the state that it is then
    tells_dispatched: bool = False
    tells_expired: bool = False
    released: str = ""  # a pending job that was claimed before; empty: as any pending one

    def every(self) -> tuple[str, ...]:
        """Return all its states, in the order of a job's life."""
        live = [DISPATCHED] if self.tells_dispatched else []
        named = list(dict.fromkeys([*self.states.values(), *self.failures.values()]))
        named[1:1] = live
        return (*named, *([EXPIRED] if self.tells_expired else []))


WORDS: Mapping[Vocabulary, Words] = {
    Vocabulary.WORKFLOW: Words({status: str(status) for status in Status if status not in NEVER_YET}),
    Vocabulary.MODULE: Words(
        {
            Status.PENDING: "pending",
            Status.RUNNING: "running",
            Status.WAITING_RETRY: "running",
            Status.EXTRACTION_DONE: "running",
            Status.COMPLETED: "done",
            Status.FAILED: "failed",
            Status.CANCELLED: "cancelled",
        },
        tells_expired=True,
        released="running",
    ),
    Vocabulary.SPIDER: Words(
        {
            Status.PENDING: "pending",
            Status.RUNNING: "running",
            Status.WAITING_RETRY: "pending",
            Status.EXTRACTION_DONE: "running",
            Status.COMPLETED: "finished",
            Status.FAILED: "failed",
            Status.CANCELLED: "killed",
        },
        failures={"timed_out": "timed_out", "worker_lost": "lost"},
        tells_dispatched=True,
    ),
}


def shown(
    vocabulary: Vocabulary,
    status: Status,
    *,
    error_type: str = "",
    task_out: bool = False,
    expired: bool = False,
    claimed: bool = False,
) -> str:
    """Return what a vocabulary calls the state of a job. `claimed`: some worker has had it."""
    words = WORDS[vocabulary]
    if expired and words.tells_expired:
        return EXPIRED
    if status is Status.PENDING and claimed and words.released:
        return words.released
    if status is Status.PENDING and task_out and words.tells_dispatched:
        return DISPATCHED
    if status is Status.FAILED and error_type in words.failures:
        return words.failures[error_type]
    return words.states.get(status, str(status))


def statuses_of(vocabulary: Vocabulary, state: str) -> tuple[Status, ...]:
    """Return the states of the ledger that a vocabulary calls so; none for one that hangs on more than the state."""
    return tuple(status for status, word in WORDS[vocabulary].states.items() if word == state)


def moves(vocabulary: Vocabulary) -> list[tuple[str, str, str]]:
    """Return the moves of a vocabulary as (from, event, to): those of the ledger, but what it does not tell apart."""
    words = WORDS[vocabulary]
    found = [
        (before, event.__name__, after)
        for event, (sources, target) in TRANSITIONS.items()
        for before in _before(words, sources)
        for after in _after(words, event, target)
        if before != after
    ]
    if words.tells_dispatched:
        pending = words.states[Status.PENDING]
        found += [(DISPATCHED, event, after) for before, event, after in found if before == pending]
        found.append((pending, "JobDispatched", DISPATCHED))
    if words.tells_expired:
        ends = (Status.COMPLETED, Status.FAILED, Status.CANCELLED)
        found += [(words.states[status], "JobExpired", EXPIRED) for status in ends]
    return list(dict.fromkeys(found))


def _before(words: Words, sources: Collection[Status | None]) -> list[str]:
    ordered = [status for status in words.states if status in sources]
    return [*(["(none)"] if None in sources else []), *(words.states[status] for status in ordered)]


def _after(words: Words, event: type[AnyEvent], target: Status) -> list[str]:
    if event is JobReleased and words.released:
        return [words.released]
    return [words.states[target], *(words.failures.values() if target is Status.FAILED else ())]
