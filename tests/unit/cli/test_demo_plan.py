"""Which pages a demo asks for."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.cli.demo import FEWEST_JOBS
from services.cli.demo_kinds import JOBS, PAGE_KINDS
from services.cli.demo_plan import jobs_by_kind, lots

ORGS = ("demo-a", "demo-b", "demo-c")


def test_three_hundred_jobs_are_split_as_the_table_of_kinds_says() -> None:
    assert jobs_by_kind(JOBS) == {kind: kind.jobs for kind in PAGE_KINDS}


@given(st.integers(len(PAGE_KINDS), 500))
def test_every_number_of_jobs_shows_every_kind_and_asks_for_each_page_once(jobs: int) -> None:
    paths = [path for lot in lots(jobs, ORGS) for path in lot.paths]
    assert len(paths) == len(set(paths)) == jobs
    assert {path.split("/")[1] for path in paths} == {kind.name for kind in PAGE_KINDS}


@given(st.integers(len(PAGE_KINDS), 500))
def test_orgs_get_as_many_jobs_as_each_other(jobs: int) -> None:
    shares = Counter({org: sum(len(lot.paths) for lot in lots(jobs, ORGS) if lot.org_id == org) for org in ORGS})
    assert max(shares.values()) - min(shares.values()) <= 1


def test_the_command_takes_as_few_jobs_as_there_are_kinds() -> None:
    assert len(PAGE_KINDS) == FEWEST_JOBS


def test_too_few_jobs_to_show_every_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="too few"):
        jobs_by_kind(len(PAGE_KINDS) - 1)
