"""Going on from a job that ended: asked for, one at a time; or by itself at the run-time limit, if it made progress."""

from schemas.events import AnyEvent, JobContinued, JobFailed, JobSubmitted
from schemas.private import private_json
from services.ledger.chains import Chain
from services.ledger.commands import ChangeOrgLimit, NewJob
from services.ledger.reports import Failed
from services.ledger.status import Status
from tests.unit.ledger.modules import DAY, DONE, HOUR, PLAN, chunk, code, items, resume, running, submit, tell
from tests.unit.ledger.world import World, ack, names

BROKE = Failed(error_type="module_failed")


def failed(world: World | None = None) -> World:
    world = running(world)
    tell(world, PLAN, chunk(0, 0, 10, errors=3, resume_item=8, errors_before=1), outcome=BROKE)
    return world


def continued(events: list[AnyEvent]) -> JobContinued:
    return next(event for event in events if isinstance(event, JobContinued))


def why(events: list[AnyEvent]) -> str:
    end = next(event for event in events if isinstance(event, JobFailed))
    return (private_json(end.private) or b"").decode()


def test_a_resumed_job_begins_behind_the_last_item_that_succeeded_with_the_chunks_up_to_there() -> None:
    world = failed()
    events = resume(world, "j2")
    assert names(events)[:2] == ["JobSubmitted", "JobContinued"]
    went_on = continued(events)
    assert (went_on.source_job_id, went_on.chain_id, went_on.link) == ("j1", "j1", 2)
    assert (went_on.next_item, went_on.rows, went_on.errors, went_on.planned) == (8, 7, 1, 100)
    assert [(each.job_id, each.chunks, each.next_item) for each in went_on.adopts] == [("j1", 1, 8)]
    assert world.status() is Status.FAILED
    world.claim("j2", boot="boot-2")
    assert names(tell(world, chunk(0, 8, 100), outcome=DONE, job_id="j2", boot="boot-2"))[0] == "ItemsRecorded"
    assert (items(world, "j2").rows, items(world, "j2").errors, items(world, "j2").next_item) == (99, 1, 100)


def test_only_one_resume_is_pending_or_running_and_the_next_one_is_taken_when_it_has_ended() -> None:
    world = failed()
    resume(world, "j2")
    assert (code(world), resume(world, "j3"), code(world)) == ("", [], "resume_pending")
    world.cancel("j2")
    assert continued(resume(world, "j4")).link == 3
    assert code(world) == ""


def test_a_resume_that_comes_twice_makes_one_job() -> None:
    world = failed()
    resume(world, "j2", idempotency_digest=b"k" * 16)
    assert (resume(world, "j2", idempotency_digest=b"k" * 16), code(world)) == ([], "")
    assert (resume(world, "other", idempotency_digest=b"k" * 16), code(world)) == ([], "")
    assert "other" not in world.ledger.jobs


def test_a_key_that_came_with_another_request_before_resumes_nothing_and_says_so() -> None:
    world = failed()
    resume(world, "j2", idempotency_digest=b"k" * 16, request_digest=b"r" * 16)
    world.cancel("j2")
    assert resume(world, "j3", "j2", idempotency_digest=b"k" * 16, request_digest=b"s" * 16) == []
    assert code(world) == "idempotency_conflict"


def test_what_runs_and_what_was_purged_or_deleted_or_is_no_module_is_not_resumed() -> None:
    world = running()
    assert (resume(world, "j2"), code(world)) == ([], "not_terminal")
    assert (resume(world, "j2", job_id="nobody"), code(world)) == ([], "unknown_job")
    tell(world, PLAN, chunk(0, 0, 10), outcome=BROKE)
    world.now += 8 * DAY * 1_000_000
    world.expire()
    assert (resume(world, "j2"), code(world)) == ([], "results_expired")
    world.delete()
    assert (resume(world, "j2"), code(world)) == ([], "unknown_job")
    world.submit("w1")
    world.cancel("w1")
    assert (resume(world, "j2", job_id="w1"), code(world)) == ([], "unknown_job")


def test_at_the_run_time_limit_a_job_that_made_progress_is_followed_by_another() -> None:
    world = running(limit=HOUR)
    tell(world, PLAN, chunk(0, 0, 10))
    events = world.after(HOUR)
    assert names(events)[:3] == ["JobFailed", "JobSubmitted", "JobContinued"]
    assert "run-time limit of 3600 s; another job goes on from here" in why(events)
    follower = continued(events).job_id
    assert world.status() is Status.FAILED
    assert world.job(follower).terms == world.job().terms
    assert items(world, follower).begins_at == 10


def test_without_progress_no_job_follows_and_the_error_says_so() -> None:
    world = running(limit=HOUR)
    tell(world, PLAN, chunk(0, 0, 10, errors=10, rows=0, resume_item=0, errors_before=0))
    events = world.after(HOUR)
    assert names(events) == ["JobFailed"]
    assert "no item has succeeded since this link of the chain started; resume it" in why(events)
    resume(world, "j2")
    assert code(world) == ""


def test_progress_is_asked_of_each_link_by_itself() -> None:
    world = running(limit=HOUR)
    tell(world, PLAN, chunk(0, 0, 10))
    follower = continued(world.after(HOUR)).job_id
    world.claim(follower, boot="boot-2")
    assert "no item has succeeded" in why(world.after(HOUR))


