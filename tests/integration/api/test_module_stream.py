"""The stream of a module job: Server-Sent Events over a real socket."""

import asyncio
from collections import Counter
from contextlib import AbstractAsyncContextManager

import msgspec
import pytest

from api.modules import feed
from api.routes import module_stream
from services.ledger.reports import Logged
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.api.conftest import Api, StartApi, Tenant, submit
from tests.integration.api.module_work import ModuleWorker, submit_scrap
from tests.integration.api.pocket import PocketLedger
from tests.sse import PATIENCE_SECONDS, EventSource, Message, Stream, streaming

AT = "2026-01-01T00:00:00Z"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ticks that tests can wait for."""
    assert feed.TICK_SECONDS == 2.0
    monkeypatch.setattr(feed, "TICK_SECONDS", 0.05)


@pytest.fixture
def worker(pocket: PocketLedger, with_operator: Settings, acme: Tenant) -> ModuleWorker:
    """A worker of acme's jobs."""
    return ModuleWorker(pocket, with_operator, acme)


def url_of(api: Api, job_id: str) -> str:
    return f"{api.url}/api/jobs/{job_id}/stream"


def watching(api: Api, tenant: Tenant, job_id: str, last_id: str | None = None) -> AbstractAsyncContextManager[Stream]:
    """Open the stream of a module job."""
    return streaming(api.session, url_of(api, job_id), tenant.key, last_id)


def say(pocket: PocketLedger, tenant: Tenant, job_id: str, *messages: str, level: str = "info") -> None:
    """Let a job say something, and Postgres know."""
    items = pocket.job(tenant.partition, job_id).items
    lines = [{"level": level, "message": message, "timestamp": AT} for message in messages]
    private = b"\0" + msgspec.json.encode({"lines": lines})
    logged = Logged(number=items.logged if items else 0, lines=len(lines), private=private)
    pocket.report(tenant.partition, tenant.org_id, job_id, items=(logged,))
    pocket.project()


