"""What counts as a difference between the log and a row."""

import pytest

from projections.verification.compare import differs

NAN = float("nan")


@pytest.mark.parametrize(
    ("found", "wanted", "told"),
    [(1, 1, False), (1, 2, True), (None, 0, True), (NAN, float("nan"), False), (NAN, 0.5, True), (0.5, NAN, True)],
    ids=repr,
)
def test_two_values_differ_where_they_are_not_the_same_and_nan_is_the_same_as_nan(
    found: object, wanted: object, told: bool
) -> None:
    assert differs(found, wanted) is told
