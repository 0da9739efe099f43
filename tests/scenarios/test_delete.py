"""Scenario 44 by the rules of the ledger: late writes after a delete."""

import msgspec

from schemas.events import DeliveryRequested, JobDeleted, ReportRefused
from schemas.values import Destination
from services.ledger.job import Job
from services.ledger.replies import Done, Drop, Refused
from services.ledger.reports import DeliveryResult, Failed, HandedBack
from services.ledger.status import Status
from tests.scenarios.one_job import HOOK, ends, running, told
from tests.unit.ledger.world import EXTRACTED, POSTGRES, World, ack, names, node

LAKE = Destination(destination_id="lake", kind="clickhouse")


def erasure(**fields: object) -> DeliveryResult:
    """The answer of the writer that took away what the store of ours held."""
    return msgspec.structs.replace(ack(destination="erasure"), rows=0, **fields)


def deleted(job: Job) -> bool:
    """Whether nothing is kept of a job but that it was there."""
    return job.deleted and (job.private, job.domain, job.extracted, job.ending.failed) == (b"", "", None, None)


def test_44_a_running_job_that_is_deleted_is_cancelled_first_and_its_worker_told() -> None:
    world = running(destinations=(POSTGRES, LAKE, HOOK))
    events = world.delete()
    assert names(events) == ["JobCancelled", "JobDeleted", "DeliveryRequested", "DeliveryRequested"]
    assert [(e.kind, e.erase) for e in events if isinstance(e, DeliveryRequested)] == [
        ("postgres", True),
        ("clickhouse", True),
    ]
    assert Drop(job_ids=("j1",)) in [reply.body for reply in world.sent.replies if reply.requester == "boot-1"]
    assert [(d.kind, d.erase) for d in world.sent.deliveries] == [("postgres", True), ("clickhouse", True)]
    assert deleted(world.job())


def test_44_nothing_that_comes_late_brings_a_deleted_job_back() -> None:
    world = World().extracted(destinations=(POSTGRES, HOOK))
    world.delete()
    late = [
        world.settle(ack(), ack(destination="hook", error_type="timeout")),
        world.report(EXTRACTED, node(1)),
        world.report(Failed(error_type="internal"), node(1)),
        world.claim(),
        world.cancel(),
        world.after(3600),
    ]
    assert [sorted(set(names(events))) for events in late] == [
        [],
        ["DeliveryRequested", "ReportRefused"],
        ["DeliveryRequested", "ReportRefused"],
        [],
        [],
        ["DeliveryRequested"],
    ]
    assert all(d.erase for events in late for d in events if isinstance(d, DeliveryRequested))
    assert deleted(world.job())
    assert ends(world) == ["JobCancelled"]
    assert world.types().count("JobDeleted") == 1


def test_44_a_late_report_makes_the_stores_forget_once_more() -> None:
    """Its worker may have left a body behind since the first time."""
    world = running()
    world.delete()
    world.settle(erasure())
    assert not world.job().settled  # its worker has not said that it stopped
    [refused, again] = world.report(EXTRACTED, node(0))
    assert isinstance(refused, ReportRefused)
    assert refused.reason == "job_deleted"
    assert isinstance(again, DeliveryRequested)
    assert (again.erase, again.generation) == (True, 2)
    assert world.settle(erasure()) == []
    assert not world.job().settled
    world.settle(erasure(generation=2))
    assert world.job().settled


def test_44_of_a_worker_that_was_killed_after_the_delete_the_stores_forget_once_more() -> None:
    """It may have left a body behind, and nobody is there to report it."""
    world = running()
    world.delete()
    world.settle(erasure())
    assert not world.job().settled
    lost = world.lose("boot-1")
    assert names(lost) == ["WorkerLost", "DeliveryRequested"]
    assert isinstance(lost[1], DeliveryRequested)
    assert (lost[1].erase, lost[1].generation) == (True, 2)
    world.settle(erasure(generation=2))
    assert world.job().settled
    assert world.after(3600) == []


def test_44_a_worker_that_has_said_its_last_word_on_a_deleted_job_leaves_nothing_to_forget() -> None:
    world = running()
    world.delete()
    assert names(world.report(None, node(0))) == ["ReportRefused", "DeliveryRequested"]  # it goes on, for all we know
    assert not world.job().settled
    world.report(HandedBack())
    world.settle(erasure(generation=3))
    assert world.job().settled
    assert names(world.lose("boot-1")) == ["WorkerLost"]


def test_44_an_erasure_is_sent_again_until_it_is_answered() -> None:
    world = World().extracted()
    world.delete()
    [again] = world.after(31)
    assert isinstance(again, DeliveryRequested)
    assert (again.erase, again.try_number) == (True, 2)
    world.settle(erasure())
    assert world.after(3600) == []


def test_44_every_call_on_a_deleted_job_finds_none() -> None:
    world = World().extracted()
    world.settle(ack())
    assert names(world.delete()) == ["JobDeleted", "DeliveryRequested"]
    assert world.delete() == []
    assert told(world) == Done()
    assert world.cancel() == []
    assert told(world) == Refused(code="unknown_job")
    assert world.claim() == []
    assert isinstance(world.reply, Refused)
    assert world.reply.code == "job_deleted"


def test_44_the_end_of_a_job_stays_what_it_was() -> None:
    world = running()
    world.report(Failed(error_type="providers_exhausted"))
    world.delete()
    assert world.status() is Status.FAILED
    assert ends(world) == ["JobFailed"]
    [event] = [r.event for r in world.seen if isinstance(r.event, JobDeleted)]
    assert event.attempt == 1


def test_44_notices_and_deliveries_that_were_waiting_are_not_sent_any_more() -> None:
    world = World().extracted(destinations=(POSTGRES, HOOK))
    world.settle(ack(destination="hook", error_type="timeout"))
    world.delete()
    world.settle(erasure())
    assert world.after(24 * 3600) == []


def test_44_another_org_cannot_delete_a_job() -> None:
    world = World().org("other").extracted()
    assert world.delete(org_id="other") == []
    assert told(world) == Refused(code="unknown_job")
