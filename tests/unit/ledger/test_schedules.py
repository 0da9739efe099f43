"""Fires of schedules: each due time at most once, its jobs with it, its refusal in the log."""

import msgspec

from schemas.events import AnyEvent, JobSubmitted, ScheduleFired
from schemas.values import After, Destination, FireKind, FireOutcome
from services.ledger.commands import ChangeOrgLimit, FireSchedule, NewJob, SubmitJobs
from services.ledger.digest import digest_of_state
from services.ledger.policy import HOUR, MINUTE, SECOND, Policy
from services.ledger.replies import Done, Refused
from services.ledger.snapshot import Rebuild, parts_of
from services.ledger.state import Ledger
from tests.unit.ledger.world import POSTGRES, START, World, names

NOTICE = Destination(destination_id="n", kind="webhook", gating=True, after=After.COMPLETED)  # refused: it never comes


def fire(world: World, due_at: int, *job_ids: str, schedule_id: str = "s1", **fields: object) -> list[AnyEvent]:
    """Fire a schedule of acme for a due time."""
    jobs = tuple(NewJob(job_id=job_id) for job_id in job_ids)
    submission = SubmitJobs(command_id="f", org_id="acme", jobs=jobs, destinations=(POSTGRES,), schedule_id=schedule_id)
    command = FireSchedule(
        command_id="f",
        org_id="acme",
        schedule_id=schedule_id,
        due_at=due_at,
        submission=submission if jobs else None,
    )
    return world.when(msgspec.structs.replace(command, **fields))


def trigger(world: World, key: bytes, *job_ids: str, body: bytes = b"r" * 16) -> list[AnyEvent]:
    """Trigger the schedule, under a caller's key."""
    submission = SubmitJobs(
        command_id="t",
        org_id="acme",
        jobs=tuple(NewJob(job_id=job_id) for job_id in job_ids),
        destinations=(POSTGRES,),
        schedule_id="s1",
        idempotency_digest=key,
        request_digest=body,
    )
    return fire(world, world.now, how=FireKind.TRIGGER, submission=submission)


def only_fire(events: list[AnyEvent]) -> ScheduleFired:
    """Return the one fire among events."""
    [fired] = [event for event in events if isinstance(event, ScheduleFired)]
    return fired


def test_a_fire_and_its_jobs_are_recorded_together_and_name_each_other() -> None:
    world = World().org()
    events = fire(world, START, "a", "b")
    assert names(events)[:3] == ["ScheduleFired", "JobSubmitted", "JobSubmitted"]
    fired = only_fire(events)
    assert (fired.job_ids, fired.outcome, fired.due_at) == (("a", "b"), FireOutcome.SUBMITTED, START)
    assert [event.schedule_id for event in events if isinstance(event, JobSubmitted)] == ["s1", "s1"]
    assert world.reply == Done(job_ids=("a", "b"))


def test_a_due_time_is_fired_once_however_often_and_late_it_comes() -> None:
    world = World().org()
    fire(world, START, "a")
    for number in range(3):  # another instance of the scheduler makes other jobs of it
        assert fire(world, START, f"again-{number}") == []
        assert world.reply == Done(repeated=True)
        world.now += 24 * HOUR
    assert list(world.ledger.jobs) == ["a"]


def test_due_times_before_the_newest_one_are_over_and_later_ones_are_not() -> None:
    world = World().org()
    fire(world, START + MINUTE, "a")
    assert fire(world, START, "late") == []
    assert only_fire(fire(world, START + MINUTE + 1, "b")).job_ids == ("b",)


def test_each_schedule_has_a_clock_of_its_own() -> None:
    world = World().org()
    fire(world, START, "a")
    assert only_fire(fire(world, START, "b", schedule_id="s2")).job_ids == ("b",)


def test_a_refused_fire_is_recorded_with_its_code_and_is_over() -> None:
    world = World().org()
    fired = only_fire(fire(world, START, refused="unknown_workflow"))
    assert (fired.outcome, fired.code, fired.job_ids) == (FireOutcome.REFUSED, "unknown_workflow", ())
    assert isinstance(world.reply, Done)
    assert fire(world, START, "a") == []
    assert only_fire(fire(world, START + MINUTE, "a")).outcome is FireOutcome.SUBMITTED


