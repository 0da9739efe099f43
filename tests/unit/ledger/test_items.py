"""Planned items: each chunk is recorded once, in its order, and an attempt that comes later goes on behind it."""

from schemas.events import ItemsRecorded, JobExpired, JobFailed
from services.ledger.items import chained
from services.ledger.replies import Granted
from services.ledger.reports import Failed
from services.ledger.status import Status
from tests.unit.ledger.modules import DAY, DONE, PLAN, Logged, chunk, items, running, tell
from tests.unit.ledger.world import World, names


def test_a_module_job_is_planned_recorded_and_completed() -> None:
    world = running()
    assert names(tell(world, PLAN, chunk(0, 0, 10))) == ["ItemsPlanned", "ItemsRecorded"]
    assert names(tell(world, chunk(1, 10, 100, errors=3))) == ["ItemsRecorded"]
    assert names(tell(world, outcome=DONE)) == ["JobExtracted", "JobCompleted"]
    assert world.status() is Status.COMPLETED
    come = items(world)
    assert (come.planned, come.next_item, come.rows, come.errors, come.chunks) == (100, 100, 97, 3, 2)


def test_a_chunk_that_is_told_again_is_recorded_once() -> None:
    world = running()
    tell(world, PLAN, chunk(0, 0, 10))
    assert tell(world, PLAN, chunk(0, 0, 10)) == []
    assert names(tell(world, chunk(0, 0, 10), chunk(1, 10, 20))) == ["ItemsRecorded"]
    assert items(world).rows == 20


def test_a_chunk_behind_one_that_is_missing_is_not_recorded_and_the_job_goes_back() -> None:
    world = running()
    tell(world, PLAN, chunk(0, 0, 10))
    assert names(tell(world, chunk(2, 20, 30)))[:2] == ["ReportRefused", "JobReleased"]
    assert world.seen[-2].event.reason == "handed_back"  # type: ignore[union-attr]
    assert items(world).next_item == 10


def test_neither_a_chunk_beside_its_place_nor_one_past_the_plan_is_recorded() -> None:
    for wrong in (chunk(1, 11, 20), chunk(1, 10, 101), chunk(1, 10, 10)):
        world = running()
        tell(world, PLAN, chunk(0, 0, 10))
        assert "ItemsRecorded" not in names(tell(world, wrong))
    world = running()
    assert "ItemsRecorded" not in names(tell(world, chunk(0, 0, 10)))  # nothing is planned


def test_the_next_attempt_is_told_how_far_the_job_has_come_and_the_old_one_records_nothing_more() -> None:
    world = running()
    tell(world, PLAN, chunk(0, 0, 10))
    world.lose("boot-1")
    world.after(0)
    world.claim(boot="boot-2")
    assert isinstance(world.reply, Granted)
    assert world.reply.resume.items == items(world)
    assert names(tell(world, chunk(1, 10, 20))) == ["ReportRefused"]
    assert names(tell(world, chunk(1, 10, 20), attempt=2, boot="boot-2")) == ["ItemsRecorded"]


def test_the_place_to_go_on_from_is_behind_the_last_item_that_succeeded() -> None:
    world = running()
    tell(world, PLAN, chunk(0, 0, 10, errors=4, resume_item=8, errors_before=2))
    assert (items(world).resume_item, items(world).errors_before, items(world).errors) == (8, 2, 4)
    tell(world, chunk(1, 10, 15, errors=5, resume_item=0, errors_before=0, rows=0))
    assert (items(world).resume_item, items(world).errors_before, items(world).errors) == (8, 2, 9)
    tell(world, chunk(2, 15, 20, errors=1, resume_item=20, errors_before=1))
    assert (items(world).resume_item, items(world).errors_before) == (20, 10)


def test_lines_are_recorded_once_by_their_number() -> None:
    world = running()
    said = Logged(number=0, lines=2, private=b"\0{}")
    assert names(tell(world, said)) == ["JobLogged"]
    assert tell(world, said) == []
    assert names(tell(world, Logged(number=1, lines=1, private=b"\0{}"))) == ["JobLogged"]


def test_a_job_that_fails_keeps_what_it_recorded() -> None:
    world = running()
    assert names(tell(world, PLAN, chunk(0, 0, 10), outcome=Failed(error_type="module_failed"))) == [
        "ItemsPlanned",
        "ItemsRecorded",
        "JobFailed",
    ]
    assert items(world).rows == 10


def test_items_that_succeed_are_paid_as_they_are_recorded_and_those_that_error_are_not() -> None:
    world = running(World().org(credits=1000), item_credits=3)
    second = tell(world, PLAN, chunk(0, 0, 10, errors=4))[1]
    assert isinstance(second, ItemsRecorded)
    assert second.surcharge == 18
    assert world.ledger.orgs["acme"].account.balance == 982
    assert tell(world, chunk(0, 0, 10, errors=4)) == []
    assert world.ledger.orgs["acme"].account.balance == 982


def test_a_job_whose_credits_run_out_fails_with_what_it_has_and_goes_on_when_there_are_more() -> None:
    world = running(World().org(credits=20), item_credits=3)
    events = tell(world, PLAN, chunk(0, 0, 10), chunk(1, 10, 20))
    assert names(events) == ["ItemsPlanned", "ItemsRecorded", "JobFailed"]
    assert isinstance(events[-1], JobFailed)
    assert events[-1].error_type == "quota_exhausted"
    assert (events[-1].refund, world.ledger.orgs["acme"].account.balance, items(world).rows) == (0, 0, 10)


def test_what_a_job_said_before_its_credits_ran_out_is_recorded_too() -> None:
    world = running(World().org(credits=20), item_credits=3)
    events = tell(world, PLAN, chunk(0, 0, 10), Logged(number=0, lines=1, private=b"\0{}"))
    assert names(events) == ["ItemsPlanned", "ItemsRecorded", "JobLogged", "JobFailed"]


def test_results_of_modules_expire_after_seven_days_with_counts_and_a_digest() -> None:
    world = running()
    tell(world, PLAN, chunk(0, 0, 10), chunk(1, 10, 100, errors=3), outcome=DONE)
    world.now += (7 * DAY - 1) * 1_000_000
    assert world.expire() == []
    world.now += 2_000_000
    expired = world.expire()[0]
    assert isinstance(expired, JobExpired)
    digest = chained(chained(b"", chunk(0, 0, 10).digest), chunk(1, 10, 100).digest)
    assert (expired.items, expired.planned, expired.errors, expired.digest) == (97, 100, 3, digest)
    assert expired.result_bytes == 2 * 17
