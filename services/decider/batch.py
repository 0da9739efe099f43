"""Decides a batch of commands and timers of one partition: events in order, with all that they send out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct

from schemas.events import AnyEvent
from schemas.recorded import Recorded
from services.ledger.answer import answer
from services.ledger.apply import apply
from services.ledger.archive import recall
from services.ledger.commands import AnyCommand
from services.ledger.decide import decide, lose_worker
from services.ledger.decide_timer import decide_timer
from services.ledger.effects import effect_of
from services.ledger.fairness import next_dispatch
from services.ledger.follow import follow
from services.ledger.indexes import pop_due
from services.ledger.job import Job
from services.ledger.record import Moment, digest_of, record
from services.ledger.replies import Answer, Refused, Reply
from services.ledger.state import Ledger
from services.ledger.tasks import Delivery, Task


class Encodes(Protocol):
    """Turns a recorded event into its stored bytes."""

    def encode(self, recorded: Recorded) -> bytes:
        """Return the bytes of one event."""
        ...


class StoredEvent(Struct, frozen=True, gc=False):
    """An event and the bytes under which it is stored and hashed."""

    recorded: Recorded
    stored: bytes


@dataclass(slots=True)
class Batch:
    """What one transaction writes (events, tasks, deliveries), and the replies to send once it is committed."""

    events: list[StoredEvent] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)


class BatchDecider:
    """Decides against the state of one partition; the state is ahead of the log until the batch is committed."""

    def __init__(self, ledger: Ledger, encoder: Encodes) -> None:
        self.ledger = ledger
        self._encoder = encoder
        self._batch = Batch()

    def take(self) -> Batch:
        """Return what has been decided since the last call, and begin a new batch."""
        batch, self._batch = self._batch, Batch()
        return batch

    def decided(self) -> Iterator[AnyEvent]:
        """Yield the events of the batch that has begun."""
        return (stored.recorded.event for stored in self._batch.events)

    def command(self, command: AnyCommand, offset: int, now: int, archived: Sequence[Job] = ()) -> Refused | None:
        """Decide one command, at this offset of the topic of commands; return the refusal where its asker gets one.

        `archived` are the jobs it is about that had left memory. Those that something is recorded of come back.
        """
        moment = Moment(now, offset, command.actor, command.correlation_id, command.traceparent)
        guests = {job.job_id: job for job in archived}
        self.ledger.jobs |= guests
        events = decide(self.ledger, command, self._not_before(now))
        stay = guests.keys() & {event.job_id for event in events}
        self._record([recall(guests[job_id]) for job_id in sorted(stay)], moment)
        self._record(events, moment)
        self._dispatch(now, offset)
        refused = None
        if command.requester:
            body = answer(self.ledger, command, events)
            refused = body if isinstance(body, Refused) else None
            self._reply(command, body)
        for job_id in guests.keys() - stay:
            del self.ledger.jobs[job_id]
        return refused

    def refuse(self, command: AnyCommand, refused: Refused) -> None:
        """Answer a command that was not decided."""
        self._reply(command, refused)

    def timers(self, now: int, limit: int) -> None:
        """Fire at most `limit` waits that are over."""
        for _ in range(limit):
            timer = pop_due(self.ledger, now)
            if timer is None:
                break
            self._record(decide_timer(self.ledger, timer, self._not_before(now)), Moment(now, self.ledger.cause))
        self._dispatch(now, self.ledger.cause)

    def lost_workers(self, boot_ids: Iterable[str], now: int) -> None:
        """Take the jobs from workers whose leases ran out."""
        for boot_id in boot_ids:
            self._record(lose_worker(self.ledger, boot_id, stopped=False), Moment(now, self.ledger.cause))
        self._dispatch(now, self.ledger.cause)

    def say(self, event: AnyEvent, now: int) -> None:
        """Record an event of the decider itself."""
        self._record([event], Moment(now, self.ledger.cause, actor="decider"))

    def _reply(self, command: AnyCommand, body: Answer) -> None:
        self._batch.replies.append(
            Reply(
                command_id=command.command_id,
                requester=command.requester,
                body=body,
                partition=self.ledger.partition,
                position=self.ledger.position,
            )
        )

    def _not_before(self, now: int) -> int:
        return max(now, self.ledger.occurred_at)

    def _dispatch(self, now: int, cause: int) -> None:
        while (dispatched := next_dispatch(self.ledger)) is not None:
            self._record([dispatched], Moment(now, cause))

    def _record(self, events: Sequence[AnyEvent], moment: Moment) -> None:
        """Record events in order, each followed by what follows from it."""
        for event in events:
            recorded = record(self.ledger, event, moment)
            stored = self._encoder.encode(recorded)
            apply(self.ledger, recorded, digest_of(stored))
            self._batch.events.append(StoredEvent(recorded, stored))
            match effect_of(self.ledger, recorded):
                case Task() as task:
                    self._batch.tasks.append(task)
                case Delivery() as delivery:
                    self._batch.deliveries.append(delivery)
                case Reply() as reply:
                    self._batch.replies.append(reply)
            self._record(follow(self.ledger, event), moment)
