"""NUL and lone surrogates in a page, as key and as value: the job completes, and every reader gets the same text."""

import json

import psycopg
import pytest
from aiohttp import web

from services.runtime.clickhouse import connect
from services.runtime.settings import Settings
from tests.integration.junk.platform import platform
from tests.unit.workers.fakes import service, workflow

pytestmark = pytest.mark.kafka
FIELDS = (
    {"name": "title", "query": "h1", "required": True},
    {"name": "thing", "selector": "jsonld", "query": "Product", "required": True},
)
THING = rb"""{"@type": "Product", "name": "A\u0000b\ud800", "spelled": "\\u0000 \\ud800", "pair": "\ud83d\ude00",
    "\u0000key": {"\udc00": ["\u0000", 1]}, "\ufffdkey": "untouched"}"""
PAGE = b"""<html><head><title>Lamp</title><script type="application/ld+json">%s</script></head>
    <body><h1>x\0y \\u0000</h1>%s</body></html>""" % (THING, b"<p>A lamp of brass and glass, made by hand.</p>" * 9)
READ = {
    "title": "x\ufffdy \\u0000",
    "thing": {
        "@type": "Product",
        "name": "A\ufffdb\ufffd",
        "spelled": "\\u0000 \\ud800",
        "pair": "\U0001f600",
        "\ufffdkey\ufffd": {"\ufffd": ["\ufffd", 1]},
        "\ufffdkey": "untouched",
    },
}


async def test_a_page_with_nul_and_lone_surrogates_completes_its_job_with_one_text_everywhere(
    settings: Settings,
) -> None:
    async def page(_got: object) -> web.Response:
        return web.Response(body=PAGE, content_type="text/html", charset="utf-8")

    writers = {"postgres": settings, "webhook": settings} | ({"clickhouse": settings} if settings.clickhouse else {})
    document = json.loads(workflow(service("a"), fields=FIELDS))
    async with platform(settings, document, **writers) as it:
        it.site.answers["/p/1"] = page
        await it.made("/api/v1/webhooks", {"url": f"{it.site.url}/hook", "eventTypes": []})
        if settings.clickhouse:
            await it.made("/api/v1/destinations", {"kind": "clickhouse"})
        job_id = await it.submit()
        await it.until(job_id, "completed")
        status, shown = await it.call("GET", f"/api/v1/extraction/results/{job_id}")
        assert status == 200, shown
        async with it.client.get(f"/api/v1/jobs/{job_id}/result") as answer:
            assert await answer.read() == PAGE
        [hook] = it.site.got["/hook"]
    sent = json.loads(hook.body)["data"]["extraction"]
    found = [shown["normalized"], sent, *stored_in_postgres(settings), *stored_in_clickhouse(settings)]
    assert found == [READ] * len(found)


def stored_in_postgres(settings: Settings) -> list[object]:
    with psycopg.connect(settings.postgres) as connection:
        rows = connection.execute("SELECT normalized, replaced_characters FROM extraction.extraction_results")
        [(normalized, replaced)] = rows.fetchall()
    assert replaced == 6
    return [normalized]


def stored_in_clickhouse(settings: Settings) -> list[object]:
    if not settings.clickhouse:
        return []
    client = connect(settings.clickhouse)
    query = "SELECT normalized, replaced_characters FROM extraction_results FINAL"
    [(normalized, replaced)] = client.query(query).result_rows
    client.close()
    assert replaced == 6
    return [json.loads(normalized)]
