"""Strangers' records are parked before the checkpoint moves past them, and move it also where no event follows."""

import pytest

from projections.postgres.batch import batch_of
from projections.postgres.parking import ParkingLog, Strangers
from projections.postgres.rows import Checkpoint as Row
from schemas.events import OrgRegistered
from services.runtime.errors import RecordRefused
from services.runtime.raw_log import Checkpoint
from services.runtime.reader import Record
from services.runtime.settings import Settings
from tests.fakes.records import InMemoryRecords, event_record, local_decoder

SETTINGS = Settings(kafka="", postgres="", registry="", blobs="")
Parked = list[tuple[int, int, str]]


def junk(offset: int, partition: int = 0) -> Record:
    return Record("test.events", partition, offset, "acme", b"\xff\x00\xfe", [], 0)


def event(position: int, offset: int) -> Record:
    return event_record(position, OrgRegistered(org_id="acme"), offset=offset)


def parking() -> tuple[Parked, Strangers]:
    parked: Parked = []
    return parked, Strangers(lambda record, reason, _detail: parked.append((record.partition, record.offset, reason)))


def log_of(strangers: Strangers, *records: Record, start: Checkpoint | None = None) -> ParkingLog:
    starts = {0: start or Checkpoint(), 1: Checkpoint()}
    return ParkingLog(SETTINGS, local_decoder(), strangers, starts, InMemoryRecords(list(records)))


def moved(log: ParkingLog, checkpoint: Row | None = None) -> dict[int, tuple[int, int]]:
    """Return position and next offset of each checkpoint that a poll moves."""
    after = batch_of({0: checkpoint or Row(0), 1: Row(1)}, log.poll(100, 0)).after
    return {partition: (row.position, row.next_offset) for partition, row in after.items()}


def test_each_is_parked_with_its_place_and_reason() -> None:
    parked, strangers = parking()
    log = log_of(strangers, event(1, 0), junk(1), junk(0, 1), event(2, 2), junk(3))
    assert [entry.position for entry in log.poll(100, 0) if entry.recorded] == [1, 2]
    assert parked == [(0, 1, "bad_message"), (1, 0, "bad_message"), (0, 3, "bad_message")]


@pytest.mark.parametrize(
    ("records", "checkpoints"),
    [
        ([event(1, 0), junk(1)], {0: (1, 2)}),
        ([junk(0), event(1, 1)], {0: (1, 2)}),
        ([junk(0), junk(1)], {0: (0, 2)}),
        ([event(1, 0), junk(1), event(2, 2)], {0: (2, 3)}),
        ([event(1, 0), junk(1), junk(7, 1), junk(4)], {0: (1, 5), 1: (0, 8)}),
    ],
)
def test_the_checkpoint_moves_past_them(records: list[Record], checkpoints: dict[int, tuple[int, int]]) -> None:
    _, strangers = parking()
    assert moved(log_of(strangers, *records)) == checkpoints


def test_a_checkpoint_that_is_behind_them_already_stays() -> None:
    _, strangers = parking()
    log = log_of(strangers, junk(3), start=Checkpoint(2, 3))
    assert moved(log, Row(0, position=2, next_offset=9)) == {}


def test_a_log_that_is_opened_again_in_the_same_process_does_not_park_again() -> None:
    parked, strangers = parking()
    for _ in range(2):
        assert moved(log_of(strangers, event(1, 0), junk(1))) == {0: (1, 2)}
    assert parked == [(0, 1, "bad_message")]


def test_what_one_log_left_out_moves_no_checkpoint_of_the_next_one() -> None:
    parked: list[int] = []

    def park(record: Record, _reason: str, _detail: str) -> None:
        if record.offset == 1:
            raise RecordRefused("too large")
        parked.append(record.offset)

    strangers = Strangers(park)
    with pytest.raises(RecordRefused):
        log_of(strangers, junk(0), junk(1), event(1, 2)).poll(100, 0)
    assert parked == [0]
    assert moved(log_of(strangers, event(1, 2))) == {0: (1, 3)}
