"""The events about a partition of the ledger and about workers, of no job and no org."""

from typing import Annotated

from schemas.event import Event
from schemas.values import doc


class WriterOpened(Event, frozen=True, kw_only=True, gc=False):
    """A decider gained this partition; every earlier writer is fenced off."""

    writer_id: Annotated[str, doc("boot id of the decider process")] = ""


class PositionMarked(Event, frozen=True, kw_only=True, gc=False):
    """Keeps the position of an idle partition fresh, so that a restart skips commands already decided."""

    next_command: Annotated[int, doc("offset of the next command to decide")] = 0


class JobsArchived(Event, frozen=True, kw_only=True, gc=False):
    """Jobs that had ended left the memory of the decider; Postgres has them."""

    up_to: Annotated[int, doc("position: of the ended jobs, those left whose newest event is not behind it")] = 0


class WorkerAlive(Event, frozen=True, kw_only=True, gc=False):
    """A worker process was heard from; the leases of the jobs it runs hold on."""

    worker_id: Annotated[str, doc("name of the worker, stable over restarts")] = ""
    boot_id: Annotated[str, doc("identity of this run of the worker")] = ""
    kind: Annotated[str, doc("kind of tasks it takes: workflow, module or spider")] = ""
    slots: Annotated[int, doc("how many tasks it can run at once")] = 0
    free_slots: Annotated[int, doc("how many of them were free")] = 0


class WorkerLost(Event, frozen=True, kw_only=True, gc=False):
    """A worker was not heard from within its lease, or stopped; it owns nothing any more."""

    worker_id: Annotated[str, doc("name of the worker")] = ""
    boot_id: Annotated[str, doc("identity of the run that ended")] = ""
    stopped: Annotated[bool, doc("true: it said so itself; false: its lease ran out")] = False
