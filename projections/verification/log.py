"""Reads one partition of the log up to a position and checks that it is whole.

Positions and ordinals without a gap, the hash chain of each org, one claim an attempt, one end a job, exact gates.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from projections.postgres.rows import JobKey
from projections.verification.expected import STATUS_AFTER, TERMINAL
from projections.verification.faults import Fault
from schemas.codec import CodecError, Decoder
from schemas.events import (
    DeliveryAcked,
    DeliveryWaived,
    JobClaimed,
    JobCompleted,
    JobDeleted,
    JobExtracted,
    JobFailed,
    JobSubmitted,
    Recorded,
)
from services.runtime.errors import BrokerFault, LogGap
from services.runtime.raw_log import Records, position_of
from services.runtime.reader import Record

NO_HASH = bytes(32)
POLL_RECORDS = 1000
POLL_SECONDS = 0.5
PATIENCE_SECONDS = 30.0  # without a single record, although the log has not ended
OpenRecords = Callable[[int], Records]  # the records of a partition from its first offset on


@dataclass(slots=True)
class PartitionLog:
    """What was read of a partition: its jobs' events, its end, and what is wrong with it."""

    partition: int
    jobs: dict[JobKey, list[Recorded]] = field(default_factory=dict)
    recorded: list[Recorded] = field(default_factory=list)  # every event, those about no job too
    last: Recorded | None = None
    next_offset: int = 0
    faults: list[Fault] = field(default_factory=list)
    heads: dict[str, bytes] = field(default_factory=dict)  # org -> hash of its newest event

    def take(self, record: Record, recorded: Recorded) -> None:
        """Take the next event, noting what does not follow from those before."""
        header, event = recorded.header, recorded.event
        place = f"partition {self.partition} position {header.position}"
        before = self.last.header if self.last else None
        checks: list[tuple[str, object, object]] = [
            ("partition", self.partition, header.partition),
            ("position", before.position + 1 if before else 1, header.position),
            ("prev_hash", self.heads.get(event.org_id, NO_HASH).hex(), header.prev_hash.hex()),
        ]
        if before and header.occurred_at < before.occurred_at:
            checks.append(("occurred_at", f"at least {before.occurred_at}", header.occurred_at))
        if event.job_id:
            of_job = self.jobs.setdefault((event.org_id, event.job_id), [])
            checks.append(("seq", len(of_job) + 1, header.seq))
            of_job.append(recorded)
        for name, expected, found in checks:
            if expected != found:
                self.fault(event.org_id, event.job_id or place, name, expected, found)
        self.heads[event.org_id] = hashlib.blake2b(record.value, digest_size=32).digest()
        self.last, self.next_offset = recorded, record.offset + 1
        self.recorded.append(recorded)

    @property
    def events(self) -> int:
        """How many events were read."""
        return len(self.recorded)

    def fault(self, org_id: str, key: str, name: str, expected: object, found: object) -> None:
        """Note something wrong with the log."""
        self.faults.append(Fault("log", org_id, key, name, str(expected), str(found)))


def read_partition(open_records: OpenRecords, decoder: Decoder, partition: int, position: int) -> PartitionLog:
    """Read a partition up to a position; a log that ends before it is at fault."""
    log = PartitionLog(partition)
    if position == 0:
        return log
    place = f"partition {partition}"
    with closing(open_records(partition)) as records:
        try:
            for record in following(records):
                recorded = decoder.decode(record.value)
                if recorded is None:
                    log.fault("", place, "event_type", "a type this version knows", f"another at {record.offset}")
                    break
                log.take(record, recorded)
                if recorded.header.position >= position:
                    break
        except (LogGap, CodecError) as error:
            log.fault("", place, "records", "readable from the first to the folded one", error)
    found = log.last.header.position if log.last else 0
    if found < position and not log.faults:
        log.fault("", place, "last position", f"at least {position}, as the read model has it", found)
    for events in log.jobs.values():
        check_job(log, events)
    return log


