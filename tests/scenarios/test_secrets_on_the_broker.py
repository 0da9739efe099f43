"""Scenario 68: a marker wherever a secret stands, and errors forced wherever one is near: the marker is found nowhere.

What shows a secret on purpose is left out: the answer that makes a key or an endpoint, and the org's own workflow.
"""

import asyncio
import base64
import contextlib
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from services.ledger.warehouses import WAREHOUSES
from services.localstack.ports import port_for
from services.runtime import topics
from services.runtime.logs import JsonLines
from services.runtime.reader import LogReader
from services.runtime.sealing import new_key
from services.runtime.settings import Settings
from services.writers.__main__ import main as write
from tests.eventually import eventually
from tests.fakes.providers.zyte import FakeZyte
from tests.integration.junk.consumers import running
from tests.integration.junk.platform import OPERATOR, SECONDS, Platform, platform
from tests.integration.junk.records import PARTITION, Planted, deliveries, plant
from tests.unit.workers.fakes import service, workflow

pytestmark = pytest.mark.kafka
MARK = "m4rk-0f8c1b-s3cr3t"
API_KEY = f"{MARK}-of-a-provider"
SIGNED_IN = base64.b64encode(f"{API_KEY}:".encode()).decode()  # as it goes over the wire
# kinds of destinations and of tasks to which nothing goes in this test
UNUSED = ("clickhouse", *WAREHOUSES, "module", "spider")
DEAD_STORES = (
    f"postgresql://postgres:{MARK}@127.0.0.1:9/nothing",
    f"postgresql://postgres:{MARK}@[::1/nothing",  # psycopg names a URL that it cannot read
    f"host=127.0.0.1 port=9 user=postgres password='{MARK} and more' dbname=nothing",
    f"host=127.0.0.1 port=x password={MARK}",
)


class Lines(logging.Handler):
    """Keeps every line that the processes would have written to stderr."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []
        self.setFormatter(JsonLines("test", (OPERATOR,)))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.lines.append(self.format(record))


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """Everything that is logged, down to debug messages of libraries."""
    handler, root = Lines(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield handler.lines
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def document(**headers: str) -> Any:
    """Return a workflow that shows a secret to the site."""
    return json.loads(workflow(service("a", retries=1, headers=headers)))


async def provoke_the_api(it: Platform) -> None:
    """Send secrets where they do not belong."""
    for headers in (
        {"Authorization": f"Bearer jlk_{MARK}_{MARK}"},
        {"Authorization": f"Basic {MARK}"},
        {"Authorization": MARK},
        {"Cookie": f"key={MARK}", "Authorization": f"Bearer {MARK}"},
    ):
        status, _ = await it.call("GET", "/api/v1/jobs", **headers)
        assert status == 401
    for path in (f"/api/v1/jobs?api_key={MARK}", f"/api/v1/jobs/jlk_{MARK}", f"/api/v1/jobs?limit={MARK}", f"/{MARK}"):
        status, _ = await it.call("GET", path)
        assert status in (400, 404, 422)
    for url in (f"https://user:{MARK}@shop.example/", f"ftp://u:{MARK}@shop.example/", f"http://u:{MARK}@[::1/"):
        for path in ("/api/v1/jobs", "/api/v1/webhooks"):
            status, _ = await it.call("POST", path, {"url": url})
            assert status == 422
    for body in ({"url": {"key": MARK}}, {"urls": [MARK]}, {"url": "https://a.example", "priority": MARK}):
        status, _ = await it.call("POST", "/api/v1/jobs", body)
        assert status == 422
    for asked in (
        f"status={MARK}",
        f"status=failed&status={MARK}",
        f"order={MARK}",
        f"cursor={MARK}",
        f"createdAfter={MARK}",
    ):
        status, _ = await it.call("GET", f"/api/v1/jobs?{asked}&limit={MARK}")
        assert status == 422
    misplaced: tuple[tuple[str, dict[str, Any]], ...] = (
        ("/api/v1/keys", {"name": "x", "scopes": ["read", MARK]}),
        ("/api/v1/credentials", {"provider": MARK, "secret": {"apiKey": "x"}}),
        ("/api/v1/destinations", {"kind": MARK, "onExhausted": MARK}),
        ("/api/v1/webhooks", {"url": "https://a.example/", "eventTypes": [MARK]}),
    )
    for path, wrong in misplaced:
        status, _ = await it.call("POST", path, wrong)
        assert status == 422


async def provoke_the_workers(it: Platform) -> None:
    """Let pages fail whose requests carry a secret."""
    it.site.says("/broken", 500)
    it.site.says("/away", 302, Location="http://127.0.0.1:9/elsewhere")
    it.site.says("/junk", 302, Location="http://[::1/")
    for path in ("/broken", "/away", "/junk"):
        job_id = await it.submit(path, workflowId="w")
        _, follow = await asyncio.gather(it.until(job_id, "failed"), it.call("GET", f"/api/v1/jobs/{job_id}/stream"))
        assert follow[0] == 200
        for what in ("explain", "events", "deliveries"):
            assert (await it.call("GET", f"/api/v1/jobs/{job_id}/{what}"))[0] == 200
    await it.until(await it.submit(f"/gone?signature={MARK}-in-a-url", workflowId="w"), "extraction_done")


class QuotingZyte(FakeZyte):
    """Answers with all that it was sent, as a debugging proxy would."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Quote the request."""
        return self.refusal(
            400, f"{dict(request.headers)} {base64.b64encode(f'{API_KEY}:'.encode()).decode()} {API_KEY}"
        )


