"""Reads one partition of the log up to a position and checks that it is whole.

Positions and ordinals without a gap, the hash chain of each org, one claim an attempt, one end a job, exact gates. What
somebody else wrote between the events is counted, as readers leave it out (ADR 5): a gap beside it is the fault.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from projections.postgres.rows import JobKey
from projections.verification.expected import STATUS_AFTER, TERMINAL
from projections.verification.faults import Fault
from schemas.codec import Decoder
from schemas.events import (
    DeliveryAcked,
    DeliveryWaived,
    JobClaimed,
    JobCompleted,
    JobDeleted,
    JobExtracted,
    JobFailed,
    JobSubmitted,
)
from schemas.recorded import Recorded
from services.runtime.errors import BrokerFault, LogGap
from services.runtime.raw_log import Records
from services.runtime.reader import Record
from services.runtime.strangers import Stranger, claim_of, is_fence

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
    next_offset: int = 0  # behind the last event, and the strangers' records that were read behind it
    strangers: int = 0  # records that are no event of ours, or an event again
    positions: set[int] = field(default_factory=set)
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
        self.positions.add(header.position)

    def leave_out(self, record: Record) -> None:
        """Count a record that is no event, or one that was taken before."""
        self.strangers += 1
        self.next_offset = record.offset + 1

    @property
    def position(self) -> int:
        """Position of the last event taken; 0: none."""
        return self.last.header.position if self.last else 0

    @property
    def events(self) -> int:
        """How many events were read."""
        return len(self.recorded)

    def fault(self, org_id: str, key: str, name: str, expected: object, found: object) -> None:
        """Note something wrong with the log."""
        self.faults.append(Fault("log", org_id, key, name, str(expected), str(found)))


def read_partition(
    open_records: OpenRecords, decoder: Decoder, partition: int, position: int, next_offset: int = 0
) -> PartitionLog:
    """Read a partition up to a position, and up to an offset behind it where nothing of ours may lie between the two.

    A log that ends before the position is at fault.
    """
    log = PartitionLog(partition)
    if position == 0 and next_offset == 0:
        return log
    place = f"partition {partition}"
    with closing(open_records(partition)) as records:
        try:
            for record in following(records):
                reached = log.position >= position
                if (reached and record.offset >= next_offset) or not _take(log, record, decoder, reached=reached):
                    break
                if log.position >= position and record.offset + 1 >= next_offset:
                    break
        except LogGap as error:
            log.fault("", place, "records", "readable from the first to the folded one", error)
    if log.position < position and not log.faults:
        log.fault("", place, "last position", f"at least {position}, as the read model has it", log.position)
    for events in log.jobs.values():
        check_job(log, events)
    return log


def _take(log: PartitionLog, record: Record, decoder: Decoder, *, reached: bool) -> bool:
    """Take a record, an event or not; return whether to read on."""
    place = f"partition {log.partition}"
    try:
        claim = claim_of(record, decoder.whole)
    except Stranger:
        log.leave_out(record)
        return True
    if claim.position in log.positions:
        log.leave_out(record)
    elif reached:
        log.fault("", place, "next_offset", f"at most {record.offset}", f"behind the event at {claim.position}")
        return False
    elif claim.recorded is None:
        log.fault("", place, "event_type", "a type this version knows", f"another at {record.offset}")
        return False
    else:
        log.take(record, claim.recorded)
    return True


def following(records: Records) -> Iterable[Record]:
    """Yield all records but fences until the log has no more for now; raise BrokerFault where it says neither."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        some = records.poll(POLL_RECORDS, POLL_SECONDS)
        yield from (record for record in some if not _fence(record))
        if some:
            deadline = time.monotonic() + PATIENCE_SECONDS
        elif records.at_end():
            return
        elif time.monotonic() > deadline:
            raise BrokerFault(f"no record for {PATIENCE_SECONDS:g} s, and no end of the log: look at the broker")


def every_event(open_records: OpenRecords, decoder: Decoder, partitions: Iterable[int]) -> Iterator[Recorded]:
    """Yield every event of the whole log, one partition after the other; what is no event is left out."""
    for partition in partitions:
        with closing(open_records(partition)) as records:
            for record in following(records):
                try:
                    recorded = claim_of(record, decoder.whole).recorded
                except Stranger:
                    continue
                if recorded is not None:
                    yield recorded


def _fence(record: Record) -> bool:
    try:
        return is_fence(record)
    except Stranger:
        return False


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
