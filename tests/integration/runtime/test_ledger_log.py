"""The events topic read as a log: transactions, fences and restarts leave every event exactly once."""

import time

import pytest

from schemas.events import OrgRegistered
from services.runtime.dead_letter import DeadLetters
from services.runtime.errors import LogGap
from services.runtime.ledger_log import Checkpoint, Entry, LedgerLog
from services.runtime.producer import Producer
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings
from services.runtime.topics import dead_letters, events
from services.runtime.transactions import Outgoing, PartitionTransactions
from tests.fakes.records import event_record, local_decoder

DEADLINE_SECONDS = 20.0


def outgoing(settings: Settings, position: int) -> Outgoing:
    """Return an event of partition 0 as the decider sends it."""
    record = event_record(position, OrgRegistered(org_id="acme"))
    return Outgoing(events(settings), 0, record.key, record.value, record.headers)


def read(log: LedgerLog, wanted: int) -> list[Entry]:
    """Poll until there are as many events as wanted."""
    found: list[Entry] = []
    deadline = time.monotonic() + DEADLINE_SECONDS
    while len(found) < wanted and time.monotonic() < deadline:
        found += log.poll(100, 0.2)
    return found


def read_to_end(log: LedgerLog) -> list[Entry]:
    """Poll until everything committed was seen."""
    found: list[Entry] = []
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not log.at_end():
        assert time.monotonic() < deadline
        found += log.poll(100, 0.2)
    return found


@pytest.mark.kafka
def test_a_log_with_markers_and_fences_gives_every_event_once_and_goes_on_from_any_checkpoint(
    ledger: Settings,
) -> None:
    transactions = PartitionTransactions(ledger, 0)
    transactions.open()
    transactions.write([outgoing(ledger, 1), outgoing(ledger, 2)])
    transactions.fence(events(ledger), 0)
    transactions.write([outgoing(ledger, 3)])
    transactions.write([outgoing(ledger, 4), outgoing(ledger, 5)])
    log = LedgerLog(ledger, local_decoder(), {0: Checkpoint()})
    entries = read_to_end(log)
    log.close()
    assert [entry.position for entry in entries] == [1, 2, 3, 4, 5]
    for entry in entries:
        resumed = LedgerLog(ledger, local_decoder(), {0: entry.checkpoint})
        assert [later.position for later in read_to_end(resumed)] == list(range(entry.position + 1, 6))
        resumed.close()


async def test_a_log_read_from_an_older_offset_than_its_position_drops_what_was_folded(ledger: Settings) -> None:
    await write(ledger, event_record(1), event_record(2), event_record(3))
    log = LedgerLog(ledger, local_decoder(), {0: Checkpoint(position=2, next_offset=0)})
    assert [entry.position for entry in read(log, 1)] == [3]
    log.close()


async def test_a_missing_event_stops_the_reader(ledger: Settings) -> None:
    await write(ledger, event_record(1), event_record(3))
    log = LedgerLog(ledger, local_decoder(), {0: Checkpoint()})
    with pytest.raises(LogGap, match="position 3 follows 1"):
        read(log, 2)
    log.close()


async def test_the_largest_possible_record_can_be_parked(ledger: Settings) -> None:
    producer = Producer(ledger, "test")
    producer.start()
    original = Record("somewhere", 3, 9, "k" * 5000, bytes(1_048_000), [("ce_type", b"x")], 0)
    await DeadLetters(producer, ledger).park(original, "bad_message", "d" * 100_000)
    producer.close()
    reader = LogReader(ledger, dead_letters(ledger), {0: 0})
    [parked] = reader.poll(10, DEADLINE_SECONDS) or reader.poll(10, DEADLINE_SECONDS)
    assert dict(parked.headers)["origin-bytes"] == b"1048000"
    reader.close()


async def write(settings: Settings, *records: Record) -> None:
    """Write event records without a transaction."""
    producer = Producer(settings, "test")
    producer.start()
    for record in records:
        await producer.send(events(settings), record.partition, record.key, record.value, record.headers)
    producer.close()
