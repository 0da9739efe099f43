"""When a schedule is due: order, clocks that are put forward and back, what is no schedule."""

from collections.abc import Container
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.errors import Problem
from api.schedules.cron import check, due_after, newest_due, next_due

NOW = datetime(2026, 1, 15, 12, 0, 30, tzinfo=UTC)
BERLIN = "Europe/Berlin"  # forward on 2026-03-29 at 02:00, back on 2026-10-25 at 03:00


def shown(cron: str, timezone: str, after: datetime, number: int) -> list[str]:
    """Return due times as UTC texts."""
    return [due.strftime("%m-%d %H:%M") for due in islice(due_after(cron, timezone, after), number)]


def test_a_schedule_is_due_by_the_clock_of_its_timezone() -> None:
    winter, summer = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)
    assert shown("30 6 * * *", BERLIN, winter, 2) == ["01-01 05:30", "01-02 05:30"]
    assert shown("30 6 * * *", BERLIN, summer, 1) == ["07-01 04:30"]
    assert shown("30 6 * * *", "UTC", summer, 1) == ["07-01 06:30"]


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("30 2 * * *", ["03-28 01:30", "03-29 01:00", "03-30 00:30"]),  # 02:30 does not exist: at 03:00 summer time
        ("0,30 2 * * *", ["03-28 01:00", "03-28 01:30", "03-29 01:00", "03-30 00:00"]),  # both at the end of the gap
        ("30 3 * * *", ["03-28 02:30", "03-29 01:30", "03-30 01:30"]),
        ("30 * * * *", ["03-28 00:30", "03-28 01:30", "03-28 02:30"]),
    ],
)
def test_a_time_that_does_not_exist_is_due_at_the_end_of_the_gap(cron: str, expected: list[str]) -> None:
    assert shown(cron, BERLIN, datetime(2026, 3, 28, tzinfo=UTC), len(expected)) == expected


def test_an_hourly_schedule_has_no_gap_and_no_double_when_clocks_are_put_forward() -> None:
    after = datetime(2026, 3, 28, 23, 45, tzinfo=UTC)
    assert shown("30 * * * *", BERLIN, after, 3) == ["03-29 00:30", "03-29 01:30", "03-29 02:30"]


def test_a_time_that_comes_twice_is_due_once_and_by_the_hour_both_times() -> None:
    after = datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert shown("30 2 * * *", BERLIN, after, 2) == ["10-25 00:30", "10-26 01:30"]  # the first 02:30 only
    late = datetime(2026, 10, 24, 23, 45, tzinfo=UTC)
    assert shown("30 * * * *", BERLIN, late, 3) == ["10-25 00:30", "10-25 01:30", "10-25 02:30"]  # 02:30 twice, 03:30


def test_whoever_asks_between_the_two_times_is_not_told_of_one_that_is_over() -> None:
    between = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)  # 02:10 winter time: 02:30 summer time is over
    assert shown("30 2 * * *", BERLIN, between, 1) == ["10-26 01:30"]


CRONS = (
    "*/7 * * * *",
    "15 * * * *",
    "45 */2 * * *",
    "* 1 * * *",
    "30 2 * * *",
    "0,20,40 1-3 * * *",
    "5 0 * * 0",
    "0 12 1 * *",
    "0 0 * * *",
)
ZONES = (BERLIN, "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "America/Santiago", "Asia/Kolkata", "UTC")


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(CRONS),
    st.sampled_from(ZONES),
    st.integers(0, 366 * 24 * 60),
    st.integers(0, 3 * 24 * 3600),
)
def test_due_times_are_in_order_and_do_not_depend_on_when_one_asks(
    cron: str, zone: str, minutes: int, seconds: int
) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    later = start + timedelta(seconds=seconds)
    until = later + timedelta(days=2)

    def from_then(at: datetime) -> list[datetime]:
        return list(takewhile(lambda due: due <= until, due_after(cron, zone, at)))

    whole = from_then(start)
    assert all(sooner < after for sooner, after in pairwise(whole))
    assert from_then(later) == [due for due in whole if due > later]
    if whole:
        assert newest_due(cron, zone, whole[0], until, 5) == whole[-5:]


LORD_HOWE = "Australia/Lord_Howe"  # by half an hour: back on 2026-04-05 at 02:00, forward on 2026-10-04 at 02:00
TROLL = "Antarctica/Troll"  # by two hours: forward on 2026-03-29 at 01:00, back on 2026-10-25 at 03:00
PUT = {
    LORD_HOWE: (datetime(2026, 4, 4, 15, tzinfo=UTC), datetime(2026, 10, 3, 15, 30, tzinfo=UTC)),
    TROLL: (datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)),
    BERLIN: (datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)),
    "America/Santiago": (datetime(2026, 4, 5, 3, tzinfo=UTC), datetime(2026, 9, 6, 4, tzinfo=UTC)),  # at midnight
    "Africa/Casablanca": (datetime(2026, 2, 15, 2, tzinfo=UTC), datetime(2026, 3, 22, 2, tzinfo=UTC)),  # a month
}


