"""Submission and its idempotency."""

from services.ledger.messages import Done, Refused, RegisterOrg
from services.ledger.policy import HOUR, SECOND
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
    world.now += 24 * HOUR + SECOND
    world.submit("j2")
    assert names(world.submit("j3", **key))[0] == "JobSubmitted"  # type: ignore[arg-type]


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
