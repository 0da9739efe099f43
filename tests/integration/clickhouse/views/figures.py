"""What the tests of the views count in the events themselves."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from schemas.recorded import Recorded
from services.ledger.status import TRANSITIONS
from tests.integration.clickhouse.views.history import Jobs

Row = tuple[Any, ...]


def stays(told: list[Recorded]) -> list[tuple[int, str, int]]:
    """Return each state of a job: the ordinal and time of its event, and its name."""
    return [
        (each.header.seq, str(TRANSITIONS[type(each.event)][1]), each.header.occurred_at)
        for each in told
        if type(each.event) in TRANSITIONS
    ]


def spans(jobs: Jobs) -> Iterator[tuple[str, str, int, str, int, str | None, int | None]]:
    """Yield org, job, ordinal, state, when it was entered, the next state and when that was."""
    for key, told in jobs.items():
        found = stays(told)
        for (seq, state, at), following in zip(found, [*found[1:], None], strict=True):
            yield *key, seq, state, at, following and following[1], following and following[2]


def quantile(values: Sequence[float], level: float) -> float:
    """Return a quantile between the two values next to it, as ClickHouse's quantileExactInclusive."""
    ordered = sorted(values)
    below, part = divmod(level * (len(ordered) - 1), 1)
    upper = ordered[min(int(below) + 1, len(ordered) - 1)]
    return ordered[int(below)] + part * (upper - ordered[int(below)])


def seconds(begin: int, end: int) -> float:
    return (end - begin) / 1e6


def same(found: list[Row], wanted: list[Row]) -> None:
    """Compare rows; sums and means may differ in their last digits."""
    assert len(found) == len(wanted)
    for row, expected in zip(found, wanted, strict=True):
        assert row == tuple(pytest.approx(each) if isinstance(each, float) else each for each in expected)
