"""Scenario 45 by the rules of the ledger: the results of a job that ended long ago are purged, the job stays."""

from typing import Any

import msgspec

from schemas.events import DeliveryRequested, JobExpired
from schemas.values import Destination
from services.ledger.commands import ChangeOrgLimit, RedeliverJob, WaiveDelivery
from services.ledger.policy import SECOND, Policy
from services.ledger.replies import Done, Refused
from services.ledger.reports import DeliveryResult, Failed, HandedBack
from services.ledger.status import Status
from tests.scenarios.one_job import HOOK, ends, running, told
from tests.unit.ledger.world import EXTRACTED, POSTGRES, World, ack, names, node

LAKE = Destination(destination_id="lake", kind="clickhouse")
KEPT = 60  # seconds


def completed(*places: Destination, **policy: object) -> World:
    """A job that has just been completed, in a ledger that keeps results for a minute."""
    kept: dict[str, object] = {"retention": KEPT * SECOND, **policy}
    world = World(Policy(**kept)).extracted(destinations=(POSTGRES, *places))  # type: ignore[arg-type]
    world.settle(*(ack(destination=place.destination_id) for place in (POSTGRES, *places)))
    assert world.status() is Status.COMPLETED
    return world


def gone(name: str = "erasure", **fields: object) -> DeliveryResult:
    """The answer of a writer that took away what a store of ours held."""
    return msgspec.structs.replace(ack(destination=name), rows=0, **fields)


def test_45_results_past_retention_go_from_every_store_and_the_job_stays() -> None:
    world = completed(LAKE, HOOK)
    world.after(KEPT)
    events = world.expire()
    assert names(events) == ["JobExpired", "DeliveryRequested", "DeliveryRequested"]
    assert events[0] == JobExpired(
        org_id="acme", job_id="j1", attempt=1, ended_at=world.job().ending.at, retention_seconds=KEPT, items=1, rows=2
    )
    assert [(e.kind, e.erase) for e in events if isinstance(e, DeliveryRequested)] == [
        ("postgres", True),
        ("clickhouse", True),
    ]
    assert told(world) == Done()
    assert (world.status(), ends(world)) == (Status.COMPLETED, ["JobCompleted"])
    assert not world.job().settled
    world.settle(gone(), gone("erasure-clickhouse"))
    assert world.job().settled


def test_45_nothing_goes_before_its_time() -> None:
    world = completed()
    world.after(KEPT - 1)
    assert world.expire() == []
    assert told(world) == Refused(code="retained", message="its results are kept for longer")
    world.after(1)
    assert names(world.expire()) == ["JobExpired", "DeliveryRequested"]


def test_45_asked_again_nothing_goes_twice() -> None:
    world = completed()
    world.after(KEPT)
    world.expire()
    assert world.expire() == []
    assert told(world) == Done()
    world.settle(gone())
    assert world.expire() == []


def test_45_nothing_goes_where_results_are_kept_for_ever() -> None:
    world = completed(retention=0)
    world.after(10 * 366 * 86_400)
    assert world.expire() == []


def test_45_an_org_may_keep_its_results_for_another_time() -> None:
    world = completed(retention=0)
    world.when(ChangeOrgLimit(command_id="l", org_id="acme", retention_seconds=5))
    assert world.ledger.orgs["acme"].max_in_flight == 5
    world.after(5)
    [expired, _] = world.expire()
    assert isinstance(expired, JobExpired)
    assert expired.retention_seconds == 5


def test_45_nothing_goes_of_a_job_that_has_not_ended() -> None:
    world = World(Policy(retention=1)).extracted()
    world.after(3600)
    assert world.expire() == []
    assert told(world) == Refused(code="not_ended", message="the job is extraction_done")


