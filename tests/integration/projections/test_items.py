"""Chunks of module jobs on a real Postgres: those of a chain in one order, and those that nobody refers to gone."""

from collections.abc import AsyncIterator

import pytest

from projections.postgres.item_reading import UNBOUNDED, come_of
from projections.postgres.read import ReadModel
from services.runtime.item_chunks import packed_lines
from services.runtime.settings import Settings
from services.workers.modules.protocol import ModuleFailed
from services.workers.modules.stored import StoredItems
from tests.event_streams import Play, Stream, entries_of
from tests.integration.projections.conftest import Connection, Project
from tests.item_streams import work
from tests.spider_streams import LINES_BYTES, crawl, run_spider
from tests.unit.workers.fakes import MemoryBlobs

TABLES = ("job_logs", "job_stats", "item_chunks")


@pytest.fixture
async def model(settings: Settings) -> AsyncIterator[ReadModel]:
    async with ReadModel(settings.postgres, max_connections=2) as model:
        yield model


def chain(stream: Stream, links: int) -> list[Play]:
    """Jobs that go on from one another: each records 5 items, then 4 of which the last one errors."""
    jobs: list[Play] = []
    for _ in range(links):
        job = stream.resume(jobs[-1]) if jobs else stream.submit(4, module=True)
        stream.dispatch(job)
        stream.claim(job)
        for number in (3, 3, 4, 2):  # a plan, three items, four of which one errors, a line
            work(stream, job, number)
        stream.end_early(job, 1)
        jobs.append(job)
    return jobs


async def test_the_last_link_of_a_chain_has_every_row_and_outcome_once(project: Project, model: ReadModel) -> None:
    stream = Stream().open()
    jobs = chain(stream, 3)
    project(entries_of(stream))
    last = await model.head(jobs[-1].org_id, jobs[-1].job_id)
    assert last is not None
    come = come_of(last)
    assert (come.link, come.chain_id, come.source_job_id) == (3, jobs[0].job_id, jobs[1].job_id)
    pieces = await model.items.of_rows(last, 0, come.rows)
    assert [piece.first_row for piece in pieces] == [sum(p.rows for p in pieces[:n]) for n in range(len(pieces))]
    assert sum(piece.rows for piece in pieces) == come.rows
    items = await model.items.of_items(last, 0)
    seen = [n for piece in items for n in range(piece.first_item, min(piece.next_item, piece.until_item))]
    assert seen == list(range(come.next_item))
    for offset in range(come.rows):
        [piece] = await model.items.of_rows(last, offset, 1)
        assert piece.first_row <= offset < piece.first_row + piece.rows
    assert await model.items.links(last.org_id, jobs[0].job_id) == 3
    said = await model.items.said(last.org_id, last.job_id, 0, 10)
    assert [each.number for each in said] == [0]
    assert said[0].lines[0]["level"] == "info"


async def test_chunks_stay_until_no_job_of_the_chain_has_results(
    project: Project, model: ReadModel, database: Connection
) -> None:
    stream = Stream().open()
    jobs = chain(stream, 2)
    stream.delete(jobs[0])
    project(entries_of(stream))
    last = await model.head(jobs[1].org_id, jobs[1].job_id)
    assert last is not None
    assert sum(piece.rows for piece in await model.items.of_rows(last, 0, 1_000)) == come_of(last).rows
    more = Stream().open()
    jobs = chain(more, 2)
    more.delete(jobs[0])
    more.expire(jobs[1])
    project(entries_of(more)[len(stream.events) :])
    assert database.execute("SELECT count(*) FROM item_chunks").fetchone() == (0,)


async def test_a_module_gets_the_results_of_another_job_of_its_org(settings: Settings, project: Project) -> None:
    stream = Stream().open()
    jobs = chain(stream, 2)
    project(entries_of(stream))
    rows = packed_lines([b'{"n":1}', b'{"n":2}'])
    stored = StoredItems(settings.postgres, MemoryBlobs())
    with pytest.raises(ModuleFailed, match="no job"):
        [row async for row in stored.of("globex", jobs[1].job_id)]
    async with ReadModel(settings.postgres) as model:
        last = await model.head(jobs[1].org_id, jobs[1].job_id)
        assert last is not None
        pieces = await model.items.of_rows(last, 0, 1_000)
    stored = StoredItems(settings.postgres, MemoryBlobs({piece.items_ref: rows for piece in pieces}))
    assert [row async for row in stored.of(jobs[1].org_id, jobs[1].job_id)] == [b'{"n":1}', b'{"n":2}'] * len(pieces)
    with pytest.raises(ModuleFailed, match="purged"):
        [row async for row in StoredItems(settings.postgres, MemoryBlobs()).of(jobs[1].org_id, jobs[1].job_id)]


async def test_a_spider_has_its_items_by_row_its_lines_and_its_newest_statistics(
    project: Project, model: ReadModel
) -> None:
    stream = Stream().open()
    job = run_spider(stream)
    crawl(stream, job, 2)
    project(entries_of(stream))
    row = await model.head(job.org_id, job.job_id)
    assert row is not None
    come = come_of(row)
    assert (come.rows, come.scraped, come.chunks, come.planned) == (9, 10, 2, 0)
    assert [(each.chunk, each.first_row) for each in await model.items.of_rows(row, 0, come.rows)] == [(0, 0), (1, 4)]
    [piece] = await model.items.of_rows(row, 5, 1)
    assert (piece.chunk, piece.rows) == (1, 5)
    said = await model.items.said(job.org_id, job.job_id, 0, 10)
    assert [(each.number, each.lines, each.lines_bytes) for each in said] == [
        (0, [], LINES_BYTES),
        (1, [], LINES_BYTES),
    ]
    assert [each.levels for each in said] == [[0, 3, 0, 0, 0], [0, 3, 1, 0, 0]]
    assert all(each.lines_ref for each in said)
    assert await model.items.said_last(job.org_id, job.job_id, UNBOUNDED, 10) == said[::-1]
    assert await model.items.said_last(job.org_id, job.job_id, said[1].position, 10) == said[:1]
    counted = await model.items.counted(job.org_id, job.job_id)
    assert counted is not None
    assert (counted.number, counted.scraped, counted.final, counted.routed) == (1, 10, False, 1)
    assert counted.stats["item_scraped_count"] == 9
    assert await model.items.counted("globex", job.job_id) is None


@pytest.mark.parametrize("gone", ["expire", "delete"])
async def test_what_a_spider_said_and_counted_goes_with_its_items_and_what_a_module_said_stays_until_it_is_deleted(
    project: Project, database: Connection, gone: str
) -> None:
    stream = Stream().open()
    [module], spider = chain(stream, 1), run_spider(stream)
    stream.end_early(spider, 1)
    project(entries_of(stream))
    played = len(stream.events)
    for job in (spider, module):
        getattr(stream, gone)(job)
    project(entries_of(stream)[played:])
    left = {table: database.execute(f"SELECT job_id FROM {table}".encode()).fetchall() for table in TABLES}
    assert left == {"job_logs": [(module.job_id,)] if gone == "expire" else [], "job_stats": [], "item_chunks": []}
