"""Ids sort by time and are UUIDs of version 7; times are microseconds."""

import time
import uuid
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from services.runtime.ids import _uuid7_int, uuid7
from services.runtime.time import now_micros

NANOS = st.integers(0, 2**47 * 1_000_000)
TAIL = st.binary(min_size=8, max_size=8)


def test_a_job_id_is_a_uuid_of_version_7_in_36_characters() -> None:
    identity = uuid.UUID(uuid7())
    assert (identity.version, identity.variant, len(uuid7())) == (7, uuid.RFC_4122, 36)


def test_an_id_holds_the_millisecond_it_was_made() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(uuid7()).int >> 80
    assert before <= made <= time.time_ns() // 1_000_000


@given(NANOS, st.integers(250, 10**9), TAIL, TAIL)
def test_ids_made_a_quarter_of_a_microsecond_apart_sort_by_time(now: int, apart: int, one: bytes, other: bytes) -> None:
    assert str(uuid.UUID(int=_uuid7_int(now, one))) < str(uuid.UUID(int=_uuid7_int(now + apart, other)))


def test_ids_do_not_repeat() -> None:
    assert len({uuid7() for _ in range(10_000)}) == 10_000


def test_now_is_in_microseconds() -> None:
    assert abs(now_micros() - time.time() * 1_000_000) < 5_000_000


def test_whoever_serves_asks_the_clock_that_a_simulation_can_set() -> None:
    root = Path(__file__).resolve().parents[3]
    files = [file for part in ("schemas", "services", "projections", "api") for file in (root / part).rglob("*.py")]
    by_hand = [file for file in files if "cli" not in file.parts and "datetime.now(" in file.read_text()]
    assert by_hand == []