def test_45_nothing_goes_while_something_of_the_job_is_delivered() -> None:
    """The writer would not find what it has to write."""
    world = completed()
    world.when(
        RedeliverJob(command_id="d", org_id="acme", job_id="j1", destination_id="internal-postgres", generation=2)
    )
    world.after(KEPT)
    assert world.expire() == []
    assert isinstance(world.reply, Refused)
    assert world.reply.code == "not_settled"
    world.settle(ack(generation=2))
    assert names(world.expire()) == ["JobExpired", "DeliveryRequested"]


def test_45_nothing_goes_while_a_worker_may_be_at_the_job() -> None:
    """It might leave a body behind."""
    world = running()
    world.ledger.policy = Policy(retention=SECOND)
    world.cancel()
    world.after(1)
    assert world.expire() == []
    world.report(HandedBack())
    assert names(world.expire()) == ["JobExpired", "DeliveryRequested"]


def test_45_a_worker_whose_job_timed_out_says_its_last_word_by_failing_too() -> None:
    world = running(max_run_seconds=10)
    world.ledger.policy = Policy(retention=SECOND)
    assert names(world.after(10)) == ["JobFailed"]
    world.after(1)
    assert world.expire() == []
    assert names(world.report(Failed(error_type="providers_exhausted"))) == ["ReportRefused"]
    assert world.report(Failed(error_type="providers_exhausted")) == [], "it came twice"
    assert names(world.expire()) == ["JobExpired", "DeliveryRequested"]


def test_45_nothing_that_comes_late_brings_results_back() -> None:
    world = completed(HOOK)
    world.after(KEPT)
    world.expire()
    world.settle(gone())
    redeliver: dict[str, Any] = {"org_id": "acme", "job_id": "j1", "destination_id": "internal-postgres"}
    past = Refused(code="results_expired", message="past retention: the results of the job were purged")
    assert world.when(RedeliverJob(command_id="d", generation=2, **redeliver)) == []
    assert told(world) == past
    assert world.when(WaiveDelivery(command_id="w", generation=1, **redeliver)) == []
    assert told(world) == past
    assert names(world.report(EXTRACTED, node(0))) == ["ReportRefused", "DeliveryRequested"]
    assert world.job().deliveries[-1].generation == 2
    assert world.settle(ack(), gone(generation=1)) == []
    assert names(world.settle(gone(generation=2))) == ["DeliveryAcked"]
    assert world.after(3600) == []
    assert world.types().count("JobExpired") == 1


def test_45_a_purge_is_asked_for_again_until_it_is_answered() -> None:
    world = completed()
    world.after(KEPT)
    world.expire()
    [again] = world.after(31)
    assert isinstance(again, DeliveryRequested)
    assert (again.erase, again.generation, again.try_number) == (True, 1, 2)


def test_45_a_job_that_left_memory_is_purged_and_leaves_it_again() -> None:
    world = completed(ended_kept=0, ended_kept_for=0)
    world.archive()
    assert "j1" not in world.ledger.jobs
    assert world.expire() == []
    assert "j1" not in world.ledger.jobs  # nothing follows, and nothing is recalled
    world.after(KEPT)
    assert names(world.expire()) == ["JobRecalled", "JobExpired", "DeliveryRequested"]
    world.settle(gone())
    world.archive()
    assert "j1" not in world.ledger.jobs
    assert world.expire() == []
    assert told(world) == Done()


def test_45_a_job_whose_results_have_gone_can_be_deleted() -> None:
    world = completed()
    world.after(KEPT)
    world.expire()
    world.settle(gone())
    [deleted, again] = world.delete()
    assert names([deleted]) == ["JobDeleted"]
    assert isinstance(again, DeliveryRequested)
    assert again.generation == 2  # the ACK of the first is no answer to this one
    assert world.settle(gone()) == []
    world.settle(gone(generation=2))
    assert world.job().settled
    assert world.expire() == []
    assert told(world) == Refused(code="unknown_job")


def test_45_another_org_cannot_have_results_purged() -> None:
    world = completed()
    world.org("other")
    world.after(KEPT)
    assert world.expire(org_id="other") == []
    assert told(world) == Refused(code="unknown_job")
