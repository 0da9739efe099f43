"""Spider jobs to try rules on: reports of chunks, lines and statistics."""

import hashlib

import msgspec

from schemas.events import AnyEvent
from schemas.values import Vocabulary
from services.ledger.reports import Chunk, Logged, Stats
from tests.unit.ledger.world import World

SAID = Logged(number=0, lines=2, private=b"", lines_ref="acme/j1/1/log-0", lines_bytes=9, levels=(0, 2, 0, 0, 0))


def scraped(number: int, first: int, following: int, **fields: object) -> Chunk:
    """A chunk of items that a spider scraped."""
    part = Chunk(
        chunk=number,
        items_ref=f"acme/j1/1/items-1-{number}",
        rows_bytes=10,
        outcomes_bytes=0,
        stats_bytes=0,
        digest=hashlib.blake2b(b"%d" % number, digest_size=16).digest(),
        first_item=first,
        next_item=following,
        rows=following - first,
        errors=0,
        resume_item=following,
    )
    return msgspec.structs.replace(part, **fields)


def stats(number: int, items: int, *, final: bool = False, routed: int = 0) -> Stats:
    """Statistics of a run so far."""
    private = b'\0{"item_scraped_count":%d}' % items
    return Stats(number=number, scraped=items, final=final, private=private, routed=routed)


def submit(world: World, job_id: str = "j1", **fields: object) -> list[AnyEvent]:
    """Submit a spider job."""
    asked: dict[str, object] = {"vocabulary": Vocabulary.SPIDER, "workflow_id": "shop", "workflow_ref": "deploys/1"}
    return world.submit(job_id, destinations=(), **(asked | fields))  # type: ignore[arg-type]


def running(world: World | None = None, job_id: str = "j1", **fields: object) -> World:
    """Bring a spider job to running."""
    world = world or World().org()
    submit(world, job_id, **fields)
    world.claim(job_id)
    return world
