"""Scenarios 1 to 21 and 25 where they are about the rules of the ledger: claims, leases, crashes.

Those that are about processes are in `test_claim_rebalance_crash_on_kafka.py`.
"""

from schemas.events import JobClaimed, JobDispatched, JobFailed, NodeFinished, ReportRefused
from services.decider.leases import LeaseClock
from services.ledger.apply import apply
from services.ledger.digest import digest_of_state
from services.ledger.policy import SECOND, Policy
from services.ledger.record import digest_of
from services.ledger.replies import Granted, Refused
from services.ledger.reports import HandedBack, RetryLater
from services.ledger.state import Ledger
from services.ledger.status import Status
from tests.unit.ledger.world import EXTRACTED, PlainEncoder, World, ack, failed_node, names, node

POLICY = Policy()
LOOK = POLICY.heartbeat // 4


def told(world: World) -> object:
    """The reply to the newest command."""
    return world.reply


def events_of(world: World, job_id: str, *types: type) -> list[object]:
    """The events of a job of some types."""
    return [each.event for each in world.seen if each.event.job_id == job_id and isinstance(each.event, types)]


def running(boot: str = "boot-1", cap: int = 5, policy: Policy = POLICY) -> World:
    """A job that a worker runs."""
    world = World(policy).org(cap=cap)
    world.submit()
    world.claim(boot=boot)
    return world


