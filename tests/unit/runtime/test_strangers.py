"""What somebody else wrote to the log is left out and the position stays; only a gap stops, only the registry waits."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from schemas.codec import Decoder, SchemaById
from schemas.events import WorkerAlive
from schemas.recorded import Recorded
from services.decider.outgoing import event_headers
from services.runtime.errors import LogGap, RegistryFault
from services.runtime.ledger_log import LedgerLog
from services.runtime.metrics import exposition
from services.runtime.raw_log import Checkpoint, RawEntry, RawLog
from services.runtime.reader import Record
from services.runtime.settings import Settings
from services.runtime.strangers import Stranger, by_checksum, by_reading, noting
from tests.fakes.records import ENCODER, InMemoryRecords, event_record, local_decoder
from tests.fakes.strangers import ABSENT, KINDS, framed, junk_for, org, schema_of

SETTINGS = Settings(kafka="", postgres="", registry="", blobs="")


class Seen:
    """Takes what is left out."""

    def __init__(self) -> None:
        self.all: list[tuple[int, str]] = []

    def __call__(self, record: Record, stranger: Stranger) -> None:
        self.all.append((record.offset, stranger.reason))


Opened = Callable[..., LedgerLog | RawLog]
START = {0: Checkpoint()}


def decoding(records: list[Record], seen: Seen, registry: SchemaById = schema_of) -> LedgerLog:
    return LedgerLog(SETTINGS, Decoder(registry), START, InMemoryRecords(records), noted=seen)


def not_decoding(records: list[Record], seen: Seen, registry: SchemaById = schema_of) -> RawLog:
    return RawLog(SETTINGS, by_reading(Decoder(registry).claim), seen, START, InMemoryRecords(records))


def by_checksums(records: list[Record], seen: Seen, registry: SchemaById = schema_of) -> RawLog:
    return RawLog(SETTINGS, by_checksum(Decoder(registry).claim), seen, START, InMemoryRecords(records))


LOGS = [decoding, not_decoding, by_checksums]


@pytest.mark.parametrize("opened", LOGS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("before", [0, 1, 3])
def test_junk_is_left_out_wherever_it_lies_and_every_event_is_folded(opened: Opened, kind: str, before: int) -> None:
    events = [org(position) for position in range(1, 4)]
    junk = msgspec.structs.replace(junk_for(before + 1)[kind], offset=77)
    seen = Seen()
    log = opened([*events[:before], junk, junk, *events[before:]], seen)
    assert [(entry.position, entry.raw) for entry in log.poll(10, 0)] == [
        (n + 1, e.value) for n, e in enumerate(events)
    ]
    reason = "foreign_org" if kind in ("of another partition", "of another org", "without a key") else "bad_message"
    assert seen.all == [(77, reason)] * 2
    assert log.position(0) == 3


@pytest.mark.parametrize("opened", LOGS)
def test_what_says_a_position_that_was_folded_is_dropped_whatever_it_is(opened: Opened) -> None:
    seen = Seen()
    old = msgspec.structs.replace(org(1), value=b"junk")
    log = opened([org(1), old, org(2)], seen)
    assert [entry.position for entry in log.poll(10, 0)] == [1, 2]
    assert seen.all == []


@pytest.mark.parametrize("opened", LOGS)
def test_behind_an_event_that_was_left_out_because_it_is_damaged_the_next_one_stops_the_log(opened: Opened) -> None:
    seen = Seen()
    damaged = msgspec.structs.replace(org(2), value=org(2).value[:-3])
    log = opened([org(1), damaged, org(3)], seen)
    with pytest.raises(LogGap, match=r"partition 0, offset 2: position 3 follows 1"):
        log.poll(10, 0)
    assert seen.all == [(1, "bad_message")]
    with pytest.raises(LogGap):
        log.poll(10, 0)


def marked(position: int) -> Record:
    """Return an event exactly as the decider writes it, but for a schema that the registry does not know."""
    record = org(position)
    recorded = local_decoder().decode(record.value)
    assert recorded
    return msgspec.structs.replace(
        record, value=framed(record, ABSENT), headers=event_headers(recorded, framed(record, ABSENT))
    )


@pytest.mark.parametrize("opened", LOGS)
def test_an_event_with_the_marks_of_the_decider_waits_for_the_registry_that_lost_its_schema(opened: Opened) -> None:
    seen = Seen()
    log = opened([org(1), marked(2), org(3)], seen)
    assert [entry.position for entry in log.poll(10, 0)] == [1]
    for _ in range(2):
        with pytest.raises(RegistryFault, match=r"offset 1: no schema 91: restore the registry's schemas"):
            log.poll(10, 0)
    assert (seen.all, log.next_offsets(), log.at_end()) == ([], {0: 1}, False)


@pytest.mark.parametrize("opened", LOGS)
def test_marks_that_belong_to_other_bytes_are_nothing_to_wait_for(opened: Opened) -> None:
    seen = Seen()
    junk = msgspec.structs.replace(marked(2), value=framed(org(2), ABSENT))  # another event id than in its header
    assert [entry.position for entry in opened([org(1), junk, org(2)], seen).poll(10, 0)] == [1, 2]
    assert seen.all == [(1, "bad_message")]


@pytest.mark.parametrize("opened", LOGS)
def test_nothing_is_decided_while_the_registry_is_away_and_nothing_is_lost(opened: Opened) -> None:
    away, asked = {ABSENT}, list[int]()

    def registry(schema_id: int) -> Any:
        if schema_id not in away:
            return schema_of(schema_id)
        asked.append(schema_id)
        raise RegistryFault("no schema registry answers")

    seen = Seen()
    log = opened([org(1), junk_for(2)["of an unknown schema"], org(2)], seen, registry)
    assert [entry.position for entry in log.poll(10, 0)] == [1]
    with pytest.raises(RegistryFault):
        log.poll(10, 0)
    assert (asked, seen.all) == ([ABSENT, ABSENT], [])
    away.clear()
    assert [entry.position for entry in log.poll(10, 0)] == [2]
    assert seen.all == [(1, "bad_message")]


def test_what_a_reader_left_out_is_counted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    noting("a-test")(Record("test.events", 3, 9, "org-1", b"junk", [], 0), Stranger("bad_message", "no frame"))
    assert 'jobledger_events_not_ours_total{reader="a-test"} 1.0' in exposition().decode()
    [line] = [record for record in caplog.records if record.name == "services.runtime.strangers"]
    assert (line.__dict__["partition"], line.__dict__["offset"], line.__dict__["detail"]) == (3, 9, "no frame")


def test_the_claim_of_an_event_is_what_its_decoding_says() -> None:
    record = event_record(7, WorkerAlive(worker_id="w"), partition=5)
    claim, whole = local_decoder().claim(record.value), local_decoder().whole(record.value)
    assert (claim.partition, claim.position, claim.org_id, claim.recorded) == (5, 7, "", None)
    assert isinstance(whole.recorded, Recorded)
    assert (whole.partition, whole.position, whole.org_id) == (5, 7, "")
    assert ENCODER.encode(whole.recorded) == record.value


def test_entries_of_both_logs_name_the_org_and_the_next_checkpoint() -> None:
    [entry] = not_decoding([org(1, offset=7)], Seen()).poll(10, 0)
    assert isinstance(entry, RawEntry)
    assert (entry.org_id, entry.checkpoint) == ("acme", Checkpoint(1, 8))