async def provoke_the_providers(it: Platform) -> None:
    """Let credentials be refused, kept, and quoted by a provider."""
    for secret in ({"apiKey": f"{API_KEY}\r\n"}, {"apiKey": [API_KEY]}, {"apiKey": API_KEY, "more": API_KEY}, API_KEY):
        status, _ = await it.call("POST", "/api/v1/credentials", {"provider": "zyte", "secret": secret})
        assert status == 422
    nodes = json.loads(workflow(service("a", retries=1, provider="zyte"), service("b", retries=1, provider="decodo")))
    await it.made("/api/v1/workflows", {"workflowId": "z", "document": nodes, "publish": True})
    for expected in (201, 200):
        body = {"provider": "zyte", "secret": {"apiKey": API_KEY}}
        assert (await it.call("POST", "/api/v1/credentials", body))[0] == expected
    await it.call("GET", "/api/v1/credentials")
    job = await it.until(await it.submit("/p/z", workflowId="z"), "failed")
    types = [visit["errorType"] for visit in job["executionTrace"] if visit["errorType"]]
    assert types[:2] == ["provider_request", "credential_missing"], types


async def provoke_the_warehouses(it: Platform) -> None:
    """Let secrets of an org's own warehouses stand in the wrong place, be kept, and be refused by nobody there."""
    place = {"host": "127.0.0.1", "port": 9, "database": "d", "user": "u", "table": "t", "sslmode": "disable"}
    own: dict[str, Any] = {"kind": "customer_postgres", "destinationId": "own", "settings": place}
    for wrong in (
        {"secrets": {"password": [MARK]}},
        {"secrets": {"password": MARK, "more": MARK}},
        {"secrets": MARK},
        {"secrets": {"password": "x"}, "settings": {**place, "password": MARK}},
        {"secrets": {"password": "x"}, "settings": f"postgresql://u:{MARK}@127.0.0.1/d"},
    ):
        status, _ = await it.call("POST", "/api/v1/destinations", {**own, **wrong})
        assert status == 422, wrong
    lake = {"url": "http://127.0.0.1:9", "database": "d", "table": "t"}
    for kept in (own, {**own, "kind": "customer_clickhouse", "destinationId": "lake", "settings": lake}):
        status, _ = await it.call("POST", "/api/v1/destinations", {**kept, "secrets": {"password": MARK}})
        assert status == 201
    for name in ("own", "lake"):
        status, tried = await it.call("POST", f"/api/v1/destinations/{name}/test")
        assert (status, tried["ok"]) == (200, False), tried
        await it.call("GET", f"/api/v1/destinations/{name}")
    await it.call("PATCH", "/api/v1/destinations/own", {"secrets": {"password": {"of": MARK}}})
    await it.call("GET", "/api/v1/destinations")


async def everything_on(settings: Settings, topic: topics.Topic) -> bytes:
    """Return every key, value and header of a topic."""
    reader = LogReader(settings, topic.name, dict.fromkeys(range(topic.partitions), 0))
    found: list[bytes] = []
    while not reader.at_end():
        for record in await asyncio.to_thread(reader.poll, 1000, 0.1):
            found += [record.key.encode(), record.value, repr(record.headers).encode()]
    reader.close()
    return b"\n".join(found)


