"""How far each reader of a stack lies behind, by partition: asked of broker and Postgres, so that a reader that stands
still has a lag too; only what a process keeps in memory (the API's tail, the decider's inbox) is asked of itself."""

import asyncio
from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from services.cli.stores import postgres_said

if TYPE_CHECKING:
    from services.localstack.status import ProcessStatus
    from services.runtime.settings import Settings

CONNECT_SECONDS = 5
CONFIGURED = b"SELECT DISTINCT kind FROM config.destinations WHERE enabled"
IN_MEMORY = {  # process: what it reads, in which unit, and which of its parts tells
    "decider": ("commands", "offsets", "commands"),
    "projections-heads": ("events", "positions", "heads"),
    "snapshotter": ("events", "positions", "snapshotter"),
    "api": ("tail", "offsets", "ledger"),
}


NOT_RUNNING = "nobody writes to this kind of warehouses here: see JOBLEDGER_LOCAL_WRITERS"


class Place(Struct, frozen=True):
    """Where a reader stands in one partition, and where the log ends: positions of events or offsets of records."""

    partition: int
    at: int
    head: int
    lag: int


class ReaderLag(Struct, frozen=True):
    """One reader. `lag` None: not known now, `reason` says why; with a lag it says that the process does not run."""

    process: str
    reads: str  # events, or the topic
    unit: str  # positions (events exactly) or offsets (records, and markers of transactions between them)
    lag: int | None = None
    places: tuple[Place, ...] = ()
    reason: str = ""


def lags_of(settings: "Settings", processes: "Iterable[ProcessStatus]") -> list[ReaderLag]:
    """Return the lag of every reader among these processes."""
    from services.runtime.errors import RuntimeFault

    names = {process.name: process for process in processes}
    found = _projections(settings, names)
    missing = _missing(settings, names)
    for process, topic, group in _groups(settings):
        if process in names or process in missing:
            try:
                lag = asyncio.run(_group(settings, process, topic, group))
                found.append(replace(lag, reason=NOT_RUNNING if process in missing else ""))
            except RuntimeFault as fault:
                found.append(ReaderLag(process, topic, "offsets", reason=str(fault)))
    return found + [_told(names[name]) for name in IN_MEMORY if name in names]


def _projections(settings: "Settings", running: Container[str]) -> list[ReaderLag]:
    import psycopg

    from projections.checkpoints import clickhouse_checkpoints, postgres_checkpoints
    from projections.lag import head_positions
    from services.runtime.ends import committed_end
    from services.runtime.errors import RuntimeFault
    from services.runtime.registry import decoder
    from services.runtime.topics import events

    read_models = {"projections": postgres_checkpoints, "projections-clickhouse": clickhouse_checkpoints}
    names = [name for name in read_models if name in running]
    try:
        ends = committed_end(settings, events(settings), range(settings.partitions))
        heads = head_positions(settings, decoder(settings), ends)
        folded = {name: read_models[name](settings.postgres) for name in names}
    except (RuntimeFault, psycopg.Error) as fault:
        reason = postgres_said(fault) if isinstance(fault, psycopg.Error) else str(fault)
        return [ReaderLag(name, "events", "positions", reason=reason) for name in names]
    return [_lag(name, "events", "positions", heads, folded[name]) for name in names]


def _groups(settings: "Settings") -> list[tuple[str, str, str]]:
    """Return process, topic and consumer group of everything that runs on Faust."""
    from services.localstack.services import WRITERS
    from services.runtime.topics import deliveries, tasks, workers_group, writers_group

    return [("workers", tasks(settings, "workflow"), workers_group(settings, "workflow"))] + [
        (process, deliveries(settings, kind), writers_group(settings, kind)) for process, kind in WRITERS.items()
    ]


def _missing(settings: "Settings", running: Container[str]) -> set[str]:
    """Return writers that do not run although orgs have warehouses of their kind; none where Postgres does not tell."""
    import psycopg

    from services.localstack.services import WAREHOUSE_WRITERS

    try:
        with psycopg.connect(settings.postgres, connect_timeout=CONNECT_SECONDS) as connection:
            kinds = {kind for (kind,) in connection.execute(CONFIGURED)}
    except psycopg.Error:
        return set()
    wanted = {service.name for kind, service in WAREHOUSE_WRITERS.items() if kind in kinds}
    return {name for name in wanted if name not in running}


async def _group(settings: "Settings", process: str, topic: str, group: str) -> ReaderLag:
    from services.runtime.group_lag import GroupLag

    lag = GroupLag(settings, topic, group)
    await lag.renew(range(settings.partitions * settings.task_spread))
    return _lag(process, topic, "offsets", lag.heads, lag.done)


def _lag(process: str, reads: str, unit: str, heads: Mapping[int, int], stands: Mapping[int, int]) -> ReaderLag:
    places = [
        Place(partition, at := stands.get(partition, 0), head, max(0, head - at))
        for partition, head in sorted(heads.items())
    ]
    return ReaderLag(process, reads, unit, sum(place.lag for place in places), tuple(places))


def _told(process: "ProcessStatus") -> ReaderLag:
    """What a process says of a position that nobody else knows."""
    reads, unit, part = IN_MEMORY[process.name]
    lag = process.parts.get(part, {}).get("lag")
    if isinstance(lag, int):
        return ReaderLag(process.name, reads, unit, lag)
    return ReaderLag(process.name, reads, unit, reason=process.reason or "it does not tell")
