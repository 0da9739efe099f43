"""How many jobs an org may have pending, how long one waits for its first claim, and how long keys live."""

import pytest
from msgspec.structs import replace

from schemas.events import AnyEvent, JobDispatched, JobFailed, JobSubmitted, OrgLimitChanged
from services.ledger.commands import ChangeOrgLimit, ExplainJob
from services.ledger.policy import HOUR, SECOND, Policy
from services.ledger.replies import Done, Explained, Refused
from services.ledger.status import Status
from tests.unit.ledger.world import EXTRACTED, START, World, names, node


def limit(world: World, **limits: int) -> list[AnyEvent]:
    """Change limits of the org."""
    events = world.when(ChangeOrgLimit(command_id="l", org_id="acme", **limits))  # type: ignore[arg-type]
    return [replace(each, idempotency_digest=b"") if isinstance(each, OrgLimitChanged) else each for each in events]


def refused(world: World) -> str:
    """Return the code of the refusal of the newest command, or nothing."""
    return world.reply.code if isinstance(world.reply, Refused) else ""


def failed(events: list[AnyEvent]) -> list[tuple[str, str]]:
    """Return which jobs failed, and of what."""
    return [(event.job_id, event.error_type) for event in events if isinstance(event, JobFailed)]


# ---- depth ----


def test_a_submission_that_does_not_fit_is_refused_as_a_whole() -> None:
    world = World(Policy(max_pending=3)).org()
    world.submit("a", "b")
    assert world.submit("c", "d") == []
    assert refused(world) == "queue_full"
    assert world.ledger.orgs["acme"].pending == 2
    assert names(world.submit("e"))[0] == "JobSubmitted"
    assert world.submit("f") == []


def test_pending_jobs_count_dispatched_or_not_and_running_ones_do_not() -> None:
    world = World(Policy(max_pending=2)).org()
    world.submit("a", "b")
    assert world.submit("c") == []
    world.claim("a")
    assert names(world.submit("c"))[0] == "JobSubmitted"
    world.cancel("b")
    assert names(world.submit("d"))[0] == "JobSubmitted"
    assert world.submit("e") == []


def test_the_operator_gives_an_org_a_depth_of_its_own_and_takes_it_back() -> None:
    world = World(Policy(max_pending=1)).org()
    world.org("beta")
    [changed] = limit(world, max_pending=2)
    assert changed == OrgLimitChanged(org_id="acme", max_in_flight=5, max_pending=2)
    assert limit(world, max_pending=2) == []
    assert names(world.submit("a", "b"))[:2] == ["JobSubmitted"] * 2
    assert world.submit("c", "d", org_id="beta") == []
    limit(world, max_pending=0)
    assert world.submit("e") == []


def test_limits_that_are_not_named_stay() -> None:
    world = World().org()
    limit(world, max_in_flight=7, max_pending=9, max_queue_seconds=11)
    [changed] = limit(world, max_pending=10)
    assert changed == OrgLimitChanged(org_id="acme", max_in_flight=7, max_pending=10, max_queue_seconds=11)


@pytest.mark.parametrize("limits", [{"max_in_flight": 0}, {"max_pending": -1}, {"max_queue_seconds": -1}])
def test_a_limit_that_is_none_is_refused(limits: dict[str, int]) -> None:
    world = World().org()
    assert limit(world, **limits) == []
    assert refused(world) == "bad_limit"


def test_a_repeat_of_an_accepted_submission_gets_its_jobs_though_the_queue_is_full_by_now() -> None:
    world = World(Policy(max_pending=2)).org()
    world.submit("a", "b", idempotency_digest=b"k" * 16)
    assert world.submit("c", "d", idempotency_digest=b"k" * 16) == []
    assert world.reply == Done(job_ids=("a", "b"), repeated=True)


def test_a_submission_of_many_commands_is_measured_as_a_whole_by_its_first() -> None:
    world = World(Policy(max_pending=4)).org()
    assert world.submit("a", "b", idempotency_digest=b"1" * 16, jobs_behind=3) == []
    assert refused(world) == "queue_full"
    world.submit("a", "b", idempotency_digest=b"1" * 16, jobs_behind=2)
    world.submit("other", "another")  # takes the room that the second command was to have
    assert names(world.submit("c", "d", idempotency_digest=b"2" * 16, first_digest=b"1" * 16))[:2] == [
        "JobSubmitted",
        "JobSubmitted",
    ]
    assert world.submit("e", idempotency_digest=b"4" * 16, first_digest=b"3" * 16) == []


