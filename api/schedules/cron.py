"""When a cron expression is due in a timezone: instants in UTC, in order, each once.

The rule for clocks that are put forward or back is Debian's. Minute and hour both given: a time that does not exist is
due at the end of the gap, one that comes twice is due the first time. `*` in either, or a field of seconds: due
whenever a clock on the wall shows it, so twice where the hour comes twice, and not at all in a gap.
"""

from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import chain, islice, pairwise, takewhile
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from api.errors import Gathering, Problem, invalid
from api.schedules.offsets import first_change

MAX_CHARS = 200
SAMPLE = 500  # due times that are looked at for the shortest gap between two
SAMPLE_DAYS = 366
OF_THE_HOST = {"localtime", "Factory"}  # files beside the database: what they say differs from host to host
FIRST_WINDOW = timedelta(hours=1)
SECOND = timedelta(seconds=1)
TIMED_FIELDS = 5  # of an expression without seconds


def due_after(cron: str, timezone: str, at: datetime) -> Iterator[datetime]:
    """Yield the due times after an instant, at most until nothing is due for 50 years."""
    minute, hour = (*cron.split(), "", "")[:2]
    once_a_day = len(cron.split()) == TIMED_FIELDS and not (minute.startswith("*") or hour.startswith("*"))
    return (_at_times if once_a_day else _as_shown)(cron, ZoneInfo(timezone), at)


def _at_times(cron: str, zone: ZoneInfo, at: datetime) -> Iterator[datetime]:
    """Yield when times of the day are there: what does not exist at the end of the gap, what comes twice once."""
    last = at
    for local in CronSim(cron, at.astimezone(zone)):
        due = local.astimezone(UTC)
        if due > last:  # at the end of summer time the clock on the wall is ambiguous, the instant is not
            yield due
            last = due


def _as_shown(cron: str, zone: ZoneInfo, at: datetime) -> Iterator[datetime]:
    """Yield when a clock on the wall shows it. The library only knows of clocks that are put by whole hours."""
    begin: datetime | None = at.astimezone(UTC)
    shown = at.astimezone(UTC)
    while begin:
        offset = begin.astimezone(zone).utcoffset() or timedelta()
        since, begin = begin, None
        for wall in CronSim(cron, (shown + offset).replace(tzinfo=None)):
            due = (wall - offset).replace(tzinfo=UTC)
            if begin := first_change(zone, since, due):
                shown = begin - SECOND  # by the new offset: what is shown at the very change is due too
                break
            yield due
            since = due


def next_due(cron: str, timezone: str, at: datetime) -> datetime | None:
    """Return the first due time after an instant."""
    return next(due_after(cron, timezone, at), None)


def first_due(cron: str, timezone: str, at: datetime) -> datetime | None:
    """Return the same, or raise a Problem naming the field that cannot be read here, though it was saved once."""
    if timezone not in _timezones():  # timezones are renamed, and old names are dropped at last
        raise invalid("timezone", f"{timezone} is none any more: save the schedule with another one")
    try:
        return next_due(cron, timezone, at)
    except CronSimError as error:
        raise _unreadable(cron, str(error)) from None


def newest_due(cron: str, timezone: str, first: datetime, until: datetime, most: int) -> list[datetime]:
    """Return the due times from `first`, which is one, until `until`; of more than `most` the newest, oldest first.

    Looked for in windows that grow: a schedule of every minute that was not looked at for a year has half a million.
    """
    window = FIRST_WINDOW
    while until - window > first:
        found = deque(_until(due_after(cron, timezone, until - window), until), maxlen=most)
        if len(found) == most:
            return list(found)
        window *= 4
    return list(deque(_until(chain([first], due_after(cron, timezone, first)), until), maxlen=most))


def check(cron: str, timezone: str, now: datetime, least_seconds: float) -> None:
    """Raise a Problem naming the fields that make this no schedule."""
    gathering = Gathering()
    known = timezone in _timezones()
    if not known:
        said = "not a timezone of the IANA database: send a name such as Europe/Berlin or UTC"
        gathering.found.append(invalid("timezone", said))
    with gathering.looking():
        _check_times(cron, timezone if known else "UTC", now, least_seconds)
    gathering.done()


def _check_times(cron: str, timezone: str, now: datetime, least_seconds: float) -> None:
    if len(cron) > MAX_CHARS:
        raise invalid("cron", f"a cron expression takes at most {MAX_CHARS} characters")
    if not (cron.isascii() and cron.isprintable()):
        raise invalid("cron", "a cron expression takes letters, digits and signs of ASCII, and blanks between fields")
    try:
        sample = list(islice(_until(due_after(cron, timezone, now), now + timedelta(days=SAMPLE_DAYS)), SAMPLE))
        following = sample or list(islice(due_after(cron, timezone, now), 1))
    except CronSimError as error:
        raise _unreadable(cron, str(error)) from None
    if not following:
        raise invalid("cron", "this is due at no time within 50 years: look at its day and month")
    gap = min((later - sooner for sooner, later in pairwise(sample)), default=None)
    if gap is not None and gap < timedelta(seconds=least_seconds):
        said = f"due again after {gap.total_seconds():g} s: at least {least_seconds:g} s must lie between two fires"
        raise invalid("cron", said)


def _unreadable(cron: str, reason: str) -> Problem:
    said = reason[0].lower() + reason[1:]
    if len(cron.split()) in (TIMED_FIELDS, TIMED_FIELDS + 1):
        return invalid(
            "cron", f"{said}: look at what this field may hold, and at whether any of the months has that day"
        )
    fields = "minute, hour, day of month, month, day of week"
    return invalid("cron", f"{said}: five fields are expected, {fields}; or six, seconds first")


def _until(times: Iterator[datetime], until: datetime) -> Iterator[datetime]:
    return takewhile(lambda due: due <= until, times)


@cache
def _timezones() -> frozenset[str]:
    return frozenset(available_timezones() - OF_THE_HOST)
