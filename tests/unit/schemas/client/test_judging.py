"""Which records a consumer gets: what it wants, each once, past all that the decider did not write."""

from collections.abc import Collection
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.client.checkpoint import Checkpoint
from schemas.client.judging import Counts, Judge, Received
from schemas.codec import Decoder
from schemas.events import EVENT_TYPES, JobCompleted, WorkerAlive
from schemas.record import Record
from schemas.strangers import EventsMissing, SchemaLost, Stranger
from services.decider.outgoing import event_headers
from tests.fakes.records import event_record, local_decoder
from tests.fakes.strangers import ABSENT, KINDS, framed, junk_for, org, schema_of

EVERYTHING = frozenset(EVENT_TYPES)
ORGS = frozenset({"OrgRegistered"})


def alive(position: int, **more: Any) -> Record:
    return event_record(position, WorkerAlive(worker_id="w"), **more)


def judged(
    records: list[Record], wanted: Collection[str] = EVERYTHING, start: Checkpoint | None = None
) -> tuple[list[int], Counts, Checkpoint]:
    """Return the positions that came out, what was counted, and the checkpoint behind it all."""
    counts = Counts()
    judge = Judge(start or Checkpoint(0), Decoder(schema_of), wanted, counts)
    received = []
    for record in records:
        try:
            received.append(judge.judge(record))
        except Stranger:
            continue
    return [each.header.position for each in received if each], counts, judge.checkpoint


def named(record: Record, event_type: str) -> Record:
    """Return a record whose header names another type."""
    headers = dict(record.headers) | {"ce_type": b"jobledger." + event_type.encode()}
    return msgspec.structs.replace(record, headers=[*headers.items()])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("before", [0, 1, 3])
def test_junk_is_left_out_wherever_it_lies_and_every_wanted_event_comes_once(kind: str, before: int) -> None:
    events = [org(position) for position in range(1, 4)]
    junk = junk_for(before + 1)[kind]
    positions, counts, checkpoint = judged([*events[:before], junk, junk, *events[before:]], ORGS)
    assert (positions, counts.strangers, checkpoint.position) == ([1, 2, 3], 2, 3)


def test_what_is_not_wanted_is_skipped_by_its_header_and_nobody_asks_for_its_schema() -> None:
    unreadable = msgspec.structs.replace(alive(2), value=b"\0\0\0\0\x5b of a schema that is never asked for")
    positions, counts, checkpoint = judged([org(1), unreadable, org(3)], ORGS)
    assert positions == [1, 3]
    assert (counts.skipped, counts.strangers) == (1, 0)
    assert str(checkpoint) == "0:3@3"


def test_types_of_a_later_version_are_skipped_by_their_header_and_counted() -> None:
    later = named(msgspec.structs.replace(org(2), value=framed(org(2), ABSENT)), "JobPraised")
    for wanted in (EVERYTHING, ORGS):
        positions, counts, _ = judged([org(1), later, org(3)], wanted)
        assert (positions, counts.unknown, counts.skipped, counts.strangers) == ([1, 3], 1, 0, 0)


def test_a_forged_header_of_an_unwanted_type_hides_no_event() -> None:
    forged = named(msgspec.structs.replace(org(2), value=b"junk"), "WorkerAlive")
    positions, counts, checkpoint = judged([org(1), forged, org(2), alive(3), forged, org(4)], ORGS)
    assert (positions, counts.repeated, checkpoint.position, checkpoint.taken) == ([1, 2, 4], 1, 4, 4)


def test_nor_does_it_when_the_consumer_starts_again_between_the_two() -> None:
    forged = named(msgspec.structs.replace(org(2), value=b"junk"), "WorkerAlive")
    _, _, checkpoint = judged([org(1), forged], ORGS)
    assert str(checkpoint) == "0:2@2/1"
    positions, _, _ = judged([org(2), org(3)], ORGS, Checkpoint.parse(str(checkpoint)))
    assert positions == [2, 3]


def test_a_missing_event_stops_the_reader_wanted_or_not() -> None:
    for record in (org(4), alive(4)):
        with pytest.raises(EventsMissing, match="position 4 follows 2"):
            judged([org(1), alive(2), record], ORGS)


def test_behind_a_damaged_event_the_next_one_stops_the_reader() -> None:
    damaged = msgspec.structs.replace(org(2), value=org(2).value[:-3])
    with pytest.raises(EventsMissing, match="position 3 follows 1"):
        judged([org(1), damaged, org(3)], ORGS)


def test_fences_are_dropped_and_a_partition_whose_place_nobody_knows_begins_with_its_next_event() -> None:
    fence = Record("test.events", 0, 9, "", b"", [("ledger-position", b"0")], 0)
    positions, counts, checkpoint = judged([fence, alive(7), org(8), fence], ORGS, Checkpoint(0, None, 9))
    assert (positions, counts.strangers, counts.repeated, checkpoint.position) == ([8], 0, 2, 8)


def test_a_schema_that_the_registry_lost_is_waited_for() -> None:
    recorded = local_decoder().decode(org(2).value)
    assert recorded
    lost = msgspec.structs.replace(org(2), value=framed(org(2), ABSENT), headers=event_headers(recorded, org(2).value))
    judge = Judge(Checkpoint(0, 1, 1, 1), Decoder(schema_of), ORGS, Counts())
    lost = msgspec.structs.replace(lost, value=lost.value[:5] + recorded.header.event_id + lost.value[21:])
    with pytest.raises(SchemaLost, match="no schema 91"):
        judge.judge(lost)
    assert str(judge.checkpoint) == "0:1@1", "it stands before the record"


def test_an_event_says_its_place_and_its_type() -> None:
    record = event_record(5, JobCompleted(org_id="acme", job_id="j"), partition=3)
    received = Judge(Checkpoint(3, 4, 4, 4), local_decoder(), EVERYTHING, Counts()).judge(record)
    assert isinstance(received, Received)
    assert isinstance(received.event, JobCompleted)
    assert (received.place, received.raw, received.event.job_id) == ("3:5", record.value, "j")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2)), min_size=1, max_size=12), st.data())
def test_however_often_records_come_again_and_wherever_it_starts_anew_each_event_comes_once(
    kinds: list[tuple[bool, int]], data: st.DataObject
) -> None:
    """The consumer stores its checkpoint with what it made of the events, and is stopped at any record."""
    log: list[Record] = []
    for position, (wanted, forged) in enumerate(kinds, 1):
        event = org(position) if wanted else alive(position)
        log += [named(msgspec.structs.replace(org(position), value=b"junk"), "WorkerAlive")] * forged + [event]
    log = [msgspec.structs.replace(record, offset=offset) for offset, record in enumerate(log)]
    stored, checkpoint = [], Checkpoint(0)
    while checkpoint.next_offset != len(log):
        at = checkpoint.next_offset or 0
        stop = data.draw(st.integers(at + 1, len(log)))
        positions, _, checkpoint = judged(log[at:stop], ORGS, Checkpoint.parse(str(checkpoint)))
        stored += positions
    assert stored == [position for position, (wanted, _) in enumerate(kinds, 1) if wanted]