def following(records: Records) -> Iterable[Record]:
    """Yield the records of events until the log has no more for now; raise BrokerFault where it says neither.

    Fences, which lie before every event at position 0, are no events.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        some = records.poll(POLL_RECORDS, POLL_SECONDS)
        yield from (record for record in some if position_of(record) > 0)
        if some:
            deadline = time.monotonic() + PATIENCE_SECONDS
        elif records.at_end():
            return
        elif time.monotonic() > deadline:
            raise BrokerFault(f"no record for {PATIENCE_SECONDS:g} s, and no end of the log: look at the broker")


def check_job(log: PartitionLog, events: Sequence[Recorded]) -> None:
    """Check what has to hold among the events of one job."""
    org_id, job_id = events[0].event.org_id, events[0].event.job_id
    if not isinstance(events[0].event, JobSubmitted):
        log.fault(org_id, job_id, "first event", "JobSubmitted", events[0].header.event_type)
    attempts = [each.event.attempt for each in events if isinstance(each.event, JobClaimed)]
    if attempts != list(range(1, len(attempts) + 1)):
        log.fault(org_id, job_id, "attempts claimed", "each once, in order", attempts)
    ends = [each.header.event_type for each in events if isinstance(each.event, TERMINAL)]
    if len(ends) > 1:
        log.fault(org_id, job_id, "terminal events", "one", ends)
    _check_deletion(log, events)
    _check_gate(log, events)


def _check_deletion(log: PartitionLog, events: Sequence[Recorded]) -> None:
    """Check that a job was deleted once, after its end, and that nothing brought it back."""
    org_id, job_id = events[0].event.org_id, events[0].event.job_id
    at = [number for number, each in enumerate(events) if isinstance(each.event, JobDeleted)]
    if not at:
        return
    if len(at) > 1:
        log.fault(org_id, job_id, "JobDeleted", "once", len(at))
    if not any(isinstance(each.event, TERMINAL) for each in events[: at[0]]):
        log.fault(org_id, job_id, "JobDeleted", "after the end of the job", events[at[0] - 1].header.event_type)
    revived = [each.header.event_type for each in events[at[0] :] if type(each.event) in STATUS_AFTER]
    if revived:
        log.fault(org_id, job_id, "events after JobDeleted", "none that change the job", revived)


def _check_gate(log: PartitionLog, events: Sequence[Recorded]) -> None:
    """Check that the job was completed at its last ACK or waiver: not before it, not without it, not later."""
    first = events[0].event
    gating = {d.destination_id for d in first.destinations if d.gating} if isinstance(first, JobSubmitted) else set()
    openers: dict[str, Recorded] = {}  # by destination: its first ACK or waiver
    extracted = False
    completed: JobCompleted | None = None
    for each in events:
        match each.event:
            case DeliveryAcked(destination_id=name) | DeliveryWaived(destination_id=name) if (
                completed is None and name in gating
            ):
                openers.setdefault(name, each)
            case JobFailed(destination_id=name) if name and (name in openers or name not in gating):
                log.fault(first.org_id, first.job_id, "destination_id", "one that the job waited for", name)
            case JobExtracted():
                extracted = True
            case JobCompleted() as event:
                completed = completed or event
    pending = sorted(gating - openers.keys())
    if completed is not None:
        opened_by = sorted(each.header.event_id.hex() for each in openers.values())
        recorded = sorted(event_id.hex() for event_id in completed.opened_by)
        if pending:
            log.fault(first.org_id, first.job_id, "gate", "completed after its last ACK", f"without {pending}")
        elif opened_by != recorded:
            log.fault(first.org_id, first.job_id, "opened_by", opened_by, recorded)
        return
    ended = any(isinstance(each.event, TERMINAL) for each in events)
    decided = log.last is not None and log.last.header.cause > events[-1].header.cause
    if extracted and not pending and not ended and decided:
        log.fault(first.org_id, first.job_id, "gate", "completed with its last ACK", "still waiting")
