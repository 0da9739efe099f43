"""Chunks of module jobs on a real Postgres: those of a chain in one order, and those that nobody refers to gone."""

from collections.abc import AsyncIterator

import pytest

from projections.postgres.item_reading import come_of
from projections.postgres.read import ReadModel
from services.runtime.item_chunks import packed_lines
from services.runtime.settings import Settings
from services.workers.modules.protocol import ModuleFailed
from services.workers.modules.stored import StoredItems
from tests.event_streams import Play, Stream, entries_of
from tests.integration.projections.conftest import Connection, Project
from tests.item_streams import work
from tests.unit.workers.fakes import MemoryBlobs


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
