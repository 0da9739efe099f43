"""Every query of the API on the read model, as the API asks it, on one that is full; and how Postgres answers it."""

import inspect
from collections.abc import Awaitable, Callable, Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

import psycopg
from msgspec import Struct
from psycopg import AsyncCursor

from projections.migrate import SCHEMA
from projections.postgres.item_reading import ItemReads
from projections.postgres.read import ReadModel
from projections.postgres.rows import NEVER, JobState, instant
from projections.postgres.spider_listing import STATES
from projections.postgres.spider_reading import SpiderReads
from projections.postgres.spider_views import SpiderFilters
from projections.postgres.views import Cursor, Filters, Replayable
from services.runtime.sql import blocks

FILL = blocks(Path(__file__).with_name("read_plans.sql"))
ORG = "acme"  # has nearly all of the jobs: reading all of them for a page is what must not happen
MIDDLE = instant(1_750_000_000_000_000)
LIMIT = 50
GIVEN: dict[str, Any] = {
    "statuses": ("failed", "timed_out"),
    "workflow_id": "w3",
    "domain": "d3.example",
    "schedule_id": "s3",
    "error_type": "timed_out",
    "submitted_after": MIDDLE,
    "submitted_before": NEVER,
}
PLACES = ["hook-1", "hook-2", "none"]
BARREN = "d4.example"  # its jobs are all pending
URL = "https://d.example/202"
MILLION = f"{1:036}"  # has a million planned items, in a thousand chunks
PROJECT = "shop-7"  # has one in 40 of the spider jobs
NO_QUERIES = {"open", "close", "reached"}
SMALL = {"checkpoints", "org_usage", "active_version"}  # a row for each partition or org
Ask = Callable[[ReadModel], Awaitable[object]]


class Asked(Struct, frozen=True):
    """A query as it was sent, and the nodes of its plan."""

    case: str
    query: str
    nodes: list[dict[str, Any]]
    milliseconds: float

    @property
    def whole_tables(self) -> list[str]:
        """The large tables that were read from end to end."""
        scans = [node for node in self.nodes if node["Node Type"] in ("Seq Scan", "Parallel Seq Scan")]
        return [node["Relation Name"] for node in scans if node["Relation Name"] not in SMALL]

    @property
    def rows(self) -> int:
        """How many rows of tables were looked at, those that a filter dropped included."""
        return sum(_looked_at(node) for node in self.nodes if "Relation Name" in node)

    @property
    def pages(self) -> int:
        """How many pages of 8 KiB were looked at, in memory or on disk."""
        return int(self.nodes[0]["Shared Hit Blocks"] + self.nodes[0]["Shared Read Blocks"])

    @property
    def indexes(self) -> list[str]:
        """The indexes that were used."""
        return sorted({node["Index Name"] for node in self.nodes if "Index Name" in node})


def cases(one: str, many: list[str]) -> Iterator[tuple[str, Ask]]:
    """Yield every query, each by the method that asks it; `one` and `many` are ids of jobs that are there."""
    yield "job", lambda model: model.job(ORG, one)
    yield "job of many", lambda model: model._details_of([(ORG, each) for each in many])
    yield "progress", lambda model: model.progress(ORG, one, 0, 1)
    yield "head", lambda model: model.head(ORG, one)
    yield "statuses", lambda model: model.statuses(ORG, many)
    yield "deleted", lambda model: model.deleted(ORG, many)
    yield "usage", lambda model: model.usage(ORG)
    yield "transactions", lambda model: model.transactions(ORG, 2**62, LIMIT)
    yield "fires", lambda model: model.fires(ORG, "s3", 2**62, LIMIT)
    yield "last_runs", lambda model: model.last_runs(ORG, [f"s{number}" for number in range(LIMIT)])
    yield "extraction", lambda model: model.extraction(ORG, one)
    yield "expired_at", lambda model: model.expired_at(ORG, one)
    yield "checkpoints", lambda model: model.checkpoints()
    yield "deliveries_to", lambda model: model.deliveries_to(ORG, PLACES, LIMIT)
    million = JobState(org_id=ORG, job_id=MILLION, status="completed", seq=1, position=1, cause=0)
    yield "of_rows", lambda model: model.items.of_rows(million, 450_000, 500)
    yield "of_items", lambda model: model.items.of_items(million, 500_000, LIMIT)
    yield "said", lambda model: model.items.said(ORG, MILLION, 990, LIMIT)
    yield "said_last", lambda model: model.items.said_last(ORG, MILLION, 2**62, LIMIT)
    yield "counted", lambda model: model.items.counted(ORG, MILLION)
    yield "links", lambda model: model.items.links(ORG, MILLION)
    yield from _of_spiders(one, many)
    for job_id in (None, one):
        yield f"replayable{' of a job' * bool(job_id)}", _replayable(job_id)
    for domain, url in product(("", "d2.example", BARREN), ("", URL, "https://no.example/")):
        name = f"extractions{' of domain' * bool(domain)}{' of url' * bool(url)}"
        yield name + ", none" * (domain == BARREN or "no." in url), _extractions(domain, url)
    for size in range(len(GIVEN) + 1):
        for names, oldest_first in product(combinations(GIVEN, size), (False, True)):
            for after in (None, Cursor(MIDDLE, "x", oldest_first)):
                name = f"page by {', '.join(names) or 'nothing'}{', oldest first' * oldest_first}"
                yield name + ", behind a cursor" * bool(after), _page(names, after, oldest_first)


