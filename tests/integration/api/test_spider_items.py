"""Items, logs and statistics of spider jobs, while they run and afterwards, out of real blobs."""

import gzip
import json
from typing import Any

import pytest

from api.spiders import job_reading
from services.runtime.blob import BlobStore
from services.runtime.settings import Settings
from tests.integration.api.conftest import Api, Tenant
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.spider_runs import SpiderRunner, deploy, line, read, rows, submit_spiders
from tests.integration.api.test_retention import expire


@pytest.fixture
async def runner(pocket: PocketLedger, with_operator: Settings, acme: Tenant, api: Api) -> SpiderRunner:
    """A runner of acme's jobs, who has deployed a shop."""
    await deploy(with_operator, acme.org_id)
    return SpiderRunner(pocket, with_operator, acme)


async def items(api: Api, acme: Tenant, key: str, **query: Any) -> dict[str, Any]:
    """A page of items."""
    page = await read(api, acme, key, "/items", **query)
    assert page.status == 200, page.json
    found: dict[str, Any] = page.json
    return found


async def why(api: Api, acme: Tenant, key: str) -> tuple[str, str, bool]:
    """Why a job has no items, its state, and whether that is a snapshot."""
    page = await items(api, acme, key)
    assert (page["items"], page["has_more"]) == ([], False)
    return page["reason"], page["status"], page["snapshot"]


