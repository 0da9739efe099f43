"""The stream of a job: Server-Sent Events over a real socket."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import replace

import aiohttp
import msgspec
import psycopg
import pytest

from services.cli.following import follow
from services.ledger.reports import Extracted, Failed, NodeReport
from services.runtime.ids import uuid7
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.api.conftest import Api, StartApi, Tenant, running, submit
from tests.integration.api.pocket import PocketLedger
from tests.sse import Message, Stream, streaming

EXTRACTED = Extracted(result_ref="blob/result", extraction_ref="blob/extraction")
FETCH = NodeReport(step=0, node_id="fetch", node_kind="service", provider="direct", status_code=200, latency_ms=12)


def watching(api: Api, tenant: Tenant, job_id: str, last_id: str | None = None) -> AbstractAsyncContextManager[Stream]:
    """Open the stream of a job."""
    return streaming(api.session, f"{api.url}/api/v1/jobs/{job_id}/stream", tenant.key, last_id)


async def test_it_begins_with_the_job_as_get_answers_it_and_then_tells_each_event(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme)
    async with watching(api, acme, job_id) as stream:
        answered = stream.response
        assert answered.status == 200
        assert answered.headers["Content-Type"].startswith("text/event-stream")
        assert answered.headers["Cache-Control"] == "no-cache, no-transform"
        assert answered.headers["X-Accel-Buffering"] == "no"
        assert answered.headers["X-Request-Id"]
        assert answered.headers["RateLimit"]
        assert "Content-Encoding" not in answered.headers  # the client would have taken gzip
        assert "\njobledger_streams_open 1.0\n" in (await api.call("GET", "/metrics")).body.decode()
        snapshot = await stream.next()
        read = await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)
        assert snapshot == Message("snapshot", read.headers["Ledger-Position"], read.json)
        assert stream.retry >= 1000

        pocket.run(acme.partition, acme.org_id, job_id, FETCH)
        claimed, finished = await stream.next(), await stream.next()
        assert claimed
        assert finished
        job = (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json
        assert (claimed.event, claimed.data["type"], claimed.data["trace"]) == ("event", "JobClaimed", None)
        assert claimed.data["transition"] == job["transitions"][-1]
        assert (finished.data["type"], finished.data["transition"]) == ("NodeFinished", None)
        assert finished.data["trace"] == job["executionTrace"][0]
        assert finished.id == f"{acme.partition}:{finished.data['position']}"


async def test_the_end_is_told_once_postgres_has_it_then_the_stream_ends_and_a_new_one_is_204(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme)
    async with watching(api, acme, job_id) as stream:
        pocket.extract(acme.partition, acme.org_id, job_id, EXTRACTED)
        pocket.ack(acme.partition, acme.org_id, job_id)
        while (message := await stream.next()) and message.data.get("type") != "DeliveryAcked":
            assert message.event != "done"
        asked = asyncio.create_task(stream.next())
        done, _ = await asyncio.wait([asked], timeout=0.3)
        assert not done
        pocket.project()
        end = await asked
        assert end
        assert (end.event, end.data["type"], end.data["status"]) == ("done", "JobCompleted", "completed")
        assert (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json["status"] == "completed"
        assert await stream.next() is None
    for last_id in (end.id, None):
        async with watching(api, acme, job_id, last_id) as again:
            assert again.response.status == 204
            assert await again.response.read() == b""


async def test_it_goes_on_behind_any_event_whether_postgres_has_it_or_not(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme)
    pocket.run(acme.partition, acme.org_id, job_id, FETCH)
    for projected in (False, True):
        if projected:
            pocket.project()
        async with watching(api, acme, job_id, f"{acme.partition}:0") as stream:
            whole = [await stream.next() for _ in range(4)]
        assert [message.data["seq"] for message in whole if message] == [1, 2, 3, 4]
        for number, message in enumerate(whole[:-1]):
            assert message
            async with watching(api, acme, job_id, message.id) as stream:
                assert await stream.next() == whole[number + 1]


async def test_what_the_tail_had_read_before_and_postgres_lacks_is_not_left_out(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme)
    pocket.project()
    await eventually(lambda: api.tail.jobs_held == 0)  # the tail has let go of the job: its later events are not kept
    pocket.run(acme.partition, acme.org_id, job_id, FETCH)
    end = pocket.entries[-1].position
    await eventually(lambda: api.tail.position(acme.partition) == end)
    async with watching(api, acme, job_id) as stream:
        snapshot = await stream.next()
        assert snapshot
        assert snapshot.data["status"] == "pending"
        pocket.run(acme.partition, acme.org_id, await submit(api, acme, "https://shop.example/2"), FETCH)
        pocket.project()
        assert [message.data["type"] for message in [await stream.next(), await stream.next()] if message] == [
            "JobClaimed",
            "NodeFinished",
        ]


@pytest.mark.parametrize("last_id", ["x", "3", "3:", "a:b", "-1:4", "1:99999999999999999999", "1:2:3"])
async def test_an_id_that_is_no_position_is_400_and_named(api: Api, acme: Tenant, last_id: str) -> None:
    job_id = await submit(api, acme)
    async with watching(api, acme, job_id, last_id) as stream:
        assert stream.response.status == 400
        body = await stream.response.json()
        assert (body["error"], body["field"]) == ("invalid_position", "Last-Event-ID")


async def test_an_id_that_cannot_be_gone_on_from_begins_anew_with_a_reason(
    with_operator: Settings, api: Api, acme: Tenant, pocket: PocketLedger, session: aiohttp.ClientSession
) -> None:
    job_id = await submit(api, acme)
    pocket.run(acme.partition, acme.org_id, job_id, FETCH)
    other = (acme.partition + 1) % with_operator.partitions
    few = replace(with_operator, stream_kept_events=2)
    async with running(few, pocket, session) as short:
        for last_id, reason in (
            (f"{other}:1", "other_partition"),
            (f"{acme.partition}:999999", "unknown"),
            (f"{acme.partition}:0", "too_old"),
        ):
            async with watching(short, acme, job_id, last_id) as stream:
                assert await stream.next() == Message("reset", "", {"reason": reason})
                snapshot = await stream.next()
                assert snapshot
                assert (snapshot.event, snapshot.data["status"]) == ("snapshot", "running")


async def test_another_orgs_job_is_404_and_so_is_none(api: Api, acme: Tenant, rival: Tenant) -> None:
    for job_id in (await submit(api, acme), uuid7(), "no-id"):
        async with watching(api, rival, job_id) as stream:
            assert stream.response.status == 404


async def test_a_deleted_job_ends_its_stream(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme)
    pocket.project()
    async with watching(api, acme, job_id) as stream:
        await stream.next()
        deletion = asyncio.create_task(api.call("DELETE", f"/api/v1/jobs/{job_id}", acme.key))
        await eventually(lambda: pocket.entries[-1].event_type in ("JobDeleted", "DeliveryRequested"))
        pocket.project()
        end = await stream.until("close")
        assert end.data == {"reason": "deleted", "reconnect": False}
        assert await stream.next() is None
        await deletion
    async with watching(api, acme, job_id) as stream:
        assert stream.response.status == 404


async def test_a_revoked_key_gets_no_further_event(
    api: Api, acme: Tenant, pocket: PocketLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.auth.TRUST_SECONDS", 0.0)
    monkeypatch.setattr("api.streams.CHECK_SECONDS", 0.0)
    job_id = await submit(api, acme)
    made = (await api.call("POST", "/api/v1/keys", acme.key, {"name": "viewer", "scopes": ["read"]})).json
    async with watching(api, replace(acme, key=made["secret"]), job_id) as stream:
        await stream.next()
        assert (await api.call("DELETE", f"/api/v1/keys/{made['keyId']}", acme.key)).status == 200
        pocket.run(acme.partition, acme.org_id, job_id, FETCH)
        message = await stream.next()
        assert message
        assert (message.event, message.data["reason"]) == ("close", "unauthenticated")


async def test_while_nobody_can_say_whether_a_key_is_good_nothing_is_sent_but_signs_of_life(
    with_operator: Settings,
    api: Api,
    acme: Tenant,
    pocket: PocketLedger,
    session: aiohttp.ClientSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("api.stream_viewer.AGAIN_SECONDS", 0.01)
    job_id = await submit(api, acme)
    lively = replace(with_operator, stream_keepalive_seconds=0.05)
    async with running(lively, pocket, session) as quick, watching(quick, acme, job_id) as stream:
        await stream.next()
        with monkeypatch.context() as away:

            async def silent(_authorization: str) -> None:
                raise psycopg.OperationalError("Postgres is away")

            away.setattr(quick.streams, "check", silent)
            pocket.run(acme.partition, acme.org_id, job_id, FETCH)
            more = asyncio.create_task(stream.next())
            signs = stream.comments
            await eventually(lambda: stream.comments > signs + 3)
            assert not more.done()
        claimed = await more
        assert claimed
        assert claimed.data["type"] == "JobClaimed"


@asynccontextmanager
async def _limited(
    settings: Settings, pocket: PocketLedger, session: aiohttp.ClientSession, **limits: float
) -> AsyncIterator[Api]:
    async with running(replace(settings, **limits), pocket, session) as api:  # type: ignore[arg-type]
        yield api


@pytest.mark.parametrize(("limits", "who"), [({"streams_per_key": 2}, "this key"), ({"streams_per_org": 2}, "the org")])
async def test_more_streams_than_allowed_are_429_and_closed_ones_do_not_count(
    with_operator: Settings,
    api: Api,
    acme: Tenant,
    rival: Tenant,
    pocket: PocketLedger,
    session: aiohttp.ClientSession,
    limits: dict[str, int],
    who: str,
) -> None:
    job_id, theirs = await submit(api, acme), await submit(api, rival)
    async with _limited(with_operator, pocket, session, **limits, stream_keepalive_seconds=0.1) as limited:
        async with watching(limited, acme, job_id), watching(limited, acme, job_id):
            async with watching(limited, acme, job_id) as third:
                assert third.response.status == 429
                assert third.response.headers["Retry-After"]
                body = await third.response.json()
                assert (body["error"], body["limit"], body["message"].startswith(who)) == ("too_many_streams", 2, True)
            async with watching(limited, rival, theirs) as stream:
                assert stream.response.status == 200

        async def admitted() -> bool:
            async with watching(limited, acme, job_id) as stream:
                return stream.response.status == 200

        await eventually(admitted)


async def test_an_instance_that_stops_tells_its_viewers_to_come_back(
    start_api: StartApi, api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme)
    async with start_api() as other:
        opened = watching(other, acme, job_id)
        stream = await opened.__aenter__()
        await stream.next()
    assert await stream.next() == Message("close", "", {"reason": "shutdown", "reconnect": True})
    assert await stream.next() is None
    await opened.__aexit__(None, None, None)
    pocket.run(acme.partition, acme.org_id, job_id, FETCH)
    async with watching(api, acme, job_id, stream.last_id) as again:
        claimed = await again.next()
        assert claimed
        assert claimed.data["type"] == "JobClaimed"


async def test_one_who_does_not_read_is_let_go_of_and_delays_nobody(
    with_operator: Settings, api: Api, acme: Tenant, pocket: PocketLedger, session: aiohttp.ClientSession
) -> None:
    job_id = await submit(api, acme)
    pocket.run(acme.partition, acme.org_id, job_id)
    quick = replace(with_operator, stream_slow_seconds=0.5, stream_keepalive_seconds=0.1, stream_kept_events=20)
    async with running(quick, pocket, session) as short:
        with _deaf(short, acme, job_id):
            async with watching(short, acme, job_id) as stream:
                await stream.next()
                await eventually(lambda: short.streams.open == 2)
                for step in range(300):  # 6 MB: more than the sockets take
                    page = b"\0" + msgspec.json.encode({"message": "y" * 20_000})
                    node = msgspec.structs.replace(FETCH, step=step, private=page)
                    pocket.report(acme.partition, acme.org_id, job_id, node)
                    message = await stream.next()
                    assert message
                    assert (message.event, message.data["trace"]["step"]) == ("event", step)
                await eventually(lambda: short.streams.open == 1)


async def test_one_who_reads_too_slowly_for_what_is_kept_begins_anew(
    with_operator: Settings, api: Api, acme: Tenant, pocket: PocketLedger, session: aiohttp.ClientSession
) -> None:
    job_id = await submit(api, acme)
    pocket.run(acme.partition, acme.org_id, job_id)
    few = replace(with_operator, stream_kept_events=3)
    async with running(few, pocket, session) as short, watching(short, acme, job_id) as stream:
        await stream.next()
        nodes = [msgspec.structs.replace(FETCH, step=step) for step in range(10)]
        pocket.report(acme.partition, acme.org_id, job_id, *nodes)  # in one go, more than is kept
        assert await stream.next() == Message("reset", "", {"reason": "slow"})
        snapshot = await stream.next()
        assert snapshot
        assert [entry["step"] for entry in snapshot.data["executionTrace"]] == list(range(10))


@contextmanager
def _deaf(api: Api, tenant: Tenant, job_id: str) -> Iterator[None]:
    """A viewer who asks for the stream and never reads it."""
    host, port = api.url.removeprefix("http://").split(":")
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect((host, int(port)))
        path = f"/api/v1/jobs/{job_id}/stream"
        deaf.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {tenant.key}\r\n\r\n".encode())
        yield


async def test_a_job_fails_for_its_viewer_as_for_everyone(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme)
    async with watching(api, acme, job_id) as stream:
        pocket.run(acme.partition, acme.org_id, job_id, outcome=Failed(error_type="providers_exhausted"))
        pocket.project()
        end = await stream.until("done")
        assert (end.data["type"], end.data["status"]) == ("JobFailed", "failed")


async def test_the_command_line_follows_a_job_to_its_end(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme, metadata={"note": "x" * 30_000})  # as long a line as there is

    came: list[str] = []

    async def followed() -> None:
        async for sent in follow(api.url, acme.key, job_id):
            came.append(sent.event)

    following = asyncio.create_task(followed())
    await eventually(lambda: came)
    pocket.run(acme.partition, acme.org_id, job_id, FETCH, outcome=Failed(error_type="internal"))
    pocket.project()
    await following
    await followed()  # it has ended: nothing more comes
    assert came == ["snapshot", "event", "event", "done"]
