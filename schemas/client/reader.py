"""Reads the events that a consumer wants, each once and typed, and tells how far it came."""

import logging
import threading
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any

from msgspec import Struct

from schemas.client.checkpoint import Checkpoint
from schemas.client.errors import RegistryAway
from schemas.client.judging import Counts, Judge, Received
from schemas.client.kafka import Assigned, Grouped, Source
from schemas.client.registry import registry_at
from schemas.codec import Decoder, SchemaById
from schemas.event import Event
from schemas.events import EVENT_TYPES
from schemas.record import Record
from schemas.strangers import EventsMissing, Noted, SchemaLost, Stranger

BATCH_RECORDS = 1000
POLL_SECONDS = 0.5  # after which an idle reader looks whether it was told to stop
PAUSE_SECONDS = 1.0  # between two questions to a registry that is away

log = logging.getLogger(__name__)


class Batch(Struct, frozen=True):
    """Wanted events in the order of their partitions, and where each partition stands behind them.

    `checkpoints` has every partition of which something was read, skipped records included. Store what was made of the
    events and the checkpoints in one transaction, and each event counts exactly once.
    """

    events: tuple[Received, ...]
    checkpoints: Mapping[int, Checkpoint]

    def __bool__(self) -> bool:
        return bool(self.checkpoints)


class EventReader:
    """Gives out batches until it is told to stop: iterate over it, or `poll`. Made by `follow` or `follow_in_group`.

    A registry that is away is waited for while iterating; `poll` raises RegistryAway or SchemaLost, and goes on with
    the same record when it is called again. EventsMissing and KafkaFault are for good. For one thread, but for `stop`.
    """

    def __init__(self, source: Source, schema_by_id: SchemaById, wanted: Collection[str], noted: Noted) -> None:
        self.counts = Counts()
        self._source, self._noted = source, noted
        self._wanted, self._decoder = frozenset(wanted), Decoder(schema_by_id)
        self._judges: dict[int, Judge] = {}
        self._waiting: deque[Record] = deque()  # read from the broker, not judged yet
        self._gap: EventsMissing | None = None
        self._stopping = threading.Event()
        try:
            source.open(self._begin, self._let_go)
        except BaseException:
            source.close()
            raise

    def __enter__(self) -> "EventReader":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __iter__(self) -> Iterator[Batch]:
        while not self._stopping.is_set():
            try:
                batch = self.poll(BATCH_RECORDS, POLL_SECONDS)
            except (RegistryAway, SchemaLost) as away:
                log.warning("waiting for the schema registry", extra={"reason": str(away)})
                self._stopping.wait(PAUSE_SECONDS)
                continue
            if batch:
                yield batch

    def poll(self, max_records: int, timeout_seconds: float) -> Batch:
        """Return what up to `max_records` records held, waiting at most `timeout_seconds` for the first of them."""
        if self._gap:
            raise self._gap
        waited_for_registry = bool(self._waiting)  # then this keeps the place in the group and fetches next to nothing
        self._waiting.extend(self._source.poll(*((1, 0.0) if waited_for_registry else (max_records, timeout_seconds))))
        events: list[Received] = []
        moved: set[int] = set()
        while self._waiting:
            record = self._waiting[0]
            try:
                received = self._judged(record)
            except EventsMissing as gap:
                self._gap = gap
                raise
            except (RegistryAway, SchemaLost):
                if moved:
                    break
                raise
            self._waiting.popleft()
            moved.add(record.partition)
            if received:
                events.append(received)
        return Batch(tuple(events), {each: self._judges[each].checkpoint for each in moved & self._judges.keys()})

    def commit(self, batch: Batch) -> None:
        """Commit the checkpoints of a batch to the group, for whoever has no store of its own. Call it last."""
        self._source.commit([each for each in batch.checkpoints.values() if each.partition in self._judges])

    def lag(self) -> dict[int, int]:
        """Return by partition how many records lie between what was read and the committed end of the log; 0: none.

        Records of unwanted types and the markers of transactions count, so it is an upper bound of the events.
        """
        waiting = {record.partition: record.offset for record in reversed(self._waiting)}
        return {each: end - waiting.get(each, at) for each, (at, end) in self._source.ends().items()}

    def at_end(self) -> bool:
        """Whether every committed record had been read when the log was last looked at; for who reads and leaves."""
        return self._source.at_end() and not self._waiting

    def stop(self) -> None:
        """End the iteration after the batch at hand. May come from a signal handler, or any thread."""
        self._stopping.set()

    def close(self) -> None:
        """Leave the broker, and the group at once."""
        self._source.close()

    def _judged(self, record: Record) -> Received | None:
        judge = self._judges.get(record.partition)
        if judge is None:  # the partition was given to another member of the group meanwhile
            return None
        try:
            return judge.judge(record)
        except Stranger as stranger:
            self._noted(record, stranger)
            return None

    def _begin(self, starts: Iterable[Checkpoint]) -> None:
        for start in starts:
            self._judges[start.partition] = Judge(start, self._decoder, self._wanted, self.counts)

    def _let_go(self, partitions: Collection[int]) -> None:
        for partition in partitions:
            self._judges.pop(partition, None)
        self._waiting = deque(record for record in self._waiting if record.partition not in partitions)


def follow(
    kafka: Mapping[str, Any],
    topic: str,
    registry: str | SchemaById,
    *,
    types: Iterable[type[Event]] | None = None,
    starts: Iterable[Checkpoint] = (),
    partitions: Collection[int] | None = None,
    noted: Noted | None = None,
) -> EventReader:
    """Read every partition, or these, each from its checkpoint, or from its beginning: for a store of one's own.

    `kafka` is the configuration of confluent_kafka, `registry` its URL or a function from ids to schemas, `types` the
    wanted event classes (all). `noted` hears of records that are no events of the ledger (a line is logged).
    """
    schema_by_id = registry_at(registry) if isinstance(registry, str) else registry
    source = Assigned(kafka, topic, Decoder(schema_by_id).claim, list(starts), partitions)
    return EventReader(source, schema_by_id, names_of(types), noted or note)


def follow_in_group(
    kafka: Mapping[str, Any],
    topic: str,
    registry: str | SchemaById,
    group: str,
    *,
    types: Iterable[type[Event]] | None = None,
    noted: Noted | None = None,
) -> EventReader:
    """Read the partitions that Kafka gives to this member of a consumer group, each from what the group committed.

    `commit` after a batch was used: an event may come again after a crash, to this member or to another.
    """
    schema_by_id = registry_at(registry) if isinstance(registry, str) else registry
    return EventReader(Grouped(kafka, topic, group), schema_by_id, names_of(types), noted or note)


def names_of(types: Iterable[type[Event]] | None) -> frozenset[str]:
    """Return the names of event classes; ValueError where one is no event of the ledger."""
    names = frozenset(EVENT_TYPES) if types is None else frozenset(each.__name__ for each in types)
    if unknown := sorted(names - EVENT_TYPES.keys()):
        raise ValueError(f"no event types of the ledger: {', '.join(unknown)}; see schemas.events.EVENT_TYPES")
    return names


def note(record: Record, stranger: Stranger) -> None:
    """Log that a record was left out."""
    log.warning(
        "record left out: it is no event of the ledger",
        extra={
            "reason": stranger.reason,
            "detail": str(stranger),
            "topic": record.topic,
            "partition": record.partition,
            "offset": record.offset,
        },
    )