def test_as_it_comes_an_org_may_have_a_million_pending() -> None:
    assert Policy().max_pending >= 1_000_000


# ---- time in the queue ----


def test_a_job_that_nobody_claims_in_time_fails_and_gives_its_slot_to_the_next() -> None:
    world = World().org(cap=1)
    world.submit("a", max_queue_seconds=10)
    world.submit("b")
    assert failed(world.after(9.999)) == []
    events = world.after(0.001)
    assert failed(events) == [("a", "queue_expired")]
    assert [event.job_id for event in events if isinstance(event, JobDispatched)] == ["b"]
    assert world.status("a") is Status.FAILED


def test_the_time_of_the_submission_goes_before_that_of_the_org_and_that_before_the_setting() -> None:
    world = World(Policy(max_queue_seconds=30)).org()
    world.submit("setting")
    limit(world, max_queue_seconds=20)
    world.submit("org")
    world.submit("own", max_queue_seconds=10)
    assert [r.event.max_queue_seconds for r in world.seen if isinstance(r.event, JobSubmitted)] == [30, 20, 10]
    assert [failed(world.after(10)) for _ in range(3)] == [
        [(job_id, "queue_expired")] for job_id in ("own", "org", "setting")
    ]


def test_without_a_limit_there_is_no_timer_for_it() -> None:
    world = World().org(cap=1)
    world.submit("out")
    timers = len(world.ledger.timers)
    world.submit(*map(str, range(100)))
    assert len(world.ledger.timers) == timers
    assert failed(world.after(10 * 365 * 86_400)) == []


def test_a_claim_that_comes_as_the_time_ends_loses_though_the_timer_has_not_fired() -> None:
    world = World().org()
    world.submit("a", max_queue_seconds=10)
    world.now = START + 10 * SECOND
    assert failed(world.claim("a")) == [("a", "queue_expired")]
    assert refused(world) == "job_terminal"
    assert world.claim("a") == []
    assert world.after(1) == []


def test_a_claim_that_comes_just_before_wins_and_no_timer_ends_the_run() -> None:
    world = World().org()
    world.submit("a", max_queue_seconds=10)
    world.now = START + 10 * SECOND - 1
    assert failed(world.claim("a")) == []
    assert failed(world.after(60)) == []
    assert names(world.report(EXTRACTED, node(0), job_id="a"))[1] == "JobExtracted"


def test_the_time_counts_to_the_first_claim_alone() -> None:
    """A job that a lost worker gives back has begun: it is not given up for having waited."""
    world = World().org()
    world.submit("a", max_queue_seconds=10)
    world.claim("a")
    world.lose("boot-1")
    assert world.status("a") is Status.PENDING
    assert failed(world.after(20)) == []
    world.claim("a", "boot-2")
    assert world.status("a") is Status.RUNNING


def test_the_time_goes_on_while_the_org_has_no_free_slot() -> None:
    world = World().org(cap=1)
    world.submit("busy")
    world.claim("busy")
    world.submit("a", max_queue_seconds=10)
    assert failed(world.after(10)) == [("a", "queue_expired")]
    assert world.ledger.orgs["acme"].pending == 0


def test_a_pending_job_says_until_when_it_waits_and_a_running_one_does_not() -> None:
    world = World().org()
    world.submit("a", max_queue_seconds=10)
    asked = ExplainJob(command_id="e", org_id="acme", job_id="a")
    for expected in (START + 10 * SECOND, 0):
        world.when(asked)
        assert isinstance(world.reply, Explained)
        assert world.reply.expires_at == expected
        world.claim("a")


# ---- keys ----


def test_a_key_is_remembered_for_its_lifetime_and_then_makes_another_job() -> None:
    world = World(Policy(idempotency_lifetime=2 * HOUR)).org()
    world.submit("a", idempotency_digest=b"k" * 16, request_digest=b"r" * 16)
    world.now += 2 * HOUR
    assert world.submit("b", idempotency_digest=b"k" * 16, request_digest=b"r" * 16) == []
    assert world.reply == Done(job_ids=("a",), repeated=True)
    assert world.submit("b", idempotency_digest=b"k" * 16, request_digest=b"other" * 3) == []
    assert refused(world) == "idempotency_conflict"
    world.now += HOUR
    world.announce()  # any event tells the ledger the time
    assert names(world.submit("b", idempotency_digest=b"k" * 16, request_digest=b"other" * 3))[0] == "JobSubmitted"
    assert world.reply == Done(job_ids=("b",), repeated=False)