def _of_spiders(one: str, many: list[str]) -> Iterator[tuple[str, Ask]]:
    yield "spiders.job", lambda model: model.spiders.job(ORG, one)
    yield "spiders.several", lambda model: model.spiders.several(ORG, many)
    yield "spiders.org_of", lambda model: model.spiders.org_of([ORG, "small"], one)
    yield "spiders.spiders", lambda model: model.spiders.spiders(ORG, PROJECT)
    for project, state in product((None, PROJECT), (None, *STATES)):
        name = f"spiders.page{' of project' * bool(project)}{f' of {state}' * bool(state)}"
        yield name, _spider_page(SpiderFilters(project, (state,) if state else ()))


def _spider_page(filters: SpiderFilters) -> Ask:
    return lambda model: model.spiders.page(ORG, filters, after=Cursor(MIDDLE, "x"), limit=LIMIT)


def _replayable(job_id: str | None) -> Ask:
    which = Replayable(
        destination_ids=PLACES,
        statuses=["acked", "dead_lettered"],
        job_id=job_id,
        since=MIDDLE,
        until=NEVER,
        after_job="",
        after_destination="",
    )
    return lambda model: model.replayable(ORG, which, LIMIT)


def _extractions(domain: str, url: str) -> Ask:
    return lambda model: model.extractions(ORG, domain=domain, url=url)


def _page(names: tuple[str, ...], after: Cursor | None, oldest_first: bool) -> Ask:
    filters = Filters(**{name: GIVEN[name] for name in names})
    return lambda model: model.page(ORG, filters, after=after, oldest_first=oldest_first)


def _looked_at(node: dict[str, Any]) -> int:
    dropped = sum(node.get(name, 0) for name in ("Rows Removed by Filter", "Rows Removed by Index Recheck"))
    return round(float(node["Actual Rows"] + dropped) * float(node["Actual Loops"]))


def unasked(names: set[str]) -> set[str]:
    """Return the queries of ReadModel, ItemReads and SpiderReads that are in none of the cases of these names."""
    methods = _queries(ReadModel) | _queries(ItemReads) | {f"spiders.{name}" for name in _queries(SpiderReads)}
    return methods - NO_QUERIES - {name.split()[0].rstrip(",") for name in names}


def _queries(reads: type) -> set[str]:
    found = {name for name, each in vars(reads).items() if inspect.iscoroutinefunction(inspect.unwrap(each))}
    return {name for name in found if not name.startswith("_")}


def fill(connection: psycopg.Connection[Any], jobs: int) -> None:
    """Fill a read model and the results beside it, in the schema that readers follow."""
    connection.execute(f"SET search_path TO {SCHEMA}")
    for statement in FILL.values():
        connection.execute(statement, {"jobs": jobs} if "%(jobs)s" in statement else None)


async def explained(dsn: str, asks: Iterator[tuple[str, Ask]]) -> list[Asked]:
    """Ask, and let Postgres explain every statement that was sent by running it once more."""
    sent: list[tuple[Any, Any]] = []

    class Heard(AsyncCursor[Any]):
        async def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            sent.append((query, params))
            return await super().execute(query, params, **options)

    found: list[Asked] = []
    model = ReadModel(dsn, 1, cursor_factory=Heard)
    async with model, await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        await connection.execute(f"SET search_path TO {SCHEMA}")
        for name, ask in asks:
            sent.clear()
            await ask(model)
            found += [asked for query, values in sent if (asked := await _explain(connection, name, query, values))]
    return found


async def _explain(connection: psycopg.AsyncConnection[Any], name: str, query: Any, values: Any) -> Asked | None:
    text = query.decode() if isinstance(query, bytes) else query if isinstance(query, str) else query.as_string()
    if not text.lstrip().upper().startswith(("SELECT", "WITH")) or "active_version" in text:
        return None
    explain = b"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + text.encode()
    told = await (await connection.execute(explain, values)).fetchone()
    assert told is not None
    waiting, nodes = [told[0][0]["Plan"]], []
    while waiting:
        node = waiting.pop(0)
        nodes.append(node)
        waiting += node.get("Plans", [])
    return Asked(name, text, nodes, told[0][0]["Execution Time"])
