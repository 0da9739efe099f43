"""The rule of positions: at or below the checkpoint is dropped, the next one is taken, a later one stops the log."""

import msgspec
import pytest

from schemas.avro_of import record_schema
from schemas.codec import Decoder
from schemas.events import OrgRegistered
from services.runtime.errors import LogGap
from services.runtime.ledger_log import Checkpoint, LedgerLog
from services.runtime.raw_log import AT_ONCE
from services.runtime.reader import Record
from services.runtime.settings import Settings
from tests.fakes.records import InMemoryRecords, event_record, local_decoder

SETTINGS = Settings(kafka="", postgres="", registry="", blobs="")


def log_of(*records: Record, **starts: int) -> LedgerLog:
    """Return a log over these records; `p0=3` sets the checkpoint's position of partition 0."""
    checkpoints = {int(name[1:]): Checkpoint(position) for name, position in starts.items()} or {0: Checkpoint()}
    return LedgerLog(SETTINGS, local_decoder(), checkpoints, InMemoryRecords(list(records)))


def test_events_come_with_their_place_and_the_checkpoint_to_store() -> None:
    record = event_record(1, OrgRegistered(org_id="acme", name="Acme"), offset=7)
    [entry] = log_of(record).poll(10, 0)
    assert entry.recorded is not None
    assert entry.recorded.event == OrgRegistered(org_id="acme", name="Acme")
    assert (entry.partition, entry.offset, entry.position, entry.next_offset) == (0, 7, 1, 8)
    assert (entry.event_type, entry.raw, entry.checkpoint) == ("OrgRegistered", record.value, Checkpoint(1, 8))


def test_events_at_or_below_the_checkpoint_are_dropped() -> None:
    entries = log_of(*(event_record(position) for position in (1, 2, 3, 4)), p0=2).poll(10, 0)
    assert [entry.position for entry in entries] == [3, 4]


def test_an_event_that_comes_twice_is_taken_once() -> None:
    entries = log_of(event_record(1), event_record(2), event_record(1), event_record(2), event_record(3)).poll(10, 0)
    assert [entry.position for entry in entries] == [1, 2, 3]


def test_partitions_have_their_own_positions() -> None:
    records = [event_record(1), event_record(6, partition=3), event_record(2), event_record(7, partition=3)]
    log = log_of(*records, p0=0, p3=5)
    assert [(entry.partition, entry.position) for entry in log.poll(10, 0)] == [(0, 1), (3, 6), (0, 2), (3, 7)]
    assert (log.position(0), log.position(3)) == (2, 7)


def test_a_missing_event_stops_the_log_naming_its_place_and_stays_stopped() -> None:
    log = log_of(event_record(1), event_record(3, offset=9), event_record(2))
    with pytest.raises(LogGap, match=r"partition 0, offset 9: position 3 follows 1"):
        log.poll(10, 0)
    with pytest.raises(LogGap):
        log.poll(10, 0)
    assert log.position(0) == 1


def test_the_writers_fence_at_position_zero_is_dropped_without_being_decoded() -> None:
    fence = Record("test.events", 0, 5, "", b"", [("ledger-position", b"0")], 0)
    assert log_of(fence).poll(10, 0) == []


def test_an_event_of_an_unknown_type_is_an_entry_without_content_and_keeps_its_position() -> None:
    future = record_schema("WriterOpened") | {"name": "JobTeleported"}
    known = event_record(1)
    said = known.value.replace(b"\x18WriterOpened", b"\x1aJobTeleported")  # each behind its length
    headers = [("ce_type", b"jobledger.JobTeleported"), *known.headers[1:]]
    record = msgspec.structs.replace(known, value=said, headers=headers)
    log = LedgerLog(SETTINGS, Decoder(lambda _: future), {0: Checkpoint()}, InMemoryRecords([record]))
    [entry] = log.poll(10, 0)
    assert (entry.recorded, entry.event_type, entry.position) == (None, "JobTeleported", 1)


def test_closing_the_log_closes_its_records() -> None:
    records = InMemoryRecords([])
    log = LedgerLog(SETTINGS, local_decoder(), {0: Checkpoint()}, records)
    assert log.at_end()
    log.close()
    assert records.closed


def test_a_poll_gives_as_many_as_were_asked_for_of_few_records_fetched_at_once() -> None:
    fetched: list[int] = []

    class Counting(InMemoryRecords):
        def poll(self, max_records: int, timeout_seconds: float) -> list[Record]:
            batch = super().poll(max_records, timeout_seconds)
            fetched.append(len(batch))
            return batch

    repeated = [event_record(1)] * (AT_ONCE + 1)
    records = [event_record(1), *repeated, *(event_record(position) for position in range(2, 2 * AT_ONCE))]
    log = LedgerLog(SETTINGS, local_decoder(), {0: Checkpoint()}, Counting(records))
    assert [entry.position for entry in log.poll(AT_ONCE + 7, 0)] == list(range(1, AT_ONCE + 8))
    assert max(fetched) <= AT_ONCE
    assert [entry.position for entry in log.poll(10 * AT_ONCE, 0)] == list(range(AT_ONCE + 8, 2 * AT_ONCE))
