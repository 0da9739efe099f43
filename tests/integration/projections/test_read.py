"""The queries of the API."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.postgres import positions
from projections.postgres.batch import batch_of
from projections.postgres.read import ReadModel
from projections.postgres.rows import instant
from projections.postgres.store import Store
from projections.postgres.views import Cursor, Filters
from schemas.events import DeliveryAcked
from services.runtime.settings import Settings
from tests.event_streams import DESTINATIONS, Stream, entries_of
from tests.integration.projections.conftest import Connection, Project


@pytest.fixture
async def model(settings: Settings) -> AsyncIterator[ReadModel]:
    async with ReadModel(settings.postgres, max_connections=2) as model:
        yield model


async def test_a_job_comes_with_everything_about_it(project: Project, model: ReadModel) -> None:
    stream = Stream().open()
    job = stream.submit(0, DESTINATIONS)
    stream.dispatch(job)
    stream.claim(job)
    stream.visit(job, 3)
    stream.extract(job)
    stream.ack(job, "hook")
    stream.ack(job, "internal")
    project(entries_of(stream))
    detail = await model.job(job.org_id, job.job_id)
    assert detail is not None
    assert (detail.job.status, detail.job.input, detail.job.metadata) == ("completed", {"n": 0}, {"tag": "a�b"})
    assert detail.job == await model.head(job.org_id, job.job_id)
    assert [each.seq for each in detail.transitions] == list(range(1, job.seq + 1))
    assert [(each.step, each.message) for each in detail.trace] == [(0, "try � later")]
    assert [each.destination_id for each in detail.deliveries] == ["hook", "internal", "lake"]
    acks = [UUID(bytes=e.header.event_id) for e in stream.events if isinstance(e.event, DeliveryAcked)]
    assert (detail.gate.expected, detail.gate.acked, detail.gate.pending, detail.gate.opened_by) == (2, 2, [], acks)
    assert detail.gate.opened_at == detail.transitions[-2].occurred_at


async def test_another_orgs_job_does_not_exist(project: Project, model: ReadModel) -> None:
    stream = Stream().open()
    job = stream.submit(0)
    project(entries_of(stream))
    assert await model.job("globex", job.job_id) is None
    assert await model.head("globex", job.job_id) is None
    assert await model.statuses("globex", [job.job_id]) == {}
    assert (await model.page("globex")).jobs == []
    assert (await model.extractions("globex")).pending == 0


async def test_pages_show_each_job_once_newest_first_while_new_ones_arrive(project: Project, model: ReadModel) -> None:
    stream = Stream(orgs=("acme",)).open()
    jobs = [stream.submit(number).job_id for number in range(25)]
    project(entries_of(stream))
    seen: list[str] = []
    page = await model.page("acme", limit=10)
    while True:
        seen += [job.job_id for job in page.jobs]
        stream.submit()
        project(entries_of(stream))
        if page.next is None:
            break
        page = await model.page("acme", after=Cursor.decode(page.next.encode()), limit=10)
    assert seen == jobs[::-1]


async def test_a_page_of_one_status_holds_no_other(project: Project, model: ReadModel) -> None:
    stream = Stream(orgs=("acme",)).open()
    for number in range(6):
        job = stream.submit(number)
        if number % 2:
            stream.end_early(job, 0)
    project(entries_of(stream))
    page = await model.page("acme", Filters(statuses=("failed",)), limit=3)
    assert [job.status for job in page.jobs] == ["failed"] * 3
    assert page.next is None
    assert len((await model.page("acme", Filters(statuses=("pending",)))).jobs) == 3


async def test_many_statuses_come_in_one_call(project: Project, model: ReadModel) -> None:
    stream = Stream(orgs=("acme",)).open()
    one, other = stream.submit(), stream.submit()
    stream.end_early(other, 0)
    project(entries_of(stream))
    found = await model.statuses("acme", [one.job_id, other.job_id, "unknown"])
    assert {job_id: status.status for job_id, status in found.items()} == {
        one.job_id: "pending",
        other.job_id: "failed",
    }


async def test_jobs_waiting_for_their_acks_are_counted_by_domain_and_url(project: Project, model: ReadModel) -> None:
    stream = Stream(orgs=("acme",)).open()
    for _ in range(2):
        job = stream.submit(5)
        stream.dispatch(job)
        stream.claim(job)
        stream.extract(job)
    project(entries_of(stream))
    assert (await model.extractions("acme")).pending == 2
    assert (await model.extractions("acme", domain="shop.example", url="https://shop.example/5")).pending == 2
    assert (await model.extractions("acme", domain="other.example")).pending == 0


async def test_who_waits_for_a_position_is_told_when_it_is_folded(
    store: Store, settings: Settings, model: ReadModel
) -> None:
    stream = Stream().open()
    batch = batch_of(store.checkpoints(range(settings.partitions)), entries_of(stream))
    assert not await model.reached(0, 3, 0.0)
    waiting = asyncio.create_task(model.reached(0, 3, 30.0))
    await asyncio.to_thread(store.write, batch)
    assert await waiting
    assert await model.reached(0, 2, 30.0)
    assert (await model.checkpoints())[0].position == 3


async def test_who_comes_later_knows_what_was_folded_before(project: Project, settings: Settings) -> None:
    project(entries_of(Stream().open()))
    async with ReadModel(settings.postgres) as model:
        assert await model.reached(0, 3, 30.0)


async def test_positions_follow_the_version_that_becomes_active(
    project: Project, settings: Settings, database: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(positions, "RENEW_SECONDS", 0.1)
    project(entries_of(Stream().open()))
    async with ReadModel(settings.postgres) as model:
        assert await model.reached(0, 3, 30.0)
        database.execute("CREATE SCHEMA ledger_v2")
        database.execute("CREATE TABLE ledger_v2.checkpoints AS SELECT * FROM ledger_v1.checkpoints")
        database.execute("UPDATE ledger_v2.checkpoints SET position = 7 WHERE partition = 0")
        database.execute("UPDATE jobledger.active_version SET schema_name = 'ledger_v2'")
        assert await model.reached(0, 7, 30.0)


@given(st.integers(min_value=0, max_value=4_000_000_000_000_000), st.text(max_size=60).filter(lambda t: "\0" not in t))
def test_a_cursor_survives_the_url(at: int, job_id: str) -> None:
    cursor = Cursor(instant(at), job_id)
    assert Cursor.decode(cursor.encode()) == cursor


@pytest.mark.parametrize("text", ["", "x", "ä", "AAAA", "_" * 12, "f" * 40, "AAAAAAAAAAAA" + "=" * 9])
def test_what_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a cursor"):
        Cursor.decode(text)
