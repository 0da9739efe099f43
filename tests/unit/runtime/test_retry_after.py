"""Reading Retry-After."""

from datetime import UTC, datetime

import pytest

from services.runtime.retry_after import retry_after_seconds

NOW = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("Fri, 01 May 2026 12:01:00 GMT", 60),
        ("Fri, 01 May 2026 11:00:00 GMT", 0),
        ("Fri, 01 May 2026 14:01:00 +0200", 60),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("9" * 30, 1e9),
        ("٣", None),
        ("Fri, 99 May 2026 12:01:00 GMT", None),
    ],
)
def test_seconds_and_dates_are_read_and_junk_is_none(value: str, seconds: float | None) -> None:
    assert retry_after_seconds(value, NOW) == seconds
