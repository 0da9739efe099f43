"""Durations, times and percentiles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.cli.spans import clock, milliseconds_between, percentile, span

FLOATS = st.lists(st.floats(0, 1e9), min_size=1)


def test_a_percentile_is_a_value_that_was_measured() -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.0
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.99) == 4.0
    assert percentile([7.0], 0.5) == 7.0
    assert percentile([], 0.5) == 0.0


@given(FLOATS, st.floats(0.01, 1.0))
def test_at_least_that_share_of_the_values_does_not_exceed_a_percentile(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert sum(value <= found for value in values) >= share * len(values)
    assert sum(value < found for value in values) < share * len(values)


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0.4, "0 ms"),
        (999.0, "999 ms"),
        (1500.0, "1.50 s"),
        (125_000.0, "2 min 05 s"),
        (3_600_000.0, "1 h 00 min"),
        (47 * 3_600_000.0 + 59_000.0, "47 h 00 min"),
        (72 * 3_600_000.0, "3 d 00 h"),
    ],
)
def test_a_duration_has_the_unit_that_fits_it(milliseconds: float, text: str) -> None:
    assert span(milliseconds) == text


def test_moments_of_the_api_can_be_subtracted() -> None:
    assert milliseconds_between("2026-01-31T12:00:00.000000Z", "2026-01-31T12:00:01.500250Z") == 1500.25
    assert clock("2026-01-31T12:00:01.500250Z") == "12:00:01.500"
