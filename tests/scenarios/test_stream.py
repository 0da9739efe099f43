"""Scenarios of section "Query, stream, export" that are about streams, on API instances over real sockets."""

import asyncio
import threading
from dataclasses import replace

import aiohttp
import msgspec

from schemas.events import JobEvent
from services.ledger.reports import Extracted, NodeReport
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.api.conftest import Api, StartApi, Tenant, running, submit
from tests.integration.api.pocket import PocketLedger
from tests.relay import relaying
from tests.sse import EventSource, streaming

EXTRACTED = Extracted(result_ref="blob/result", extraction_ref="blob/extraction")
NODE = NodeReport(step=0, node_id="fetch", node_kind="service", provider="direct", status_code=200, latency_ms=12)
VIEWERS = 500
BASE_SECONDS = 30.0
# Of scenario 87, ten times as fast: a node silent for 90 s, a proxy that cuts after 60 s, a keepalive of 10 s.
SILENT_SECONDS, IDLE_SECONDS, KEEPALIVE_SECONDS = 9.0, 6.0, 1.0


def _path(job_id: str) -> str:
    return f"/api/v1/jobs/{job_id}/stream"


def _in_the_log(pocket: PocketLedger, job_id: str) -> list[str]:
    """The places of a job's events, up to the one that ends it."""
    places: list[str] = []
    for entry in pocket.entries:
        if entry.recorded and isinstance(entry.recorded.event, JobEvent) and entry.recorded.event.job_id == job_id:
            places.append(f"{entry.partition}:{entry.position}")
            if entry.event_type in ("JobCompleted", "JobFailed", "JobCancelled"):
                break
    return places


async def test_84_cut_five_times_once_before_any_event_the_union_is_the_log_without_repeats(
    api: Api, start_api: StartApi, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme)
    async with start_api() as other:
        urls = [instance.url + _path(job_id) for instance in (api, other)]
        start = f"{acme.partition}:0"  # from the job's first event
        source = EventSource(api.session, urls, acme.key, drops=(0, 1, 2, 1, 3), last_id=start)
        following = asyncio.create_task(source.run())
        pocket.run(acme.partition, acme.org_id, job_id)
        for step in range(8):
            await eventually(lambda step=step: len(source.messages) > step, 30)  # type: ignore[misc]
            pocket.report(acme.partition, acme.org_id, job_id, msgspec.structs.replace(NODE, step=step))
            if step % 3 == 0:
                pocket.project()
        pocket.finish(acme.partition, acme.org_id, job_id, EXTRACTED)
        pocket.ack(acme.partition, acme.org_id, job_id)
        pocket.project()
        await asyncio.wait_for(following, 60)
    assert source.statuses == [200] * 6 + [204]
    assert source.ids == _in_the_log(pocket, job_id)
    assert [message.event for message in source.messages].count("done") == 1
    assert {message.event for message in source.messages} == {"event", "done"}  # nothing was reset on the way


async def test_86_an_event_source_gets_done_once_then_204_and_stops(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme)
    source = EventSource(api.session, [api.url + _path(job_id)], acme.key)
    following = asyncio.create_task(source.run())
    await eventually(lambda: len(source.messages) == 1)
    pocket.extract(acme.partition, acme.org_id, job_id, EXTRACTED)
    pocket.ack(acme.partition, acme.org_id, job_id)
    pocket.project()
    await asyncio.wait_for(following, 60)
    assert source.statuses == [200, 204]
    assert [message.event for message in source.messages].count("done") == 1
    late = EventSource(api.session, [api.url + _path(job_id)], acme.key)
    await asyncio.wait_for(late.run(), 60)
    assert (late.statuses, late.messages) == ([204], [])


async def test_86_500_clients_that_vanish_leave_nothing_behind_within_30_s(
    with_operator: Settings, acme: Tenant, api: Api, pocket: PocketLedger, session: aiohttp.ClientSession
) -> None:
    jobs = [await submit(api, acme, f"https://shop.example/{number}") for number in range(5)]
    async with running(replace(with_operator, stream_keepalive_seconds=1.0), pocket, session) as watched:
        tasks, threads = len(asyncio.all_tasks()), threading.active_count()
        host, port = watched.url.removeprefix("http://").split(":")
        clients = []
        for number in range(VIEWERS):
            _, client = await asyncio.open_connection(host, int(port))
            asked = (
                f"GET {_path(jobs[number % len(jobs)])} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {acme.key}\r\n\r\n"
            )
            client.write(asked.encode())
            clients.append(client)
        await eventually(lambda: watched.streams.open == VIEWERS, 60)
        assert watched.streams.watched == len(jobs)
        assert threading.active_count() == threads  # no reader of the log, and no thread, for any of them
        for client in clients:
            client.transport.abort()
        await eventually(lambda: watched.streams.open == 0, BASE_SECONDS)
        await eventually(lambda: len(asyncio.all_tasks()) <= tasks, BASE_SECONDS)
        assert watched.streams.watched == 0
        assert watched.tail.watched == 0
        assert watched.connections() <= 1  # of the client that made the jobs
        assert threading.active_count() == threads


async def test_87_a_silent_node_behind_a_proxy_with_an_idle_limit_keeps_its_viewer_and_a_dropped_one_changes_nothing(
    with_operator: Settings, api: Api, acme: Tenant, pocket: PocketLedger, session: aiohttp.ClientSession
) -> None:
    job_id = await submit(api, acme)
    quick = replace(with_operator, stream_keepalive_seconds=KEEPALIVE_SECONDS)
    async with running(quick, pocket, session) as kept, relaying(kept.url, IDLE_SECONDS) as proxy:
        pocket.run(acme.partition, acme.org_id, job_id)
        async with streaming(session, proxy.url + _path(job_id), acme.key) as stream:
            snapshot = await stream.next()
            assert snapshot
            assert snapshot.data["status"] == "running"
            more = asyncio.create_task(stream.next(SILENT_SECONDS + 60))
            await eventually(lambda: stream.comments >= SILENT_SECONDS / KEEPALIVE_SECONDS, SILENT_SECONDS + 60)
            pocket.report(acme.partition, acme.org_id, job_id, NODE)
            message = await more
            assert message
            assert message.data["type"] == "NodeFinished"
            assert proxy.idle_cuts == 0
            proxy.cut()
            assert await stream.next() is None
        await eventually(lambda: kept.streams.open == 0, 30)
        pocket.finish(acme.partition, acme.org_id, job_id, EXTRACTED)
        pocket.ack(acme.partition, acme.org_id, job_id)
        pocket.project()
        job = (await kept.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json
        assert [entry["status"] for entry in job["transitions"]] == [
            "pending",
            "running",
            "extraction_done",
            "completed",
        ]
        assert not any(entry.event_type in ("JobCancelled", "JobReleased") for entry in pocket.entries)


async def test_87_the_same_proxy_cuts_a_stream_that_stays_silent(
    with_operator: Settings, api: Api, acme: Tenant, pocket: PocketLedger, session: aiohttp.ClientSession
) -> None:
    job_id = await submit(api, acme)
    silent = replace(with_operator, stream_keepalive_seconds=60.0)  # no setting that a process would take
    async with running(silent, pocket, session) as api_, relaying(api_.url, 0.5) as proxy:
        async with streaming(session, proxy.url + _path(job_id), acme.key) as stream:
            assert (await stream.next() or stream).event == "snapshot"  # type: ignore[union-attr]
            assert await stream.next() is None
        assert proxy.idle_cuts == 1
