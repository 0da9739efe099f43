"""Submission and its idempotency."""

from services.ledger.commands import RegisterOrg
from services.ledger.policy import HOUR, SECOND
from services.ledger.replies import Done, Refused
from tests.unit.ledger.world import World, names


def test_one_key_makes_one_job_however_often_it_comes() -> None:
    world = World().org()
    key = {"idempotency_digest": b"k" * 16, "request_digest": b"r" * 16}
    assert names(world.submit("j1", **key))[0] == "JobSubmitted"  # type: ignore[arg-type]
    for other in ("j2", "j3"):
        assert world.submit(other, **key) == []  # type: ignore[arg-type]
        assert world.reply == Done(job_ids=("j1",), repeated=True)


def test_one_key_with_another_body_is_a_conflict() -> None:
    world = World().org()
    world.submit("j1", idempotency_digest=b"k" * 16, request_digest=b"r" * 16)
    assert world.submit("j2", idempotency_digest=b"k" * 16, request_digest=b"x" * 16) == []
    assert isinstance(world.reply, Refused)
    assert world.reply.code == "idempotency_conflict"


def test_a_key_is_forgotten_after_its_life_time() -> None:
    world = World().org()
    key = {"idempotency_digest": b"k" * 16, "request_digest": b"r" * 16}
    world.submit("j1", **key)  # type: ignore[arg-type]
    world.now += 25 * HOUR - SECOND
    world.submit("j2")
    assert world.submit("j3", **key) == []  # type: ignore[arg-type]
    world.now += SECOND
    world.submit("j4")
    assert names(world.submit("j5", **key))[0] == "JobSubmitted"  # type: ignore[arg-type]


def test_keys_of_several_hours_are_known_side_by_side() -> None:
    world = World().org()
    for hour in range(3):
        world.submit(f"a{hour}", f"b{hour}", f"c{hour}", idempotency_digest=bytes([hour]) * 16)
        world.now += HOUR
    for hour in range(3):
        assert world.submit("again", idempotency_digest=bytes([hour]) * 16) == []
        assert world.reply == Done(job_ids=(f"a{hour}", f"b{hour}", f"c{hour}"), repeated=True)
    assert len(world.ledger.orgs["acme"].keys) == 3


def test_many_jobs_are_accepted_together_in_their_order() -> None:
    world = World().org()
    events = world.submit("a", "b", "c", idempotency_digest=b"k" * 16)
    assert names(events)[:3] == ["JobSubmitted"] * 3
    assert world.reply == Done(job_ids=("a", "b", "c"))


def test_a_resend_without_key_adds_nothing() -> None:
    world = World().org()
    world.submit("j1")
    assert world.submit("j1") == []
    assert world.reply == Done(job_ids=("j1",), repeated=True)


def test_an_org_that_is_not_here_cannot_submit() -> None:
    world = World()
    assert world.submit() == []
    assert isinstance(world.reply, Refused)
    assert world.reply.code == "unknown_org"


def test_registering_twice_changes_nothing() -> None:
    world = World().org()
    assert world.when(RegisterOrg(command_id="r", org_id="acme", name="other")) == []
