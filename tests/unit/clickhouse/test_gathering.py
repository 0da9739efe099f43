"""Which events are worth an insert of their own, and how long others are waited for."""

import pytest

from projections.clickhouse.gathering import MOST_EVENTS, SIGNS_SECONDS, GatheringLog, worth_an_insert
from schemas.events import JobSubmitted, WorkerAlive
from services.runtime.raw_log import RawEntry
from services.runtime.standstill import STANDSTILL_SECONDS


def entry(event: type) -> RawEntry:
    return RawEntry(b"", 0, 2, 1, event.__name__)


def test_signs_of_life_wait_for_one_another_and_whatever_happens_to_a_job_waits_for_nothing() -> None:
    sign, submitted = entry(WorkerAlive), entry(JobSubmitted)
    assert not worth_an_insert([sign, sign], SIGNS_SECONDS / 2)
    assert worth_an_insert([sign, submitted], 0.0)
    assert worth_an_insert([sign], SIGNS_SECONDS)
    assert not worth_an_insert([], 0.0)


def test_what_waits_is_inserted_long_before_it_would_count_as_a_standstill() -> None:
    assert SIGNS_SECONDS <= STANDSTILL_SECONDS / 2


class Paced:
    """Hands out events that come at a pace, on a clock of its own; `behind` of them lie there already."""

    def __init__(self, per_second: int, behind: int = 0) -> None:
        self.now = 0.0
        self._per_second, self._came = per_second, -behind

    def poll(self, max_events: int, timeout_seconds: float) -> list[RawEntry]:
        """Return what came, having waited for the next one."""
        if not self._ready():
            self.now += min(timeout_seconds, 1 / self._per_second)
        taken = min(self._ready(), max_events)
        self._came += taken
        return [entry(JobSubmitted)] * taken

    def _ready(self) -> int:
        return int(self.now * self._per_second + 0.001) - self._came

    def close(self) -> None:
        """Nothing to let go of."""


@pytest.mark.parametrize(
    ("per_second", "behind", "seconds", "least", "most"),
    [
        (100, 0, 0.5, 49, 51),  # little is happening: few inserts
        (2_000, 0, 0.1, 199, 201),  # a lag of p99 below 200 ms leaves a tenth of a second for the insert
        (2_000, 160, 0.02, 200, 210),  # that came during the insert before
        (50_000, 5_000, 0.5, 29_000, 31_000),  # behind: few large inserts
        (1, 200_000, 0.0, MOST_EVENTS, MOST_EVENTS),
    ],
)
def test_an_event_waits_the_shorter_the_more_come_but_for_a_reader_that_is_behind(
    per_second: int, behind: int, seconds: float, least: int, most: int
) -> None:
    log = Paced(per_second, behind)
    gathered = GatheringLog(log, lambda: log.now).poll(MOST_EVENTS, 1.0)
    assert log.now == pytest.approx(seconds, abs=0.011)
    assert least <= len(gathered) <= most
