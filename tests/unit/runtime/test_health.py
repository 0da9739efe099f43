"""Readiness follows progress: red within ten seconds of a standstill, green with the next beat."""

import aiohttp
import pytest

from services.runtime.health import Health, Progress
from services.runtime.health_server import serve
from services.runtime.settings import Settings

SETTINGS = Settings(kafka="", postgres="", registry="", blobs="", operator_key="very-secret")


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def progress(clock: Clock) -> Progress:
    return Progress("loop", clock)


def test_a_loop_is_red_before_its_first_beat(progress: Progress) -> None:
    assert progress.state() == {"ready": False, "reason": "not started yet"}


def test_a_loop_that_stands_still_turns_red_within_ten_seconds_and_green_with_the_next_beat(
    progress: Progress, clock: Clock
) -> None:
    progress.beat()
    clock.now = 7.0
    assert progress.state()["ready"]
    clock.now = 9.9
    assert progress.state() == {"ready": False, "reason": "no progress for 10 s"}
    progress.beat()
    assert progress.state()["ready"]


def test_a_stalled_loop_is_red_at_once_and_says_why_until_it_beats(progress: Progress) -> None:
    progress.beat()
    progress.stalled("Postgres is away")
    assert progress.state() == {"ready": False, "reason": "Postgres is away"}
    progress.beat()
    assert progress.state() == {"ready": True}


def test_the_figures_of_a_beat_stay_until_they_change(progress: Progress) -> None:
    progress.beat(position=7, lag=2)
    progress.beat(lag=0)
    progress.beat()
    assert progress.state() == {"ready": True, "position": 7, "lag": 0}


def test_a_process_is_ready_when_each_of_its_parts_is(clock: Clock) -> None:
    health = Health("decider", clock)
    assert not health.report()["ready"], "no parts: nothing has shown that it works"
    first, second = health.part("first"), health.part("second")
    first.beat()
    assert not health.report()["ready"]
    second.beat(position=3)
    assert health.report() == {
        "ready": True,
        "service": "decider",
        "parts": {"first": {"ready": True}, "second": {"ready": True, "position": 3}},
    }
    assert health.part("first") is first


def test_parts_that_are_asked_for_decide_alone(clock: Clock) -> None:
    health = Health("api", clock)
    health.part("postgres").beat()
    health.part("decider").stalled("silent")
    assert not health.report()["ready"]
    assert health.report(["postgres"])["ready"]
    assert health.report(["postgres"])["parts"]["decider"] == {"ready": False, "reason": "silent"}
    assert not health.report(["postgres", "decider"])["ready"]
    assert not health.report(["postgres", "none"])["ready"], "who asks for what is not there has it wrong"


async def test_the_server_answers_health_ready_and_metrics() -> None:
    health = Health("decider")
    server = await serve(SETTINGS, health)
    base = f"http://127.0.0.1:{server.port}"
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{base}/ready") as answer:
            assert answer.status == 503
        async with session.get(f"{base}/health") as answer:
            assert (answer.status, await answer.json()) == (200, {"service": "decider", "alive": True})
        health.part("p0").beat(position=12)
        async with session.get(f"{base}/ready") as answer:
            body = await answer.json()
            assert (answer.status, body["parts"]["p0"]) == (200, {"ready": True, "position": 12})
        health.part("p1").stalled("waits")
        for asked, status in (("", 503), ("?part=p0", 200), ("?part=p0&part=p1", 503)):
            async with session.get(f"{base}/ready{asked}") as answer:
                assert answer.status == status
        async with session.get(f"{base}/metrics") as answer:
            assert answer.content_type == "text/plain"
            assert 'jobledger_process_ready{part="p0"} 1.0' in await answer.text()
    await server.close()
