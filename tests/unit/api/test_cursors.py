"""What is taken for a cursor of the list of jobs."""

from datetime import UTC, datetime

import pytest

from api.errors import Problem
from api.routes.jobs import _place_of
from projections.postgres.views import Cursor
from services.runtime.ids import uuid7

PLACE = Cursor(datetime(2027, 1, 15, 12, tzinfo=UTC), uuid7())
TEXT = PLACE.encode()


def test_a_cursor_is_taken_as_it_was_given_out() -> None:
    assert _place_of(TEXT, oldest_first=False) == PLACE
    assert _place_of(None, oldest_first=False) is None


@pytest.mark.parametrize(
    "text",
    [
        TEXT[:-1],
        TEXT[:-4],
        TEXT + "A",
        TEXT + "=",
        " " + TEXT,
        TEXT[::-1],
        Cursor(PLACE.submitted_at, "").encode(),
        Cursor(PLACE.submitted_at, "job-1").encode(),
        Cursor(PLACE.submitted_at, PLACE.job_id, oldest_first=True).encode(),
    ],
    ids=["cut", "cut short", "longer", "padded", "blank", "turned", "no job", "no job id", "other direction"],
)
def test_a_cursor_that_was_changed_is_refused(text: str) -> None:
    with pytest.raises(Problem) as caught:
        _place_of(text, oldest_first=False)
    assert caught.value.body["field"] == "cursor"
