"""Which events are worth an insert of their own."""

from projections.clickhouse.gathering import SIGNS_SECONDS, worth_an_insert
from schemas.events import JobSubmitted, WorkerAlive
from services.runtime.raw_log import RawEntry
from services.runtime.standstill import STANDSTILL_SECONDS


def entry(event: type) -> RawEntry:
    return RawEntry(b"", 0, 2, 1, [("ce_type", f"jobledger.{event.__name__}".encode())])


def test_signs_of_life_wait_for_one_another_and_whatever_happens_to_a_job_waits_for_nothing() -> None:
    sign, submitted = entry(WorkerAlive), entry(JobSubmitted)
    assert not worth_an_insert([sign, sign], SIGNS_SECONDS / 2)
    assert worth_an_insert([sign, submitted], 0.0)
    assert worth_an_insert([sign], SIGNS_SECONDS)
    assert not worth_an_insert([], 0.0)


def test_what_waits_is_inserted_long_before_it_would_count_as_a_standstill() -> None:
    assert SIGNS_SECONDS <= STANDSTILL_SECONDS / 2
