"""What is taken of callers about schedules."""

from typing import Any

import msgspec
import pytest

from api import schedule_requests

WORK = {"url": "https://shop.example/p/1"}


@pytest.mark.parametrize(
    ("body", "into"),
    [
        ({"name": "n", "cron": "0 * * * *", "work": WORK, "tags": ["daily\n"]}, schedule_requests.SaveSchedule),
        ({"tagFilter": {"any": ["daily\n"]}}, schedule_requests.ByTags),
        ({"tagsAny": "daily,weekly\n"}, schedule_requests.ListSchedules),
    ],
)
def test_no_line_break_passes_at_the_end_of_a_tag(body: dict[str, Any], into: type[Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(body, into)
