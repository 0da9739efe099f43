"""When a timezone puts its clock forward or back: the database of timezones tells the offset of an instant only."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

STEP = timedelta(days=5)  # no clock is put there and back within less
SECOND = timedelta(seconds=1)


def first_change(zone: ZoneInfo, since: datetime, until: datetime) -> datetime | None:
    """Return the first instant behind `since`, `until` at the latest, at which the offset is another than before."""
    offset = since.astimezone(zone).utcoffset()
    while since < until:
        later = min(since + STEP, until)
        if later.astimezone(zone).utcoffset() != offset:
            return _between(zone, since.replace(microsecond=0), later)
        since = later
    return None


def _between(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    offset = before.astimezone(zone).utcoffset()
    while after - before > SECOND:
        middle = before + (after - before) // 2 // SECOND * SECOND
        if middle.astimezone(zone).utcoffset() == offset:
            before = middle
        else:
            after = middle
    return after
