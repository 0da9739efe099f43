"""A job that a worker runs, and what to ask about it."""

from schemas.values import Destination
from tests.unit.ledger.world import World

HOOK = Destination(destination_id="hook", kind="webhook")
TERMINAL = {"JobCompleted", "JobFailed", "JobCancelled"}


def running(cap: int = 5, **submit: object) -> World:
    """A job that a worker runs."""
    world = World().org(cap=cap)
    world.submit(**submit)  # type: ignore[arg-type]
    world.claim()
    return world


def ends(world: World) -> list[str]:
    """The terminal events of the job."""
    return [name for name in world.types() if name in TERMINAL]


def told(world: World) -> object:
    """The reply to the newest command."""
    return world.reply
