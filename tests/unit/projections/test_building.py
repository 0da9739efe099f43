"""Building a version: up to exactly the positions asked for, never beyond, and stopped between two batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from projections.rebuild.building import Builder, Progress
from projections.rebuild.faults import LogTooShort, Stopped
from projections.rebuild.outcome import positions_of
from services.runtime.ledger_log import Entry
from services.runtime.raw_log import Checkpoint
from tests.event_streams import Stream, entries_of


@dataclass
class Pretended:
    """A sink that keeps the positions it was given."""

    at: dict[int, Checkpoint] = field(default_factory=lambda: {0: Checkpoint(), 1: Checkpoint()})

    def lock(self) -> bool:
        return True

    def checkpoints(self, partitions: range) -> Mapping[int, Checkpoint]:
        return dict(self.at)

    def write(self, entries: Sequence[Entry]) -> Mapping[int, Checkpoint]:
        moved = {entry.partition: entry.checkpoint for entry in entries}
        for entry in entries:
            assert entry.position == self.at[entry.partition].position + 1
            self.at[entry.partition] = entry.checkpoint
        return moved

    def close(self) -> None:
        pass


class Listed:
    """A log of two partitions that gives some events at a time."""

    def __init__(self, entries: list[Entry], starts: Mapping[int, Checkpoint]) -> None:
        self._left = [entry for entry in entries if entry.partition in starts]
        self._left = [entry for entry in self._left if entry.position > starts[entry.partition].position]

    def poll(self, max_events: int, timeout_seconds: float) -> list[Entry]:
        some, self._left = self._left[:max_events], self._left[max_events:]
        return some

    def close(self) -> None:
        pass


@pytest.fixture
def entries() -> list[Entry]:
    streams = [Stream(partition).open().play(range(40)) for partition in range(2)]
    pairs = zip(*map(entries_of, streams), strict=False)
    return [entry for pair in pairs for entry in pair]


def builder(entries: list[Entry], sink: Pretended, lines: list[str] | None = None) -> Builder:
    progress = Progress("postgres", (lines if lines is not None else []).append)
    return Builder(sink, lambda starts: Listed(entries, starts), range(2), progress, 7)


def test_it_folds_up_to_exactly_the_positions_and_goes_on_from_there(entries: list[Entry]) -> None:
    sink = Pretended()
    building = builder(entries, sink)
    for targets in ({0: 10, 1: 3}, {0: 11, 1: 30}, {0: 5, 1: 30}):
        before = building.positions()
        assert building.missing(targets) == sum(max(0, at - before[number]) for number, at in targets.items())
        building.build_up_to(targets)
        assert building.positions() == {number: max(at, before[number]) for number, at in targets.items()}


def test_a_partition_that_nobody_asks_for_is_left_alone(entries: list[Entry]) -> None:
    sink = Pretended()
    builder(entries, sink).build_up_to({1: 4})
    assert sink.at[0].position == 0


def test_a_log_that_ends_too_early_is_named(entries: list[Entry], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("projections.rebuild.building.PATIENCE_SECONDS", -1.0)
    with pytest.raises(LogTooShort, match="up to 0:999999, which"):
        builder(entries, Pretended()).build_up_to({0: 999_999, 1: 2})


def test_whoever_stops_it_leaves_what_was_folded(entries: list[Entry]) -> None:
    sink = Pretended()
    building = builder(entries, sink)
    building.build_up_to({0: 2})
    building.progress.stop.set()
    with pytest.raises(Stopped, match="the next one goes on from here"):
        building.build_up_to({0: 9})
    assert sink.at[0].position == 2


def test_positions_are_given_by_partition() -> None:
    assert positions_of("0:1200, 3:77") == {0: 1200, 3: 77}
    for text in ("", "7", "0:", "0:x", "0:1;1:2", "-1:2"):
        with pytest.raises(ValueError, match="give PARTITION:POSITION"):
            positions_of(text)
