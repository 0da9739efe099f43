"""Which due times are fired, by the policy for missed ones."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.schedules.plan import Due, Missed, plan
from schemas.values import FireKind

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
GRACE = timedelta(seconds=60)


def ago(*minutes: float) -> list[datetime]:
    """Return instants so many minutes before now."""
    return [NOW - timedelta(minutes=each) for each in minutes]


def test_a_due_time_within_the_grace_is_fired_by_the_clock() -> None:
    policies: tuple[Missed, ...] = ("skip", "once", "all")
    for missed in policies:
        assert plan(ago(1), NOW, missed, GRACE, 10) == [Due(ago(1)[0], FireKind.CRON)]


def test_skip_records_what_was_missed_and_fires_none_of_it() -> None:
    skipped, timely = plan(ago(30, 20, 10, 0), NOW, "skip", GRACE, 10)
    assert skipped == Due(ago(10)[0], FireKind.MISSED, tuple(ago(30, 20)), skipped=True)
    assert timely == Due(NOW, FireKind.CRON)


def test_once_makes_up_with_one_fire_for_the_newest() -> None:
    assert plan(ago(30, 20, 10), NOW, "once", GRACE, 10) == [Due(ago(10)[0], FireKind.MISSED, tuple(ago(30, 20)))]


def test_all_makes_up_for_each_up_to_its_bound_and_skips_those_before() -> None:
    planned = plan(ago(50, 40, 30, 20, 10), NOW, "all", GRACE, 3)
    assert planned == [
        Due(ago(40)[0], FireKind.MISSED, tuple(ago(50)), skipped=True),
        *(Due(at, FireKind.MISSED) for at in ago(30, 20, 10)),
    ]


def test_nothing_due_leads_to_nothing() -> None:
    assert plan([], NOW, "all", GRACE, 10) == []


@pytest.mark.parametrize("missed", ["skip", "once", "all"])
@given(st.lists(st.integers(0, 5000), unique=True, max_size=60), st.integers(1, 20))
def test_every_due_time_is_accounted_for_once_and_in_order(missed: Missed, minutes: list[int], most: int) -> None:
    due = ago(*sorted(minutes, reverse=True))
    planned = plan(due, NOW, missed, GRACE, most)
    assert sum(each.due_times for each in planned) == len(due)
    assert [at for each in planned for at in (*each.before, each.due_at)] == due
    assert [each.due_at for each in planned] == sorted({each.due_at for each in planned})
    fired = [each for each in planned if not each.skipped and each.how is FireKind.MISSED]
    late = [at for at in due if NOW - at > GRACE]
    assert len(fired) == {"skip": 0, "once": min(len(late), 1), "all": min(len(late), most)}[missed]
    assert {each.due_at for each in planned if each.how is FireKind.CRON} == set(due) - set(late)