def test_what_refuses_a_submission_refuses_a_fire_and_is_recorded() -> None:
    world = World().org()
    refused = SubmitJobs(
        command_id="f", org_id="acme", jobs=(NewJob(job_id="a"),), destinations=(NOTICE,), schedule_id="s1"
    )
    events = fire(world, START, submission=refused)
    assert names(events) == ["ScheduleFired"]
    assert (only_fire(events).outcome, only_fire(events).code) == (FireOutcome.REFUSED, "gating_notice")
    assert fire(world, START, submission=refused) == []


def test_a_fire_into_a_full_queue_is_refused_and_the_next_one_goes_on() -> None:
    world = World().org()
    world.when(ChangeOrgLimit(command_id="l", org_id="acme", max_pending=1))
    world.submit("waits")
    fired = only_fire(fire(world, START, "a"))
    assert (fired.outcome, fired.code) == (FireOutcome.REFUSED, "queue_full")
    world.cancel("waits")
    assert only_fire(fire(world, START + MINUTE, "a")).job_ids == ("a",)


def test_a_fire_counts_no_due_time_that_another_stood_for() -> None:
    world = World().org()
    due = [START + number * MINUTE for number in range(6)]
    first = fire(world, due[2], "a", how=FireKind.MISSED, due_times=3, before=tuple(due[:2]))
    later = fire(world, due[5], "b", how=FireKind.MISSED, due_times=6, before=tuple(due[:5]))
    assert [only_fire(events).due_times for events in (first, later)] == [3, 3]
    assert fire(world, due[5], "c", how=FireKind.MISSED, due_times=6, before=tuple(due[:5])) == []


def test_a_skipped_due_time_is_recorded_and_is_over() -> None:
    world = World().org()
    fired = only_fire(fire(world, START, how=FireKind.MISSED, due_times=7))
    assert (fired.outcome, fired.how, fired.due_times) == (FireOutcome.SKIPPED, FireKind.MISSED, 7)
    assert fire(world, START, "a") == []


def test_a_trigger_moves_no_clock() -> None:
    world = World().org()
    fired = only_fire(trigger(world, b"k" * 16, "now"))
    assert (fired.how, fired.due_at, fired.job_ids) == (FireKind.TRIGGER, START, ("now",))
    assert only_fire(fire(world, START - HOUR, "a")).job_ids == ("a",)


def test_a_trigger_with_one_key_fires_once_and_is_answered_with_its_jobs() -> None:
    world = World().org()
    trigger(world, b"k" * 16, "one")
    world.now += HOUR
    assert trigger(world, b"k" * 16, "two") == []
    assert world.reply == Done(job_ids=("one",), repeated=True)
    assert trigger(world, b"k" * 16, "two", body=b"x" * 16) == []
    assert isinstance(world.reply, Refused)
    assert world.reply.code == "idempotency_conflict"


def test_a_refused_trigger_is_told_and_not_recorded() -> None:
    world = World().org()
    refused = SubmitJobs(command_id="t", org_id="acme", jobs=(NewJob(job_id="a"),), destinations=(NOTICE,))
    assert fire(world, START, how=FireKind.TRIGGER, submission=refused) == []
    assert isinstance(world.reply, Refused)
    assert world.reply.code == "gating_notice"


def test_a_schedule_that_has_not_fired_for_long_is_forgotten_and_fires_of_then_are_refused() -> None:
    world = World(Policy(fire_lifetime=HOUR)).org()
    fire(world, START, "a")
    world.now += HOUR + SECOND
    fire(world, world.now, "b", schedule_id="s2")
    assert dict(world.ledger.orgs["acme"].fires) == {"s2": world.now}
    assert fire(world, START, "again") == []
    assert isinstance(world.reply, Refused)
    assert world.reply.code == "too_late"
    assert only_fire(fire(world, world.now, "c")).job_ids == ("c",)


def test_fires_of_an_org_that_is_not_here_are_refused() -> None:
    world = World()
    assert fire(world, START, "a") == []
    assert isinstance(world.reply, Refused)
    assert world.reply.code == "unknown_org"


def test_a_snapshot_knows_what_was_fired() -> None:
    world = World().org().org("beta")
    fire(world, START, "a")
    fire(world, START + MINUTE, "b", schedule_id="s2")
    rebuild = Rebuild(0, world.policy)
    for part in parts_of(world.ledger):
        rebuild.add(part)
    assert dict(rebuild.ledger.orgs["acme"].fires) == {"s1": START, "s2": START + MINUTE}
    assert digest_of_state(rebuild.ledger) == digest_of_state(world.ledger) != digest_of_state(Ledger(0))
