"""Scenarios 49, 88 and 90, as far as jobs of the workflow vocabulary have them: many jobs at once, and odd values.

A job of this vocabulary has one outcome, so its slots are the jobs of one submission. Its values leave as JSON, in
answers and in both stores; files of cells it has none, so what is a formula or a mark in one stays as the page has it.
"""

import json
from collections import Counter
from typing import Any

import msgspec
import psycopg

from schemas.recorded import Recorded
from services.ledger.reports import Extracted, Failed
from services.runtime.registry import encoder
from services.runtime.settings import Settings
from services.writers.clickhouse.writer import ClickHouseWriter
from services.writers.postgres.writer import PostgresWriter
from tests.event_streams import Stream
from tests.integration.api.conftest import Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger
from tests.integration.clickhouse.conftest import Rows
from tests.integration.clickhouse.conftest import clickhouse as clickhouse
from tests.integration.clickhouse.conftest import rows as rows
from tests.integration.clickhouse.projecting import go_on
from tests.unit.workers.fakes import MemoryBlobs, page, workflow
from tests.unit.workers.test_attempt import Run
from tests.unit.writers.fakes import delivery

WAITS_SECONDS = 60
NEVER_STARTS, FAILS = 9, (2, 4, 6)

FORMULAS: dict[str, Any] = {
    "=1+1": "=1+1",
    "+x": "+x",
    "-5": "-5",
    "number": -5,
    "@a": "@a",
    "tab": "\t=cmd|' /C calc'!A0",
    "return": "\r=HYPERLINK(1)",
}
MARKS: dict[str, Any] = {
    "中文": "水壶 — 日本語 한국어",
    "id": "007",
    "number": 12345678901234567890,
    "line break": "one\r\ntwo\nthree",
    "quotes": "\"double\" 'single' “curled” \\ back",
    "mark": "\ufeffbehind a mark",
    "comma": "a,b;c",
}


def in_stream(pocket: PocketLedger, partition: int, settings: Settings) -> Stream:
    """Return the log of a partition in the bytes of the registry of this stack."""
    mine = (entry.recorded for entry in pocket.entries if entry.partition == partition)
    events = [each for each in mine if isinstance(each, Recorded)]
    writes = encoder(settings)
    return Stream(partition, encoder=writes, events=events, raws=[writes.encode(each) for each in events])


async def test_49_of_ten_jobs_three_fail_and_one_never_starts_and_every_store_and_answer_says_so(
    api: Api, acme: Tenant, pocket: PocketLedger, settings: Settings, rows: Rows
) -> None:
    urls = [f"https://shop.example/{number}" for number in range(10)]
    made = await api.call("POST", "/api/v1/jobs", acme.key, {"urls": urls, "maxQueueSeconds": WAITS_SECONDS})
    jobs = [job["jobId"] for job in made.json["jobs"]]
    for number, job_id in enumerate(jobs):
        if number in FAILS:
            broken = Failed(error_type="providers_exhausted")
            pocket.run(acme.partition, acme.org_id, job_id, outcome=broken)
        elif number != NEVER_STARTS:
            pocket.extract(acme.partition, acme.org_id, job_id, Extracted(result_ref="r", extraction_ref="e", items=1))
            pocket.ack(acme.partition, acme.org_id, job_id)
    pocket.pass_time(acme.partition, WAITS_SECONDS + 1)
    pocket.project()
    go_on(settings, [in_stream(pocket, acme.partition, settings)])

    ends = Counter({"completed": 6, "failed": 4})
    asked = await api.call("POST", "/api/v1/jobs/batch-status", acme.key, {"jobIds": jobs})
    assert Counter(job["status"] for job in asked.json["jobs"]) == ends
    errors = Counter({"providers_exhausted": 3, "queue_expired": 1})
    failed = (await api.call("GET", "/api/v1/jobs?status=failed", acme.key)).json["jobs"]
    assert Counter(job["errorType"] for job in failed) == errors
    alone = [(await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json for job_id in jobs]
    assert [job["errorType"] for job in alone] == [
        "providers_exhausted" if number in FAILS else "queue_expired" if number == NEVER_STARTS else None
        for number in range(10)
    ]
    assert [entry["status"] for entry in alone[NEVER_STARTS]["transitions"]] == ["pending", "failed"]
    with psycopg.connect(settings.postgres) as connection:
        in_postgres = connection.execute(
            "SELECT status, error_type, count(*) FROM ledger_v1.jobs GROUP BY 1, 2"
        ).fetchall()
    in_clickhouse = rows("SELECT status, error_type, count() FROM job_status GROUP BY 1, 2")
    sums = {("completed", "", 6), ("failed", "providers_exhausted", 3), ("failed", "queue_expired", 1)}
    assert {(status, error or "", count) for status, error, count in in_postgres} == sums
    assert {(status, error or "", count) for status, error, count in in_clickhouse} == sums


async def read_everywhere(
    values: dict[str, Any], api: Api, acme: Tenant, settings: Settings, rows: Rows
) -> tuple[bytes, list[Any]]:
    """Let a worker read these values from a page; return the answer of the API, and what it and both stores hold."""
    body = f'<script type="application/json">{json.dumps({"values": values})}</script>' + "<p>word and word</p>" * 80
    fields: list[dict[str, Any]] = [{"name": "values", "selector": "jsonpath", "query": "$.values", "type": "object"}]
    run = await Run(workflow(fields=fields), page(body.encode())).go()
    assert isinstance(run.outcome, Extracted)
    extraction = run.blobs.blobs[run.outcome.extraction_ref]
    job_id = await submit(api, acme)
    blobs = MemoryBlobs({"extraction": extraction})
    wanted = delivery(
        org_id=acme.org_id, job_id=job_id, destination_id="internal-postgres", extraction_ref="extraction"
    )
    lake = ClickHouseWriter(settings.clickhouse, blobs, settings.clickhouse_migration_seconds)
    for writer in (PostgresWriter(settings.postgres, blobs), lake):
        await writer.write([wanted])
        await writer.close()
    answer = await api.call("GET", f"/api/v1/extraction/results/{job_id}", acme.key)
    [(in_clickhouse,)] = rows("SELECT normalized FROM extraction_results")
    with psycopg.connect(settings.postgres) as connection:
        [(in_postgres,)] = connection.execute("SELECT normalized FROM extraction.extraction_results").fetchall()
    held = [answer.json["normalized"], in_postgres, json.loads(str(in_clickhouse))]
    return answer.body, [each["values"] for each in held]


async def test_88_what_would_be_a_formula_in_a_cell_stays_as_it_is_and_a_number_a_number(
    api: Api, acme: Tenant, settings: Settings, rows: Rows
) -> None:
    body, held = await read_everywhere(FORMULAS, api, acme, settings, rows)
    assert held == [FORMULAS] * 3
    assert [type(each["number"]) for each in held] == [int] * 3
    assert b'"number":-5' in body


async def test_90_letters_leading_zeros_long_numbers_and_breaks_come_back_equal_without_a_mark_in_front(
    api: Api, acme: Tenant, settings: Settings, rows: Rows
) -> None:
    body, held = await read_everywhere(MARKS, api, acme, settings, rows)
    assert held == [MARKS] * 3
    assert body[:1] == b"{", "no byte order mark: answers are JSON in UTF-8"
    assert msgspec.json.decode(body)["normalized"]["values"] == MARKS