async def to_the_end(source: EventSource) -> None:
    """Follow until the server says that there is nothing more; one that never says so is told."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        await source.run()


async def test_it_tells_how_far_the_job_has_come_what_it_says_and_once_how_it_ended(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker
) -> None:
    job_id = await submit_scrap(api, acme)
    async with watching(api, acme, job_id) as stream:
        assert stream.response.headers["Content-Type"].startswith("text/event-stream")
        first = await stream.next()  # Postgres does not have it yet
        assert first
        assert (first.event, first.data["status"], first.data["grid_points_count"]) == ("status", "pending", 0)
        await worker.begin(job_id)
        await worker.record(job_id, True, False)
        say(pocket, acme, job_id, "one", "two", level="warn")
        told = await stream.until("log")
        line = {"message": "one", "level": "warn", "timestamp": AT}
        assert told.data == {**line, "message": "one\ntwo", "lines": [line, {**line, "message": "two"}]}
        status = await stream.until("status")
        assert status.data == {
            "id": job_id,
            "status": "running",
            "processed_points": 2,
            "grid_points_count": 6,
            "results_count": 1,
            "error_count": 1,
            "download_available": False,
            "query_stats": {
                "lamp": {"processed": 1, "results": 1, "errors": 0},
                "desk": {"processed": 1, "results": 0, "errors": 1},
            },
        }
        again = await stream.next()  # nothing happened
        assert again == status
        worker.done(job_id)
        pocket.project()
        rest = [message for message in await stream.rest() if message != status]
        assert [(message.event, message.data["status"]) for message in rest] == [("status", "done"), ("done", "done")]
        assert rest[0].data["download_available"]
        end = rest[1].data
        assert (end["id"], end["results_count"], end["duration_seconds"] >= 0) == (job_id, 1, True)


async def test_84_a_stream_that_is_cut_anywhere_loses_nothing_and_repeats_nothing_on_any_instance(
    api: Api, start_api: StartApi, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker
) -> None:
    job_id = await submit_scrap(api, acme)
    await worker.begin(job_id)
    for number in range(3):
        say(pocket, acme, job_id, f"line {number}", f"and {number}")
    async with start_api() as other:
        source = EventSource(api.session, [url_of(api, job_id), url_of(other, job_id)], acme.key, [0, 1, 1, 2, 0, 3])
        following = asyncio.create_task(to_the_end(source))
        for number in range(3, 6):
            await eventually(lambda number=number: len(source.statuses) > number)  # type: ignore[misc]
            say(pocket, acme, job_id, f"line {number}", f"and {number}")
        worker.done(job_id)
        pocket.project()
        await following
    assert source.statuses[-1] == 204
    said = [message for message in source.messages if message.event == "log"]
    assert [message.data["message"] for message in said] == [f"line {n}\nand {n}" for n in range(6)]
    assert [message.event for message in source.messages][-1] == "done"
    ends = [message for message in source.messages if message.data.get("status") == "done"]
    assert [message.event for message in ends] == ["status", "done"]


@pytest.mark.parametrize("cut", [1, 2, 3])
async def test_86_the_stream_of_a_finished_job_says_so_once_then_204_wherever_it_is_cut(
    cut: int, api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker
) -> None:
    job_id = await submit_scrap(api, acme)
    await worker.begin(job_id)
    say(pocket, acme, job_id, "line")
    worker.fail(job_id)
    pocket.project()
    source = EventSource(api.session, [url_of(api, job_id)], acme.key, [cut])
    await to_the_end(source)
    assert source.statuses[-1] == 204
    assert [message.event for message in source.messages] == ["log", "status", "done"]
    assert {message.data["status"] for message in source.messages[1:]} == {"failed"}


async def test_many_viewers_share_one_reading_and_leave_nothing_behind(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Counter[str] = Counter()
    look = feed.ItemFeed._look

    async def counted(self: feed.ItemFeed) -> None:
        asked["looks"] += 1
        await look(self)

    monkeypatch.setattr(feed.ItemFeed, "_look", counted)
    job_id = await submit_scrap(api, acme)
    await worker.begin(job_id)
    pocket.project()

    async def watch() -> list[Message]:
        async with watching(api, acme, job_id) as stream:
            return await stream.rest()

    viewers = [asyncio.create_task(watch()) for _ in range(40)]
    await eventually(lambda: api.streams.open == len(viewers))
    say(pocket, acme, job_id, "line")
    worker.done(job_id)
    pocket.project()
    told = await asyncio.gather(*viewers)
    for messages in told:
        events = [message.event for message in messages if message.data.get("status") != "running"]
        assert events == ["log", "status", "done"]
    assert asked["looks"] <= max(map(len, told))  # each of them is told of, as a status
    await eventually(lambda: (api.streams.open, api.streams.watched) == (0, 0))


async def test_87_a_job_goes_on_whoever_leaves_and_a_deleted_one_is_told(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger, worker: ModuleWorker
) -> None:
    job_id = await submit_scrap(api, acme)
    await worker.begin(job_id)
    pocket.project()
    async with watching(api, acme, job_id) as stream:
        await stream.next()
    await eventually(lambda: api.streams.open == 0)
    async with watching(api, acme, job_id) as stream:
        first = await stream.next()
        assert first
        assert first.data["status"] == "running"
        await api.call("DELETE", f"/api/jobs/{job_id}", acme.key)
        pocket.project()
        error = (await stream.rest())[-1]
        assert (error.event, error.data["code"]) == ("error", "deleted")
    for tenant, which in ((acme, job_id), (rival, job_id), (acme, await submit(api, acme))):
        async with watching(api, tenant, which) as stream:
            assert stream.response.status == 404


async def test_a_position_that_cannot_be_is_told_and_everything_follows(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker
) -> None:
    job_id = await submit_scrap(api, acme)
    await worker.begin(job_id)
    say(pocket, acme, job_id, "line")
    for last_id in (f"{acme.partition + 1}:7", f"{acme.partition}:999999"):
        async with watching(api, acme, job_id, last_id) as stream:
            told = [await stream.next() for _ in range(3)]
            assert [message.event for message in told if message] == ["error", "log", "status"]
    async with watching(api, acme, job_id, "nonsense") as stream:
        assert stream.response.status == 400


async def test_a_stream_has_an_end_after_six_hours_without_done_and_goes_on_by_itself(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert module_stream.MOST_SECONDS == 6 * 3600
    monkeypatch.setattr(module_stream, "MOST_SECONDS", 0.1)
    job_id = await submit_scrap(api, acme)
    await worker.begin(job_id)
    pocket.project()
    async with watching(api, acme, job_id) as stream:
        assert {message.event for message in await stream.rest()} == {"status"}
    async with watching(api, acme, job_id, stream.last_id) as stream:
        assert stream.response.status == 200