async def test_68_secrets_are_in_no_record_no_line_no_answer_no_stream_and_no_metric(
    settings: Settings, lines: list[str]
) -> None:
    dead, keys = replace(settings, postgres=DEAD_STORES[0]), new_key()
    async with (
        QuotingZyte().serving() as zyte,
        platform(
            replace(settings, zyte_url=zyte, credentials_key=keys),
            document(Authorization=MARK, Cookie=MARK),
            postgres=dead,
            webhook=settings,
        ) as it,
    ):
        status, _ = await it.call("POST", "/api/v1/workflows", {"document": document(**{"X-Key": f"{MARK}\r\n"})})
        assert status == 422
        hook = await it.made("/api/v1/webhooks", {"url": f"{it.site.url}/hook/{MARK}", "eventTypes": ["job.failed"]})
        it.site.says(f"/hook/{MARK}", 500)
        secret = (await it.made(f"/api/v1/webhooks/{hook['webhookId']}/rotate", None, 200))["secret"]
        await it.call("POST", f"/api/v1/webhooks/{hook['webhookId']}/test")
        await asyncio.to_thread(plant, settings, topics.commands(settings), 0, [Planted(b"junk")])
        await provoke_the_api(it)
        await provoke_the_workers(it)
        await provoke_the_providers(it)
        await provoke_the_warehouses(it)
        await eventually(lambda: any("destination down" in line for line in lines), SECONDS)
        await eventually(lambda: it.site.got[f"/hook/{MARK}"], SECONDS)
        made = await it.made("/api/v1/keys", {"name": "ci"})
        rotated = await it.made(f"/api/v1/keys/{made['keyId']}/rotate", None)
        await it.call("GET", "/api/v1/keys")
        await it.call("GET", "/api/v1/jobs")
        await it.call("GET", "/api/v1/extractions")
        await it.call("GET", "/metrics")
        await it.call("GET", "/ready")
        sent = [got.body for path, all_got in it.site.got.items() if path.startswith("/hook") for got in all_got]
        records = [await everything_on(settings, topic) for topic in topics.all_topics(settings)]
    told = {
        "answers": b"\n".join(it.heard),
        "webhooks": b"\n".join(sent),
        "logs": "\n".join(lines).encode(),
        **{topic.name: found for topic, found in zip(topics.all_topics(settings), records, strict=True)},
    }
    secrets = [it.key, it.key.rpartition("_")[2], OPERATOR, hook["secret"], secret, MARK, keys, SIGNED_IN]
    secrets += [each["secret"].rpartition("_")[2] for each in (made, rotated)]
    for place, text in told.items():
        assert text or place.rpartition(".")[2] in UNUSED, place
        shown_on_purpose = place.endswith((".events", ".commands", ".tasks.workflow")) or place == "answers"
        for each in secrets:
            found = _without_urls(text) if each == MARK and shown_on_purpose else text
            assert each.encode() not in found, (place, _around(found, each.encode()))


@pytest.mark.parametrize("store", range(len(DEAD_STORES)))
async def test_the_connection_string_of_a_store_is_in_no_line_and_no_sign_of_health(
    ledger: Settings, lines: list[str], tmp_path: Path, store: int
) -> None:
    port = port_for(tmp_path / "ports.json", "writer")
    settings = replace(ledger, postgres=DEAD_STORES[store], host="127.0.0.1", port=port)
    await _say_that_it_is_down(settings, lines, "postgres")


async def test_the_url_of_clickhouse_is_in_no_line_and_no_sign_of_health(
    ledger: Settings, lines: list[str], tmp_path: Path
) -> None:
    port = port_for(tmp_path / "ports.json", "writer")
    settings = replace(ledger, clickhouse=f"http://user:{MARK}@127.0.0.1:9/nothing", host="127.0.0.1", port=port)
    await _say_that_it_is_down(replace(settings, writer_kind="clickhouse"), lines, "clickhouse")


async def _say_that_it_is_down(settings: Settings, lines: list[str], kind: str) -> None:
    await asyncio.to_thread(
        plant, settings, topics.deliveries(settings, kind), PARTITION, [Planted(deliveries(kind, 1))]
    )
    shown: list[str] = []

    async def red() -> bool:
        if not process.done():
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(f"http://127.0.0.1:{settings.port}/ready") as answer:
                    shown.append(await answer.text())
        return process.done() or any("is down" in text for text in shown)

    async with running(write, settings) as process, aiohttp.ClientSession() as session:
        await eventually(red, SECONDS)
        assert not process.done(), process
    assert any("destination down" in line for line in lines)
    for text in (*shown, *lines):
        assert MARK not in text, text


def _without_urls(text: bytes) -> bytes:
    """Leave out the urls that a job or an endpoint was given: they are what the org asked for, and are shown to it."""
    return text.replace(f"signature={MARK}-in-a-url".encode(), b"").replace(f"/hook/{MARK}".encode(), b"")


def _around(text: bytes, mark: bytes) -> bytes:
    at = text.index(mark)
    return text[max(0, at - 300) : at + 100]
