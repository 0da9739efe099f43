"""How many calls a key and an org may make."""

from dataclasses import replace

import pytest

from api import buckets
from api.auth import Caller
from api.errors import Problem
from api.limits import Limiter

ACME, OTHER_KEY = Caller("api:1", "acme"), Caller("api:2", "acme")
RIVAL = Caller("api:3", "rival")
RATE = 10


class Clock:
    """Time, as the test says."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def taken(limiter: Limiter, caller: Caller, calls: int = 1000) -> int:
    """Call until refused; return how many calls were taken."""
    for number in range(calls):
        try:
            limiter.take(caller)
        except Problem as problem:
            return number if (problem.code, problem.status) == ("rate_limited", 429) else -1
    return calls


def test_a_key_has_a_burst_then_its_rate_and_an_org_twice_as_many_with_all_keys() -> None:
    clock = Clock()
    limiter = Limiter(RATE, clock)
    assert taken(limiter, ACME) == 2 * RATE
    assert taken(limiter, OTHER_KEY) == 2 * RATE
    assert taken(limiter, Caller("api:4", "acme")) == 0, "the org has none left, however many keys it makes"
    assert taken(limiter, RIVAL) == 2 * RATE, "another org is not touched"
    clock.now = 1.0
    assert taken(limiter, ACME) == RATE
    clock.now = 100.0
    assert taken(limiter, ACME) == 2 * RATE, "no more than a burst is ever saved up"


def test_a_refusal_says_when_to_come_back_and_every_answer_what_is_left() -> None:
    clock = Clock()
    limiter = Limiter(0.5, clock)
    headers = limiter.take(ACME)
    assert headers == {
        "RateLimit-Policy": '"key";q=1;w=2, "org";q=2;w=2',
        "RateLimit": '"key";r=0;t=2, "org";r=1;t=1',
    }
    with pytest.raises(Problem) as caught:
        limiter.take(ACME)
    assert caught.value.headers["Retry-After"] == "2"
    assert caught.value.headers["RateLimit"].startswith('"key";r=0;t=2')
    clock.now = 2.0
    limiter.take(ACME)


def test_a_rate_of_the_org_goes_before_that_of_the_api_and_the_operator_is_not_counted() -> None:
    limiter = Limiter(RATE, Clock())
    assert taken(limiter, replace(ACME, calls_per_second=3.0)) == 6
    assert taken(limiter, replace(RIVAL, calls_per_second=0.0)) == 1000
    assert taken(limiter, Caller("operator", "")) == 1000
    assert taken(Limiter(0, Clock()), ACME) == 1000


def test_memory_stays_bounded_and_nobody_gains_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "MAX_BUCKETS", 10)
    clock = Clock()
    limiter = Limiter(RATE, clock)
    for number in range(100):
        clock.now = number * buckets.BURST_SECONDS
        limiter.take(Caller(f"api:{number}", f"org-{number}"))
        assert len(limiter._buckets) <= 11
    assert taken(limiter, ACME) == 2 * RATE
    for number in range(20):
        limiter.take(Caller(f"api:x{number}", f"org-x{number}"))
    assert taken(limiter, ACME) == 0


def test_however_small_a_rate_is_a_caller_is_told_when_to_come_back() -> None:
    for rate in (5e-324, 1e-300, 1e-9):
        limiter = Limiter(rate, Clock())
        assert limiter.take(ACME)["RateLimit-Policy"] == '"key";q=1;w=2, "org";q=1;w=2'
        with pytest.raises(Problem) as refused:
            limiter.take(ACME)
        assert int(refused.value.headers["Retry-After"]) == buckets.LONGEST_SECONDS
