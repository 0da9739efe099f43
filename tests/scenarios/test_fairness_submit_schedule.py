"""Fairness, submit, schedule: scenarios 23 to 30, on the real rules in simulated time, and over HTTP."""

import random

import pytest

from services.ledger.commands import RetryNow
from services.ledger.replies import Done, Refused
from services.ledger.reports import RetryLater
from tests.scenarios.fleet import Fleet
from tests.unit.ledger.world import EXTRACTED, World, names

QUEUED = 100_000
OTHERS = 1_000
SLACK_SECONDS = 1.0


def greedy(slots: int, run_seconds: float, queued: int = QUEUED) -> Fleet:
    """A fleet whose slots are all busy on the jobs of one org that may have them all, and has more in its queue."""
    fleet = Fleet(slots, run_seconds)
    fleet.world.org("a", cap=10 * slots)
    busy = [f"a-busy-{number}" for number in range(slots)]
    fleet.world.submit(*busy, org_id="a", destinations=())
    fleet.fill(*busy)
    for start in range(0, queued, 1000):
        fleet.world.submit(*(f"a-{start + number}" for number in range(min(1000, queued - start))), org_id="a")
    return fleet


def crowd(fleet: Fleet, jobs_each: int, orgs: int = OTHERS) -> None:
    """Let other orgs come, each with jobs that could start at once."""
    for number in range(orgs):
        fleet.world.org(f"o{number}")
        fleet.world.submit(*(f"o{number}-{job}" for job in range(jobs_each)), org_id=f"o{number}", destinations=())


def waited(fleet: Fleet, job_id: str, submitted: float) -> float:
    """How long a job waited for its start, in seconds."""
    return fleet.started[job_id] - submitted


@pytest.mark.parametrize(("slots", "run_seconds"), [(5, 10.0), (20, 1.0), (100, 60.0)])
@pytest.mark.parametrize("jobs_each", [1, 20])
def test_23_one_job_starts_with_the_next_free_slot_although_a_thousand_orgs_could_go(
    slots: int, run_seconds: float, jobs_each: int
) -> None:
    """All slots are busy on A, 100,000 jobs of A are queued, 1,000 other orgs are dispatchable: B comes."""
    fleet = greedy(slots, run_seconds, QUEUED if (slots, jobs_each) == (5, 1) else 2_000)
    crowd(fleet, jobs_each)
    fleet.world.org("b")
    fleet.run(run_seconds / slots / 3)  # anywhere between two ends
    submitted = fleet.seconds
    fleet.world.submit("b-1", org_id="b", destinations=())
    fleet.run(run_seconds + 2)
    assert waited(fleet, "b-1", submitted) <= run_seconds / slots + SLACK_SECONDS


@pytest.mark.parametrize("jobs_each", [2, 20])
def test_23_one_job_is_not_overtaken_by_a_thousand_queues_that_come_after_it(jobs_each: int) -> None:
    slots, run_seconds = 5, 10.0
    fleet = greedy(slots, run_seconds, 2_000)
    fleet.world.org("b")
    fleet.world.submit("b-1", org_id="b", destinations=())
    crowd(fleet, jobs_each)
    fleet.run(run_seconds)
    assert waited(fleet, "b-1", 0.0) <= run_seconds / slots + SLACK_SECONDS


def test_23_of_a_thousand_orgs_with_one_job_each_the_first_to_come_waits_for_two_slots() -> None:
    """All of them cannot have the next free slot: it goes to the latest, and the one after that to the earliest."""
    slots, run_seconds = 5, 10.0
    fleet = greedy(slots, run_seconds, 2_000)
    fleet.world.org("b")
    fleet.world.submit("b-1", org_id="b", destinations=())
    crowd(fleet, 1)
    fleet.run(run_seconds)
    assert waited(fleet, "b-1", 0.0) <= 2 * run_seconds / slots + SLACK_SECONDS


@pytest.mark.parametrize("seed", range(5))
def test_23_every_org_starts_within_as_many_turns_as_there_are_orgs(seed: int) -> None:
    """Whatever others do, an org has a job started before anybody else has had three since it came."""
    chance = random.Random(seed)
    fleet = Fleet(4, 1.0, chance)
    orgs = [f"o{number}" for number in range(30)]
    for org_id in orgs:
        fleet.world.org(org_id, cap=chance.randint(1, 6))
    first: dict[str, float] = {}
    for step in range(150):
        org_id = chance.choice(orgs)
        if org_id not in first:
            first[org_id] = fleet.seconds
        count = chance.choice((1, 1, 2, 8))
        names = (f"{org_id}-{step}-{number}" for number in range(count))
        fleet.world.submit(*names, org_id=org_id, destinations=())
        fleet.run(chance.uniform(0.0, 0.3))
    fleet.run(30.0)
    for org_id, came in first.items():
        began = min(at for job_id, at in fleet.started.items() if job_id.startswith(f"{org_id}-"))
        for other in orgs:
            mine = [at for job, at in fleet.started.items() if job.startswith(f"{other}-") and came + 0.2 < at < began]
            assert other == org_id or len(mine) <= 3, (org_id, other)