def test_with_five_other_jobs_pending_or_running_of_whatever_type_no_job_follows() -> None:
    for others, follows in ((4, True), (5, False)):
        world = running(World().org(cap=50), limit=HOUR)
        tell(world, PLAN, chunk(0, 0, 10))
        for number in range(others):
            world.submit(f"w{number}") if number % 2 else submit(world, f"m{number}", limit=0)
        events = world.after(HOUR)
        assert ("JobContinued" in names(events)) is follows
        assert ("5 jobs pending or running" in why(events)) is not follows


def test_where_the_queue_of_the_account_is_full_no_job_follows_by_itself() -> None:
    for most, follows in ((3, True), (2, False)):
        world = running(World().org(cap=1), limit=HOUR)
        tell(world, PLAN, chunk(0, 0, 10))
        world.when(ChangeOrgLimit(command_id="l", org_id="acme", max_pending=most))
        world.submit("w1")
        world.submit("w2")
        events = world.after(HOUR)
        assert ("JobContinued" in names(events)) is follows
        assert ("2 jobs pending, and 2 may be" in why(events)) is not follows


def test_jobs_that_ended_leave_room_for_a_follow_up() -> None:
    world = running(World().org(cap=50), limit=HOUR)
    for number in range(5):
        world.submit(f"w{number}")
        world.cancel(f"w{number}")
    tell(world, PLAN, chunk(0, 0, 10))
    assert "JobContinued" in names(world.after(HOUR))
    assert world.ledger.orgs["acme"].live == 1


def test_a_job_whose_every_item_is_done_is_not_followed() -> None:
    world = running(limit=HOUR)
    tell(world, PLAN, chunk(0, 0, 100))
    assert "every planned item has its outcome" in why(world.after(HOUR))


def test_a_sealed_job_is_not_followed_by_itself_as_the_ledger_cannot_open_it() -> None:
    world = World().org()
    submit(world, jobs=(NewJob(job_id="j1", private=b"\1sealed"),), limit=HOUR)
    world.claim()
    tell(world, PLAN, chunk(0, 0, 10))
    assert "sealed" in why(world.after(HOUR))


def test_a_chain_of_three_has_each_chunk_once_and_its_last_link_has_them_all() -> None:
    world = failed()
    resume(world, "j2")
    world.claim("j2", boot="b2")
    tell(world, chunk(0, 8, 20), outcome=BROKE, job_id="j2", boot="b2")
    went_on = continued(resume(world, "j3", job_id="j2"))
    assert [(each.job_id, each.chunks, each.next_item) for each in went_on.adopts] == [("j1", 1, 8), ("j2", 1, 20)]
    assert (went_on.chain_id, went_on.link, went_on.next_item, went_on.rows, went_on.errors) == ("j1", 3, 20, 19, 1)


def test_items_are_kept_until_the_last_job_of_the_chain_is_gone() -> None:
    world = failed()
    resume(world, "j2")
    world.cancel("j2")
    assert world.ledger.orgs["acme"].chains == {"j1": Chain(2, {"j2": "j1"}, {"j1": None, "j2": None})}
    world.delete("j1")
    [first] = [each for each in world.sent.deliveries if each.erase]
    assert (first.job_id, first.chain_id, first.items_kept) == ("j1", "j1", True)
    world.settle(ack("j1", "erasure"))
    world.now += 8 * DAY * 1_000_000
    world.expire("j2")
    last = [each for each in world.sent.deliveries if each.erase][-1]
    assert (last.job_id, last.chain_id, last.items_kept) == ("j2", "j1", False)
    assert world.ledger.orgs["acme"].chains == {}


def test_a_job_that_nobody_goes_on_from_takes_its_items_with_it() -> None:
    world = failed()
    world.delete()
    [erasure] = [each for each in world.sent.deliveries if each.erase]
    assert (erasure.chain_id, erasure.items_kept) == ("j1", False)


def test_a_resumed_job_that_left_memory_is_found_again() -> None:
    world = failed()
    world.ledger.jobs.pop("j1")
    world.ledger.archived_up_to = 1
    events = resume(world, "j2")
    assert isinstance(events[0], JobSubmitted)
    assert continued(events).next_item == 8
    assert "j1" not in world.ledger.jobs


def test_a_resumed_job_waits_for_its_first_claim_no_longer_than_any_of_its_org() -> None:
    world = failed()
    world.when(ChangeOrgLimit(command_id="l", org_id="acme", max_queue_seconds=60))
    events = resume(world, "j2")
    assert isinstance(events[0], JobSubmitted)
    assert events[0].max_queue_seconds == 60


def test_so_does_one_whose_source_was_to_wait_otherwise_and_may_have_left_memory() -> None:
    world = World().org()
    world.when(ChangeOrgLimit(command_id="l", org_id="acme", max_queue_seconds=90))
    failed(world)
    world.when(ChangeOrgLimit(command_id="m", org_id="acme", max_queue_seconds=60))
    events = resume(world, "j2")  # the read model, which a job that left memory comes back from, knows no such wait
    assert isinstance(events[0], JobSubmitted)
    assert events[0].max_queue_seconds == 60
