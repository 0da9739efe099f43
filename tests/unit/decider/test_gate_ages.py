"""How long the oldest job has waited at its gate, as the metric says it."""

from services.decider.gate_ages import GateAges
from tests.unit.ledger.world import EXTRACTED, World, ack, node


def ages_of(world: World) -> set[float]:
    """Return what one that saw every event says, and one that begins with the jobs in memory."""
    seen = GateAges([])
    seen.committed(world.seen)
    return {ages.oldest_seconds(world.now) for ages in (seen, GateAges(world.ledger.jobs.values()))}


def at_their_gates(*job_ids: str) -> World:
    """Extract jobs, ten seconds between them."""
    world = World().org()
    world.submit(*job_ids)
    for job_id in job_ids:
        world.claim(job_id)
        world.report(EXTRACTED, node(0), job_id=job_id)
        world.after(10)
    return world


def test_it_is_the_age_of_the_job_that_waits_longest() -> None:
    assert ages_of(at_their_gates("j1", "j2", "j3")) == {30.0}


def test_an_opened_gate_and_a_cancelled_job_leave_the_next_one() -> None:
    world = at_their_gates("j1", "j2", "j3")
    world.settle(ack("j1"))
    assert ages_of(world) == {20.0}
    world.cancel("j2")
    assert ages_of(world) == {10.0}


def test_it_is_nothing_where_no_job_waits() -> None:
    assert ages_of(World().org()) == {0.0}
    world = at_their_gates("j1")
    world.settle(ack("j1"))
    assert ages_of(world) == {0.0}