@pytest.mark.parametrize("timezone", PUT)
@pytest.mark.parametrize(
    ("cron", "minutes", "hours"),
    [
        ("45 * * * *", {45}, range(24)),
        ("15 */1 * * *", {15}, range(24)),
        ("0 */6 * * *", {0}, range(0, 24, 6)),
        ("* 2 * * *", range(60), {2}),
        ("*/25 1-3 * * *", {0, 25, 50}, {1, 2, 3}),
    ],
)
def test_an_interval_is_due_whenever_the_clock_on_the_wall_shows_it(
    timezone: str, cron: str, minutes: Container[int], hours: Container[int]
) -> None:
    for put in PUT[timezone]:
        begin = put - timedelta(hours=9)
        every = (begin + timedelta(minutes=number) for number in range(1, 18 * 60 + 1))
        walls = {at: at.astimezone(ZoneInfo(timezone)) for at in every}
        expected = [at for at, wall in walls.items() if wall.minute in minutes and wall.hour in hours]
        assert list(islice(due_after(cron, timezone, begin), len(expected))) == expected
        half_way = put + timedelta(minutes=20)  # where the hour comes twice
        later = [at for at in expected if at > half_way]
        assert list(islice(due_after(cron, timezone, half_way), len(later))) == later


@pytest.mark.parametrize(
    ("cron", "forward", "back"),
    [
        ("15 2 * * *", "10-03 15:30", "04-04 15:45"),  # at 02:30 for 02:15; 02:15 comes once
        ("45 1 * * *", "10-03 15:15", "04-04 14:45"),  # 01:45 comes twice: the first time
        ("0 2 * * *", "10-03 15:30", "04-04 15:30"),
    ],
)
def test_a_time_of_the_day_is_due_once_where_clocks_are_put_by_half_an_hour(cron: str, forward: str, back: str) -> None:
    assert shown(cron, LORD_HOWE, datetime(2026, 10, 3, 14, 40, tzinfo=UTC), 1) == [forward]
    found = shown(cron, LORD_HOWE, datetime(2026, 4, 4, 14, 10, tzinfo=UTC), 2)
    assert (found[0], found[1][:5]) == (back, "04-05")


def test_what_is_due_on_one_day_of_the_year_comes_twice_where_its_hour_does() -> None:
    found = shown("*/30 2 25 10 *", BERLIN, datetime(2026, 1, 1, tzinfo=UTC), 5)
    assert found == ["10-25 00:00", "10-25 00:30", "10-25 01:00", "10-25 01:30", "10-25 00:00"]


def test_of_a_long_time_only_the_newest_due_times_are_looked_for() -> None:
    first = datetime(2020, 1, 1, tzinfo=UTC)
    found = newest_due("* * * * *", "UTC", first, NOW, 1000)
    assert (len(found), found[-1]) == (1000, NOW.replace(second=0))
    assert newest_due("0 0 1 1 *", "UTC", first, NOW, 1000) == [
        datetime(year, 1, 1, tzinfo=UTC) for year in range(2020, 2027)
    ]


def test_the_due_time_that_is_waited_for_counts_also_where_the_rules_of_its_timezone_were_changed() -> None:
    awaited = NOW - timedelta(minutes=7)
    assert newest_due("0 0 1 1 *", "UTC", awaited, NOW, 10) == [awaited]


@pytest.mark.parametrize(
    ("cron", "timezone", "field", "said"),
    [
        ("61 * * * *", "UTC", "cron", "bad minute"),
        ("* * * *", "UTC", "cron", "five fields"),
        ("@daily", "UTC", "cron", "five fields"),
        ("", "UTC", "cron", "five fields"),
        ("0 0 31 2 *", "UTC", "cron", "day-of-month"),
        ("0 0 30 2 *", "UTC", "cron", "whether any of the months has that day"),
        ("0 0 31 4,6 *", "UTC", "cron", "whether any of the months has that day"),
        ("0\n0 1 * *", "UTC", "cron", "of ASCII"),
        ("0 0 1 *\xa0*", "UTC", "cron", "of ASCII"),
        ("* * */20 * 1L", "UTC", "cron", "no time within 50 years"),
        ("*/2 * * * *", "Mars/Olympus", "timezone", "IANA"),
        ("*/2 * * * *", "../../etc/passwd", "timezone", "IANA"),
        ("*/2 * * * *", "localtime", "timezone", "IANA"),  # of the host: it differs from one to the next
        ("*/2 * * * *", "", "timezone", "IANA"),
        ("* * * * *", "UTC", "cron", "due again after 60 s: at least 120 s"),
        ("0,1 0 1 1 *", "UTC", "cron", "due again after 60 s"),
        ("*/5 * * * * *", "UTC", "cron", "due again after 5 s"),
        (f"{','.join(['1'] * 200)} * * * *", "UTC", "cron", "200 characters"),
    ],
)
def test_what_is_no_schedule_is_refused_with_the_field_at_fault(
    cron: str, timezone: str, field: str, said: str
) -> None:
    with pytest.raises(Problem) as caught:
        check(cron, timezone, NOW, 120)
    assert caught.value.body["field"] == field
    assert said in caught.value.body["message"]


@pytest.mark.parametrize("cron", ["*/2 * * * *", "0 6 * * MON-FRI", "0 0 L * *", "0 0 29 2 *", "30 0 6 * * *"])
def test_a_good_schedule_passes_and_is_due(cron: str) -> None:
    check(cron, BERLIN, NOW, 120)
    assert next_due(cron, BERLIN, NOW) is not None


@settings(max_examples=150, deadline=None)
@given(st.text("0123456789*/-,#LW MONTUE@", max_size=40))
def test_any_text_is_a_schedule_or_a_problem(cron: str) -> None:
    with suppress(Problem):
        check(cron, "UTC", NOW, 1)
