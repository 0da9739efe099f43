"""Module jobs to try rules on: reports of plans, chunks and lines, and resumes."""

import hashlib

import msgspec

from schemas.events import AnyEvent
from schemas.values import Vocabulary
from services.ledger.commands import NewJob, ReportProgress, ResumeJob
from services.ledger.items import Items
from services.ledger.replies import Done, Refused
from services.ledger.reports import Chunk, Extracted, ItemsReport, Logged, Outcome, Planned
from tests.unit.ledger.world import World

HOUR, DAY = 3600, 24 * 3600
DONE = Extracted(result_ref="")
PLAN = Planned(plan_ref="acme/j1/1/items-plan", planned=100, plan_bytes=7)


def chunk(number: int, first: int, following: int, errors: int = 0, **fields: object) -> Chunk:
    """A chunk of planned items, the last of which succeeded unless told otherwise."""
    part = Chunk(
        chunk=number,
        items_ref=f"items-{number}",
        rows_bytes=10,
        outcomes_bytes=5,
        stats_bytes=2,
        digest=hashlib.blake2b(b"%d" % number, digest_size=16).digest(),
        first_item=first,
        next_item=following,
        rows=following - first - errors,
        errors=errors,
        resume_item=following,
        errors_before=errors,
    )
    return msgspec.structs.replace(part, **fields)


def submit(world: World, job_id: str = "j1", limit: int = DAY, **fields: object) -> list[AnyEvent]:
    """Submit a module job."""
    asked: dict[str, object] = {"vocabulary": Vocabulary.MODULE, "workflow_id": "scrap", "max_run_seconds": limit}
    return world.submit(job_id, destinations=(), **(asked | fields))  # type: ignore[arg-type]


def running(world: World | None = None, job_id: str = "j1", limit: int = DAY, **fields: object) -> World:
    """Bring a module job to running."""
    world = world or World().org()
    submit(world, job_id, limit, **fields)
    world.claim(job_id)
    return world


def tell(
    world: World,
    *parts: ItemsReport,
    outcome: Outcome | None = None,
    job_id: str = "j1",
    attempt: int = 1,
    boot: str = "boot-1",
) -> list[AnyEvent]:
    """Report on planned items."""
    report = ReportProgress(
        command_id="p",
        org_id="acme",
        job_id=job_id,
        attempt=attempt,
        worker_id="w",
        boot_id=boot,
        items=parts,
        outcome=outcome,
        actor="worker:w",
    )
    return world.when(report)


def resume(world: World, new_id: str, job_id: str = "j1", **fields: object) -> list[AnyEvent]:
    """Ask for a job that goes on from another one."""
    command = ResumeJob(command_id="z", org_id="acme", job_id=job_id, new=NewJob(job_id=new_id))
    return world.when(msgspec.structs.replace(command, **fields))


def items(world: World, job_id: str = "j1") -> Items:
    """How far a job has come."""
    found = world.job(job_id).items
    assert found is not None
    return found


def code(world: World) -> str:
    """Why the newest command was refused; empty: it was not."""
    if isinstance(world.reply, Refused):
        return world.reply.code
    assert isinstance(world.reply, Done)
    return ""


__all__ = ["DAY", "DONE", "HOUR", "PLAN", "Logged", "chunk", "code", "items", "resume", "running", "submit", "tell"]