async def test_no_items_because_it_has_not_started(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    key = await submit_spiders(api, acme)
    assert await why(api, acme, key) == ("not started yet", "dispatched", True)
    pocket.project()
    assert await why(api, acme, key) == ("not started yet", "dispatched", True)


async def test_no_items_because_those_that_were_scraped_are_not_written(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    key = await submit_spiders(api, acme)
    runner.begin(key)
    runner.count(key, 7)
    pocket.project()
    assert await why(api, acme, key) == ("scraped 7, none written yet", "running", True)
    page = await items(api, acme, key)
    assert (page["items_scraped"], page["items_stored"], page["items_buffered"]) == (7, 0, 7)


async def test_no_items_because_nothing_was_scraped_yet(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    key = await submit_spiders(api, acme)
    runner.begin(key)
    pocket.project()
    assert await why(api, acme, key) == ("running, nothing scraped yet", "running", True)


async def test_no_items_because_it_finished_without(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    key = await submit_spiders(api, acme)
    runner.begin(key)
    runner.finish(key, 0)
    pocket.project()
    assert await why(api, acme, key) == ("finished without items", "finished", False)
    whole = await read(api, acme, key, "/items/download", format="jsonl")
    assert (whole.status, whole.body) == (200, b"")


async def test_no_items_because_they_are_past_retention(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    key = await submit_spiders(api, acme)
    runner.begin(key)
    await runner.scrape(key, *rows(3))
    await runner.log(key, line("opened"))
    runner.count(key, 3, final=True)
    runner.finish(key, 3)
    pocket.project()
    await expire(api, pocket, acme, key)
    await runner.blobs.delete_job(acme.org_id, key)
    for path in ("/items", "/items/download", "/logs", "/logs/download"):  # Postgres does not know yet
        assert (await read(api, acme, key, path)).status == 503, path
    pocket.project()
    assert await why(api, acme, key) == ("past retention", "finished", False)
    assert [(await read(api, acme, key, f"/{part}/download")).status for part in ("items", "logs")] == [410, 410]
    log = (await read(api, acme, key, "/logs")).json
    assert log == {"lines": [], "source": "none", "complete": False, "note": "past retention: the log was purged"}
    assert (await read(api, acme, key, "/stats")).json["note"] == "past retention: the statistics were purged"
    shown = (await read(api, acme, key)).json
    assert (shown["state"], shown["items_total"], bool(shown["expired_at"])) == ("finished", 3, True)


async def test_no_items_because_a_storage_write_failed(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    key = await submit_spiders(api, acme)
    runner.begin(key)
    runner.finish(key, 12)
    pocket.project()
    reason = "reported 12 items but wrote no chunks (a storage write failed)"
    assert await why(api, acme, key) == (reason, "finished", False)
    refused = await read(api, acme, key, "/items/download")
    assert (refused.status, refused.json) == (409, {"detail": reason})


async def test_a_cursor_never_reads_an_item_again_while_the_job_runs_and_has_all_at_its_end(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    key = await submit_spiders(api, acme)
    runner.begin(key)
    seen: list[int] = []
    cursor = ""
    for number in range(4):
        await runner.scrape(key, *rows(5, 5 * number))
        runner.count(key, 5 * number + 8)
        pocket.project()
        while True:
            page = await items(api, acme, key, cursor=cursor, limit=3)
            seen += [each["n"] for each in page["items"]]
            cursor = page["next_cursor"]
            assert page["snapshot"]
            if not page["has_more"]:
                break
        assert (page["items_scraped"], page["items_stored"]) == (5 * number + 8, 5 * number + 5)
        again = await items(api, acme, key, cursor=cursor)
        assert (again["items"], again["next_cursor"], again["reason"]) == ([], cursor, None)
    assert seen == list(range(20))
    runner.finish(key, 20)
    pocket.project()
    page = await items(api, acme, key, limit=20)
    assert ([each["n"] for each in page["items"]], page["has_more"], page["snapshot"]) == (seen, False, False)
    assert (await read(api, acme, key, "/items", cursor="-1")).status == 422
    assert (await items(api, acme, key, cursor="999"))["items"] == []


async def test_a_page_is_bounded_by_the_bytes_of_its_items_and_one_item_is_always_whole(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_reading, "MAX_PAGE_BYTES", 16)
    key = await submit_spiders(api, acme)
    runner.begin(key)
    await runner.scrape(key, {"n": 0}, {"n": 1}, {"n": 2}, {"n": "x" * 100})
    pocket.project()
    cursor, pages = "", []
    for _ in range(3):
        page = await items(api, acme, key, cursor=cursor)
        pages.append(len(page["items"]))
        cursor = page["next_cursor"]
    assert (pages, page["has_more"]) == ([2, 1, 1], False)


async def test_the_whole_data_set_is_a_file_of_json_lines_packed_or_not(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    key = await submit_spiders(api, acme)
    runner.begin(key)
    for number in range(3):
        await runner.scrape(key, *rows(4, 4 * number))
    pocket.project()
    early = await read(api, acme, key, "/items/download")
    assert (
        early.status,
        "it" in early.json["detail"]["message"] if isinstance(early.json["detail"], dict) else True,
    ) == (409, True)
    runner.fail(key, "critical_log")
    pocket.project()
    plain = await read(api, acme, key, "/items/download", format="jsonl")
    assert [json.loads(each) for each in plain.body.splitlines()] == rows(12)
    assert plain.headers["X-Items-Stored"] == "12"
    packed = await read(api, acme, key, "/items/download")
    assert packed.headers["Content-Type"] == "application/gzip"
    assert packed.headers["Content-Disposition"] == f'attachment; filename="shop-{key}.jsonl.gz"'
    assert gzip.decompress(packed.body) == plain.body


async def test_the_log_is_searched_whole_by_level_and_text_and_read_while_the_job_runs(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    key = await submit_spiders(api, acme)
    early = (await read(api, acme, key, "/logs")).json
    assert early == {"lines": [], "source": "none", "complete": False, "note": "the job has not started yet"}
    runner.begin(key)
    await runner.log(key, line("Crawled shop"), line("Timeout of shop", "error"))
    for number in range(6):
        await runner.log(key, line(f"page {number}", "debug"), line(f"Crawled {number}"), stored=number % 2 == 0)
    pocket.project()
    running = (await read(api, acme, key, "/logs", lines=3)).json
    assert [each.rpartition("] ")[2] for each in running["lines"]] == [
        "INFO: Crawled 4",
        "DEBUG: page 5",
        "INFO: Crawled 5",
    ]
    assert (running["source"], running["complete"], running["note"][:3]) == ("live", False, "cut")
    bad = (await read(api, acme, key, "/logs", level="ERROR", lines=1)).json
    assert bad["lines"] == ["2026-01-01T00:00:00Z [books] ERROR: Timeout of shop"]
    runner.fail(key, "critical_log")
    pocket.project()
    found = (await read(api, acme, key, "/logs", contains="SHOP", org="acme")).json
    assert (len(found["lines"]), found["source"], found["complete"], found["note"]) == (2, "stored", True, None)
    none = (await read(api, acme, key, "/logs", contains="nothing", level="warning")).json
    assert none["note"] == "no line of the log matches: level warning or above, containing 'nothing'"
    assert (await read(api, acme, key, "/logs", level="loud")).json["detail"]["errors"][0]["field"] == "level"
    whole = await read(api, acme, key, "/logs/download")
    lines = gzip.decompress(whole.body).decode().splitlines()
    assert (len(lines), lines[0]) == (14, "2026-01-01T00:00:00Z [books] INFO: Crawled shop")
    assert lines[-1] == "2026-01-01T00:00:00Z [books] INFO: Crawled 5"
    assert whole.headers["Content-Type"] == "application/gzip"


async def test_statistics_are_a_snapshot_while_it_runs_and_keep_every_counter(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    key = await submit_spiders(api, acme)
    assert (await read(api, acme, key, "/stats")).json["note"] == "the job has not started yet"
    runner.begin(key)
    counted: dict[str, Any] = {
        "downloader/request_count": 9,
        "downloader/response_status_count/200": 6,
        "downloader/response_status_count/404": 2,
        "downloader/exception_count": 1,
        "scheduler/dequeued": 11,
        "retry/count": 3,
        "su_cloud/routed": 4,
    }
    await runner.scrape(key, *rows(4))
    runner.count(key, 2)
    runner.count(key, 6, **counted)
    pocket.project()
    shown = (await read(api, acme, key, "/stats")).json
    assert (shown["snapshot"], shown["state"], shown["responses"]) == (True, "running", {"ok": 6, "failed": 2})
    assert (shown["errors"], shown["into_downloader"], shown["answered_before_fetch"], shown["retried"]) == (1, 9, 2, 3)
    assert (shown["items_scraped"], shown["items_stored"], shown["items_buffered"]) == (6, 4, 2)
    assert shown["stats"] == {"item_scraped_count": 6, **counted}
    assert not [name for name in shown if "rate" in name or "success" in name]
    runner.count(key, 6, final=True, **counted)
    runner.finish(key, 6)
    pocket.project()
    ended = (await read(api, acme, key, "/stats")).json
    assert (ended["snapshot"], ended["state"], ended["note"]) == (False, "finished", None)


async def test_a_missing_chunk_of_a_job_within_retention_is_a_fault_of_ours(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner, with_operator: Settings
) -> None:
    key = await submit_spiders(api, acme)
    runner.begin(key)
    await runner.scrape(key, *rows(2))
    runner.finish(key, 2)
    pocket.project()
    await BlobStore(with_operator.blobs).delete_job(acme.org_id, key)
    assert [(await read(api, acme, key, path)).status for path in ("/items", "/items/download")] == [503, 503]