def test_23_a_keeps_its_cap_while_it_shares() -> None:
    fleet = Fleet(5, 1.0)
    fleet.world.org("a", cap=4).org("b", cap=5)
    fleet.world.submit(*(f"a-{number}" for number in range(1000)), org_id="a", destinations=())
    fleet.run(0.5)
    fleet.world.submit("b-1", org_id="b", destinations=())
    for _ in range(100):
        fleet.run(0.1)
        assert fleet.world.ledger.orgs["a"].in_flight <= 4
    assert fleet.started["b-1"] <= 0.5 + 1.0 / 5 + SLACK_SECONDS
    assert len(fleet.started) > 30, "A goes on"


def test_24_an_org_that_spreads_over_200_workflows_and_priorities_has_one_turn_a_round_all_the_same() -> None:
    def wait(spread: bool) -> tuple[float, int]:
        fleet = greedy(5, 1.0, 100)
        for number in range(400):
            key = number % 200 if spread else 0
            fleet.world.submit(
                f"a-spread-{number}", org_id="a", workflow_id=f"w{key}", priority=key % 7, schedule_id=f"s{key}"
            )
        for org_id in ("b", "c"):
            fleet.world.org(org_id)
            fleet.world.submit(*(f"{org_id}-{number}" for number in range(20)), org_id=org_id, destinations=())
        fleet.run(4.0)
        began = min(at for job_id, at in fleet.started.items() if job_id.startswith("b-"))
        return began, sum(job_id.startswith(("b-", "c-")) for job_id in fleet.started)

    assert wait(spread=True) == wait(spread=False)


def test_25_a_slot_of_a_killed_worker_is_free_again_and_the_count_is_that_of_live_runs() -> None:
    world = World().org(cap=1)
    world.announce("boot-1", 1)
    world.submit("first", "second")
    world.claim("first")
    assert world.ledger.orgs["acme"].in_flight == 1
    world.lose("boot-1")  # its lease ran out
    assert world.job("first").task_out, "it comes back first"
    world.announce("boot-2", 1)
    world.claim("first", "boot-2")
    world.cancel("first")
    assert world.ledger.orgs["acme"].in_flight == 1
    world.claim("second", "boot-2")
    running = [job for job in world.ledger.jobs.values() if job.status == "running"]
    assert [job.job_id for job in running] == ["second"]
    assert world.ledger.orgs["acme"].in_flight == len(running) == world.ledger.running["workflow"]


# ---- 30 ----

AN_HOUR = 3_600_000
MOMENT = 0.005  # between the clicks, in seconds


@pytest.mark.parametrize("claimed", [False, True], ids=["still queued", "claimed meanwhile"])
def test_30_two_clicks_on_retry_now_start_one_attempt_and_a_click_in_the_next_wait_another(claimed: bool) -> None:
    """What a job of this vocabulary has of a resume: an attempt that a person asks for."""
    world = World().org(cap=1)
    world.submit()
    world.claim()
    later = RetryLater(node_id="fetch", try_number=2, delay_ms=AN_HOUR)
    world.report(later)

    def click(attempt: int) -> RetryNow:
        return RetryNow(command_id="click", org_id="acme", job_id="j1", attempt=attempt)

    assert names(world.when(click(1))) == ["RetryBroughtForward"]
    assert names(world.after(MOMENT / 2)) == ["JobDispatched"]
    if claimed:
        world.claim()
    world.after(MOMENT / 2)
    assert world.when(click(1)) == []
    assert isinstance(world.reply, Refused if claimed else Done)
    world.claim()
    assert world.types().count("JobClaimed") == 2, "one new attempt"
    world.report(later, attempt=2)
    assert names(world.when(click(2)) + world.after(MOMENT)) == ["RetryBroughtForward", "JobDispatched"], "the third"
    world.claim()
    world.report(EXTRACTED, attempt=3)
    assert world.when(click(3)) == []
    assert isinstance(world.reply, Refused), "behind the end"