def test_01_a_retry_that_waits_three_leases_is_claimed_once_when_it_is_due() -> None:
    world = running()
    delay = 3 * POLICY.lease
    world.report(RetryLater(node_id="n0", try_number=2, delay_ms=delay // 1000, error_type="http_503"), failed_node(0))
    for _ in range(delay // POLICY.heartbeat - 1):
        world.now += POLICY.heartbeat
        world.announce()
        assert "JobDispatched" not in names(world.after(0))
    assert names(world.after(POLICY.heartbeat / SECOND)) == ["JobDispatched"]
    for boot in ("boot-1", "boot-2", "boot-3", "boot-4"):
        world.claim(boot=boot)
    world.after(10 * POLICY.lease / SECOND)
    claims = events_of(world, "j1", JobClaimed)
    assert [(each.attempt, each.boot_id) for each in claims if isinstance(each, JobClaimed)] == [
        (1, "boot-1"),
        (2, "boot-1"),
    ]


def test_02_tasks_that_a_blocked_worker_holds_unstarted_are_sent_again_and_run_once() -> None:
    world = World().org(cap=10)
    jobs = [f"j{number}" for number in range(10)]
    world.submit(*jobs)
    world.announce("blocked", slots=10)
    world.claim("j0", boot="blocked")
    world.now += POLICY.dispatch_resend + SECOND
    again = world.after(0)
    assert sorted(each.job_id for each in again if isinstance(each, JobDispatched)) == jobs[1:]
    assert all(each.dispatch == 2 for each in again if isinstance(each, JobDispatched))
    assert world.after(0) == []  # once for each wait
    for job_id in jobs[1:]:
        world.claim(job_id, boot="free")
        assert isinstance(told(world), Granted)
        assert world.claim(job_id, boot="blocked") == []  # the first copy, when its slot is free at last
        assert isinstance(told(world), Refused)
        world.report(EXTRACTED, node(0), job_id=job_id, boot="free")
    assert world.job("j0").attempt == 1
    assert all(len(events_of(world, job_id, JobClaimed)) == 1 for job_id in jobs)
    assert world.ledger.orgs["acme"].in_flight == 1


def test_10_the_report_of_a_worker_that_was_frozen_is_refused_and_recorded_and_changes_nothing() -> None:
    world = running("frozen")
    world.lose("frozen")
    world.claim(boot="other")
    world.report(EXTRACTED, node(0), boot="other", attempt=2)
    world.settle(ack())
    before = world.job()
    for report in (EXTRACTED, None, HandedBack()):
        [refused] = world.report(report, node(0), boot="frozen", attempt=1)
        assert isinstance(refused, ReportRefused)
        assert (refused.reason, refused.claimed_attempt, refused.attempt) == ("stale_attempt", 1, 2)
    assert (world.status(), world.job().extracted) == (Status.COMPLETED, before.extracted)
    assert world.types().count("JobExtracted") == 1


def test_11_a_job_of_ten_leases_is_never_taken_from_a_worker_that_lives() -> None:
    world, clock = running(), LeaseClock(POLICY, 0)
    for step in range(10 * POLICY.lease // LOOK):
        world.now += LOOK
        if step % 4 == 0:
            world.announce("boot-1", 8, "j1")
            clock.heard("boot-1")
        clock.advance(step * LOOK)
        world.decider.lost_workers(clock.silent(world.ledger.workers), world.now)
        assert world.after(0) == []
    assert (world.status(), world.job().attempt) == (Status.RUNNING, 1)


def test_13_a_worker_lost_in_the_last_attempt_ends_the_job_within_a_lease_and_a_look() -> None:
    world = running("first", policy=Policy(max_losses=2))
    world.lose("first")
    world.claim(boot="last")
    clock = LeaseClock(POLICY, world.now)
    clock.heard("last")
    began = world.now
    while not clock.silent(["last"]):
        world.now += LOOK
        clock.advance(world.now)
    [failed, *_] = world.lose("last")
    assert isinstance(failed, JobFailed)
    assert failed.error_type == "worker_lost"
    assert world.now - began <= POLICY.lease + LOOK
    assert world.after(3600) == []


def test_15_progress_does_not_end_the_watch_on_a_worker() -> None:
    world = running()
    world.report(None, node(0))
    assert "boot-1" in world.ledger.workers
    assert names(world.lose("boot-1")) == ["JobReleased", "WorkerLost", "JobDispatched"]
    world.claim(boot="boot-2")
    assert world.job().resume.step == 1  # the finished node is not done again


def test_21_twenty_jobs_in_mixed_states_are_the_same_after_a_restart() -> None:
    world = World().org(cap=20)
    world.announce(slots=20)
    for number in range(20):
        job_id = f"j{number}"
        world.submit(job_id)
        if number % 5 == 0:
            continue
        world.claim(job_id)
        if number % 5 == 1:
            world.report(EXTRACTED, node(0), job_id=job_id)
        if number % 5 == 2:
            world.report(RetryLater(node_id="n0", try_number=2, delay_ms=9000), failed_node(0), job_id=job_id)
        if number % 5 == 3:
            world.cancel(job_id)
    again = Ledger(0, world.policy)
    for recorded in world.seen:
        apply(again, recorded, digest_of(PlainEncoder().encode(recorded)))
    assert len(again.jobs) == 20
    assert again.jobs == world.ledger.jobs  # with all their times
    assert digest_of_state(again) == digest_of_state(world.ledger)  # and queues, slots, waits and owners with them
    assert {job.status for job in again.jobs.values()} == {
        Status.PENDING,
        Status.EXTRACTION_DONE,
        Status.WAITING_RETRY,
        Status.CANCELLED,
        Status.RUNNING,
    }


def test_25_a_crash_frees_the_slot_of_its_org() -> None:
    world = running("crashed", cap=1)
    assert names(world.submit("j2")) == ["JobSubmitted"]
    world.lose("crashed")
    assert [job.job_id for job in world.ledger.jobs.values() if job.holds_slot] == ["j1"]
    world.claim("j1", boot="other")
    assert world.report(EXTRACTED, node(0), boot="other", attempt=2)[-1].job_id == "j2"
    assert world.job("j2").task_out
    assert world.ledger.orgs["acme"].in_flight == sum(job.holds_slot for job in world.ledger.jobs.values()) == 1


def test_a_worker_that_stops_hands_back_what_it_ran_and_that_costs_the_job_no_loss() -> None:
    world = running("stopping")
    events = world.announce("stopping", 8, stopping=True)
    assert names(events) == ["JobReleased", "WorkerLost", "JobDispatched"]
    assert world.job().run.losses == 0


def test_what_a_worker_says_of_durations_never_makes_a_time_that_is_not_so() -> None:
    """Its clock may be off: it says how long, never when; and no visit began before its claim."""
    world = running()
    world.now += 2 * SECOND
    world.report(None, node(0, latency_ms=600_000), node(1, latency_ms=-600_000))
    visits = [each for each in events_of(world, "j1", NodeFinished) if isinstance(each, NodeFinished)]
    for visit in visits:
        assert world.job().claimed_at <= visit.started_at <= visit.ended_at == world.now
        assert visit.latency_ms >= 0
