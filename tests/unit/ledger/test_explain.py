"""Why a job stands where it stands: each reason, and what tells it from the others."""

import msgspec
import pytest

from schemas.events import JobSubmitted
from services.ledger.apply import apply
from services.ledger.commands import DeleteJob, ExplainJob
from services.ledger.explain import explain
from services.ledger.policy import SECOND, Policy
from services.ledger.replies import Explained, Reason, Refused
from services.ledger.reports import DeliveryResult, RetryLater
from services.ledger.state import NO_HASH, Ledger
from tests.unit.ledger.world import POSTGRES, START, World


def explained(world: World, job_id: str = "j1", org_id: str = "acme") -> Explained:
    """Ask, and see that nothing follows from it."""
    position = world.ledger.position
    assert world.when(ExplainJob(command_id="e", org_id=org_id, job_id=job_id)) == []
    assert world.ledger.position == position
    assert isinstance(world.reply, Explained)
    return world.reply


def ack(world: World, destination_id: str) -> None:
    """Let a destination acknowledge the first job."""
    world.settle(DeliveryResult(org_id="acme", job_id="j1", destination_id=destination_id, generation=1, rows=1))


def manned(world: World) -> World:
    """Give a partition a worker."""
    world.announce(slots=1)
    return world


def test_a_job_over_the_cap_names_the_jobs_that_hold_the_slots_and_its_place() -> None:
    world = World().org(cap=2)
    world.announce(slots=2)
    world.submit("j1", "j2", "j3", "j4", "j5")
    world.claim("j1")
    why = explained(world, "j5")
    assert (why.reason, why.in_flight, why.max_in_flight, why.holders) == (Reason.CAP, 2, 2, ("j1", "j2"))
    assert (why.ahead, explained(world, "j3").ahead) == (2, 0)


def test_a_higher_priority_and_a_due_retry_are_ahead() -> None:
    world = manned(World().org(cap=1))
    world.submit("j1", "j2")
    world.submit("j3", priority=5)
    assert [explained(world, job_id).ahead for job_id in ("j3", "j2")] == [0, 1]
    world.claim("j1")
    world.report(RetryLater(node_id="fetch", try_number=2, delay_ms=1000))
    world.after(2)
    assert explained(world, "j2").ahead == 1, "j3 has the slot, the due retry is next"


def test_a_due_retry_for_which_its_org_has_no_slot_waits_on_for_the_cap() -> None:
    world = manned(World().org(cap=1))
    world.submit("j1", "j2")
    world.claim("j1")
    world.report(RetryLater(node_id="fetch", try_number=2, delay_ms=1000))
    assert explained(world).reason is Reason.BACKOFF
    world.after(11)
    manned(world)  # any event tells the ledger the time
    why = explained(world)
    assert (why.status, why.reason, why.holders, why.ahead) == ("waiting_retry", Reason.CAP, ("j2",), 0)


def test_without_workers_of_its_kind_a_job_says_so_whether_dispatched_or_not() -> None:
    world = World(policy=Policy(min_window=1)).org(cap=5)
    world.submit("j1", "j2")
    assert [explained(world, job_id).reason for job_id in ("j1", "j2")] == [Reason.NO_WORKERS] * 2


def test_a_full_fleet_is_told_from_a_dispatched_task() -> None:
    world = manned(World(policy=Policy(min_window=1)).org(cap=5))
    world.submit("j1", "j2")
    assert explained(world, "j1").reason == Reason.CLAIM
    why = explained(world, "j2")
    assert (why.reason, why.unclaimed, why.window, why.workers) == (Reason.FLEET_FULL, 1, 1, 1)


def test_between_its_submission_and_its_dispatch_a_job_waits_for_its_turn() -> None:
    world = manned(World().org())
    world.submit("j1")
    then = Ledger(0, world.policy)  # as it may be asked of a past position
    for recorded in world.seen:
        apply(then, recorded, NO_HASH)
        if isinstance(recorded.event, JobSubmitted):
            break
    assert explain(then, then.jobs["j1"]).reason is Reason.TURN


def test_a_running_job_names_its_worker_and_a_deferred_one_its_date() -> None:
    world = manned(World().org())
    world.submit("j1")
    world.claim("j1", boot="boot-1")
    why = explained(world)
    assert (why.reason, why.worker_id, why.attempt, why.since) == (Reason.WORKER, "w", 1, START)
    world.report(RetryLater(node_id="fetch", try_number=2, delay_ms=60_000))
    why = explained(world)
    assert (why.reason, why.until, why.node_id) == (Reason.BACKOFF, START + 60 * SECOND, why.node_id)
    world.after(61)
    assert explained(world).reason == Reason.CLAIM, "due and dispatched again"


def test_a_job_that_waits_for_acks_names_the_destinations_and_their_deadlines() -> None:
    other = type(POSTGRES)(destination_id="lake", kind="clickhouse")
    world = World().extracted(destinations=(POSTGRES, other))
    ack(world, "lake")
    why = explained(world)
    assert why.reason == Reason.ACKS
    [awaited] = why.awaited
    assert (awaited.destination_id, awaited.state, awaited.try_number) == ("internal-postgres", "requested", 1)
    assert awaited.deadline_at > START
    ack(world, "internal-postgres")
    assert explained(world).reason == Reason.ENDED


def test_a_job_of_another_org_is_unknown() -> None:
    world = World().org().org("rival")
    world.submit("j1")
    world.when(ExplainJob(command_id="e", org_id="rival", job_id="j1"))
    assert world.reply == Refused(code="unknown_job")


def test_a_deleted_job_is_unknown_to_its_own_org_too() -> None:
    world = World().org()
    world.submit("j1")
    world.when(DeleteJob(command_id="d", org_id="acme", job_id="j1"))
    world.when(ExplainJob(command_id="e", org_id="acme", job_id="j1"))
    assert world.reply == Refused(code="unknown_job")


def test_a_full_cap_is_understood_from_a_decider_that_is_not_upgraded_yet() -> None:
    assert msgspec.msgpack.decode(msgspec.msgpack.encode("org_cap"), type=Reason) is Reason.CAP
    with pytest.raises(msgspec.ValidationError):
        msgspec.msgpack.decode(msgspec.msgpack.encode("org"), type=Reason)


class ExplainedBefore(msgspec.Struct, kw_only=True, array_like=True, tag="Explained"):
    """As a decider says it that knows nothing of time in the queue."""

    status: str
    reason: str
    since: int
    attempt: int
    until: int = 0
    node_id: str = ""
    worker_id: str = ""


def test_processes_of_before_and_after_an_upgrade_understand_each_other() -> None:
    said = {"status": "running", "since": 7, "attempt": 2, "node_id": "n", "worker_id": "w"}
    before, now = ExplainedBefore(reason="worker", **said), Explained(reason=Reason.WORKER, **said)  # type: ignore[arg-type]
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(before), type=Explained) == now
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(now), type=ExplainedBefore) == before
