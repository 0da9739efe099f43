"""Files of the results of module jobs, over a real socket, out of real chunks."""

import asyncio
import csv
import io
import tempfile
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from api.exports import room, workbook
from api.exports.chunks import chunks_of
from api.exports.sending import gone
from api.operation import Call
from api.routes import module_download
from projections.postgres.rows import Job
from services.runtime.blob import BlobStore
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.api.conftest import Api, Tenant, submit
from tests.integration.api.module_work import PLAN, ModuleWorker, read, submit_scrap
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.test_retention import expire
from tests.unit.exports.sheets import rows_of

EXPECTED = [{"n": n, **item} for n, item in enumerate(PLAN) if n != 2]


@pytest.fixture
def worker(pocket: PocketLedger, with_operator: Settings, acme: Tenant) -> ModuleWorker:
    """A worker of acme's jobs."""
    return ModuleWorker(pocket, with_operator, acme)


async def ended(api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker) -> str:
    """A job that is done, with two chunks; one of its items errored."""
    job_id = await submit_scrap(api, acme)
    await worker.begin(job_id)
    await worker.record(job_id, True, True, False)
    await worker.record(job_id, True, True, True)
    worker.done(job_id)
    pocket.project()
    return job_id


def files(directory: Path) -> list[Path]:
    """What is in a directory."""
    return list(directory.iterdir())


async def test_it_is_json_by_default_and_csv_or_xlsx_where_asked_for(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker, tmp_path: Path
) -> None:
    job_id = await ended(api, acme, pocket, worker)
    plain = await read(api, acme, job_id, "/download")
    assert (plain.status, plain.json) == (200, EXPECTED)
    assert plain.headers["Content-Disposition"] == f'attachment; filename="scrap-{job_id}.json"'
    assert (await read(api, acme, job_id, "/download", format="json")).json == EXPECTED
    table = await read(api, acme, job_id, "/download", format="csv")
    assert table.headers["Content-Type"] == "text/csv; charset=utf-8"
    found = list(csv.DictReader(io.StringIO(table.body.decode(), newline="")))
    assert found == [{name: str(value) for name, value in row.items()} for row in EXPECTED]
    marked = await read(api, acme, job_id, "/download", format="csv", bom="1")
    assert marked.body == b"\xef\xbb\xbf" + table.body
    sheet = await read(api, acme, job_id, "/download", format="xlsx")
    assert sheet.headers["Content-Type"].startswith("application/vnd.openxmlformats")
    (tmp_path / "it.xlsx").write_bytes(sheet.body)
    header, *rows = rows_of(tmp_path / "it.xlsx")
    assert [{header[place]: value for place, value in row.items()} for row in rows] == EXPECTED


async def test_a_cancelled_or_failed_job_has_what_it_came_to_and_one_that_runs_has_no_file_yet(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker
) -> None:
    for end in ("cancel", "fail", "fail with nothing"):
        job_id = await submit_scrap(api, acme)
        assert (await read(api, acme, job_id, "/download")).status == 409
        await worker.begin(job_id)
        if end != "fail with nothing":
            await worker.record(job_id, True, False)
        pocket.project()
        early = await read(api, acme, job_id, "/download")
        assert early.status == 409
        assert "it is running" in early.json["detail"]
        if end == "cancel":
            await api.call("POST", f"/api/jobs/{job_id}/cancel", acme.key)
        else:
            worker.fail(job_id)
        pocket.project()
        expected = EXPECTED[:1] if end != "fail with nothing" else []
        assert (await read(api, acme, job_id, "/download")).json == expected
        for other in ("csv", "xlsx"):
            assert (await read(api, acme, job_id, "/download", format=other)).status == 200


