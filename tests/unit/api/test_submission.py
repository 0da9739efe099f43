"""Splitting a request into commands."""

from hypothesis import given
from hypothesis import strategies as st

from api import requests, submission
from services.ledger.commands import NewJob


def _jobs(sizes: list[int]) -> list[NewJob]:
    return [NewJob(job_id=str(number), private=b"x" * size) for number, size in enumerate(sizes)]


MANY_SMALL = st.integers(1, 1600).map(lambda count: [10] * count)
FEW_LARGE = st.lists(st.integers(0, submission.BYTES_PER_JOB), min_size=1, max_size=60)


@given(MANY_SMALL | FEW_LARGE)
def test_parts_keep_every_job_in_order_and_stay_within_their_bounds(sizes: list[int]) -> None:
    jobs = _jobs(sizes)
    parts = list(submission.parts(jobs, b"d" * 16))
    assert [job for part in parts for job in part.jobs] == jobs
    for part in parts:
        assert 1 <= len(part.jobs) <= submission.JOBS_PER_COMMAND
        assert sum(len(job.private) for job in part.jobs) <= submission.BYTES_PER_COMMAND
    assert len({part.idempotency_digest for part in parts}) == len(parts)


@given(MANY_SMALL | FEW_LARGE)
def test_a_repeat_splits_the_same_way_with_the_same_digests(sizes: list[int]) -> None:
    first, second = (list(submission.parts(_jobs(sizes), b"d" * 16)) for _ in range(2))
    assert first == second


def test_the_first_part_has_the_callers_own_digest() -> None:
    digest = submission.key_digest("acme", "order-1")
    for count in (1, 501):
        assert next(submission.parts(_jobs([1] * count), digest)).idempotency_digest == digest


def test_digests_are_16_bytes_and_differ_by_org_and_by_body() -> None:
    assert len(submission.key_digest("acme", "k")) == 16
    assert submission.key_digest("acme", "k") != submission.key_digest("rival", "k")
    one, other = requests.SubmitJobs(url="https://a.example"), requests.SubmitJobs(urls=("https://a.example",))
    assert len(submission.request_digest(one)) == 16
    assert submission.request_digest(one) != submission.request_digest(other)