async def test_results_past_retention_are_410_also_where_chunks_go_before_the_first_byte(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker, with_operator: Settings
) -> None:
    job_id = await ended(api, acme, pocket, worker)
    await expire(api, pocket, acme, job_id)
    await BlobStore(with_operator.blobs).delete_job(acme.org_id, job_id)
    for asked in ("csv", "json", "xlsx"):  # Postgres does not know yet
        assert (await read(api, acme, job_id, "/download", format=asked)).status == 503
    pocket.project()
    for asked in ("csv", "json", "xlsx"):
        gone = await read(api, acme, job_id, "/download", format=asked)
        assert (gone.status, "past retention" in gone.json["detail"]) == (410, True)


async def test_what_a_sheet_cannot_hold_is_told_before_a_byte_is_sent_and_names_csv(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = await ended(api, acme, pocket, worker)
    monkeypatch.setattr(module_download, "MAX_ROWS", len(EXPECTED) - 1)
    refused = await read(api, acme, job_id, "/download", format="xlsx")
    assert (refused.status, "format=csv" in refused.json["detail"]["message"]) == (409, True)
    monkeypatch.undo()
    monkeypatch.setattr(workbook, "MAX_TEXT", 3)
    refused = await read(api, acme, job_id, "/download", format="xlsx")
    assert (refused.status, "format=csv" in refused.json["detail"]["message"]) == (409, True)


async def test_nothing_stays_of_a_workbook_whether_it_is_read_or_not(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = await ended(api, acme, pocket, worker)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert (await read(api, acme, job_id, "/download", format="xlsx")).status == 200
    await eventually(lambda: files(tmp_path) == [])
    monkeypatch.setattr(module_download, "READ_BYTES", 1)
    url = f"{api.url}/api/jobs/{job_id}/download?format=xlsx"
    async with api.session.get(url, headers={"Authorization": f"Bearer {acme.key}"}) as answer:
        assert len(files(tmp_path)) == 1
        answer.close()
    await eventually(lambda: files(tmp_path) == [])


async def test_whoever_leaves_while_a_workbook_is_made_ends_the_making_and_frees_its_file_and_its_place(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = await ended(api, acme, pocket, worker)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    begun, left = asyncio.Event(), asyncio.Event()
    asked: list[Call] = []
    given: list[int] = []

    async def workbook_of(call: Call, job: Job, headers: dict[str, str]) -> web.StreamResponse:
        asked.append(replace(call, parts=replace(call.parts, workbooks=places)))
        return await made(asked[-1], job, headers)

    async def slowly(*args: Any) -> AsyncGenerator[Any]:
        async for rows in chunks_of(*args):
            begun.set()
            await left.wait()
            given.append(len(rows))
            yield rows

    places, made = room.Room(1), module_download._workbook
    monkeypatch.setattr(module_download, "_workbook", workbook_of)
    monkeypatch.setattr(module_download, "chunks_of", slowly)
    leaving = asyncio.ensure_future(read(api, acme, job_id, "/download", format="xlsx"))
    await begun.wait()
    assert len(files(tmp_path)) == 1
    refused = await read(api, acme, job_id, "/download", format="xlsx")
    assert (refused.status, refused.headers["Retry-After"]) == (429, str(room.RETRY_SECONDS))
    assert "format=csv" in refused.json["detail"]["message"]
    leaving.cancel()
    await eventually(lambda: gone(asked[0].request))
    left.set()
    await eventually(lambda: files(tmp_path) == [])
    assert len(given) == 1  # of two chunks
    assert (await read(api, acme, job_id, "/download", format="xlsx")).status == 200


async def test_only_csv_has_a_mark_and_only_module_jobs_of_the_org_have_files(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger, worker: ModuleWorker
) -> None:
    job_id = await ended(api, acme, pocket, worker)
    plain, asked = await read(api, acme, job_id, "/download"), await read(api, acme, job_id, "/download", bom="1")
    assert (asked.status, asked.body) == (200, plain.body)
    assert (await read(api, acme, job_id, "/download", format="ods")).status == 422
    assert (await read(api, rival, job_id, "/download")).status == 404
    assert (await read(api, acme, await submit(api, acme), "/download")).status == 404
