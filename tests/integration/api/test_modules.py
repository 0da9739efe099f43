"""Module jobs at the API, call by call as their published API has them."""

import asyncio
from typing import Any

import pytest

from services.runtime.blob import BlobStore
from services.runtime.settings import Settings
from tests.integration.api.conftest import Api, Tenant, submit
from tests.integration.api.module_work import PLAN, SCRAP, ModuleWorker, read, submit_scrap
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.test_delete import delete
from tests.integration.api.test_retention import expire

FIELDS = {
    "id", "job_type", "queries", "zones", "status", "grid_points_count", "processed_points", "results_count",
    "error_count", "ef_cost", "created_at", "started_at", "completed_at", "expires_at", "error_message",
    "output_filename", "download_available", "source_job_id", "breakdown", "dead_queries", "total_attempts_count",
    "query_stats",
}  # fmt: skip


@pytest.fixture
def worker(pocket: PocketLedger, with_operator: Settings, acme: Tenant) -> ModuleWorker:
    """A worker of acme's jobs."""
    return ModuleWorker(pocket, with_operator, acme)


def but(shown: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in shown.items() if name not in names}


async def test_a_job_is_there_from_the_first_moment_and_has_every_field(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    made = await api.call("POST", "/api/jobs", acme.key, SCRAP)
    job_id = made.json["id"]
    assert made.json == {"id": job_id, "job_type": "scrap", "status": "pending", "source_job_id": None}
    assert (made.status, made.headers["Location"]) == (201, f"/api/jobs/{job_id}")
    fresh = await read(api, acme, job_id)
    pocket.project()
    stored = await read(api, acme, job_id, min_position=made.headers["Ledger-Position"])
    assert fresh.json == stored.json
    assert set(stored.json) == FIELDS
    assert but(stored.json, "created_at") == {
        "id": job_id,
        "job_type": "scrap",
        "queries": SCRAP["queries"],
        "zones": SCRAP["zones"],
        "status": "pending",
        **dict.fromkeys(("grid_points_count", "processed_points", "results_count", "error_count", "ef_cost"), 0),
        **dict.fromkeys(("started_at", "completed_at", "expires_at", "error_message", "output_filename"), None),
        "download_available": False,
        "source_job_id": None,
        "breakdown": {"by_query": {}, "by_zone": {}},
        "dead_queries": [],
        "total_attempts_count": 1,
        "query_stats": {},
    }
    assert (await read(api, acme, job_id, "/items")).json == {"items": [], "offset": 0, "limit": 200, "total": 0}


async def test_results_and_counts_are_read_while_it_runs_and_the_file_once_it_is_done(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker
) -> None:
    job_id = await submit_scrap(api, acme)
    await worker.begin(job_id)
    await worker.record(job_id, True, True, False)
    await worker.record(job_id, True)
    pocket.project()
    shown = (await read(api, acme, job_id)).json
    assert (shown["status"], shown["grid_points_count"], shown["processed_points"]) == ("running", 6, 4)
    assert (shown["results_count"], shown["error_count"], shown["dead_queries"]) == (3, 1, ["void"])
    assert shown["breakdown"] == {"by_query": {"lamp": 2, "desk": 1, "void": 0}, "by_zone": {"berlin": 2, "rome": 1}}
    assert shown["query_stats"]["void"] == {"processed": 1, "results": 0, "errors": 1}
    assert shown["started_at"]
    assert not shown["download_available"]
    page = (await read(api, acme, job_id, "/items")).json
    assert page == {"items": [{"n": n, **PLAN[n]} for n in (0, 1, 3)], "offset": 0, "limit": 200, "total": 3}
    parts = [(await read(api, acme, job_id, "/items", offset=n, limit=2)).json["items"] for n in range(4)]
    assert [[row["n"] for row in part] for part in parts] == [[0, 1], [1, 3], [3], []]
    await worker.record(job_id, True, True)
    worker.done(job_id)
    pocket.project()
    done = (await read(api, acme, job_id)).json
    assert (done["status"], done["processed_points"], done["dead_queries"]) == ("done", 6, [])
    assert (done["download_available"], done["output_filename"]) == (True, f"scrap-{job_id}.json")
    assert done["completed_at"] < done["expires_at"]


async def test_30_a_resume_is_a_new_job_that_has_the_results_so_far_and_only_one_at_a_time(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker
) -> None:
    job_id = await submit_scrap(api, acme)
    path = f"/api/jobs/{job_id}/resume"
    early = await api.call("POST", path, acme.key)
    assert (early.status, type(early.json["detail"])) == (409, str)
    await worker.begin(job_id)
    await worker.record(job_id, True, True, False)
    worker.fail(job_id)
    pocket.project()
    failed = (await read(api, acme, job_id)).json
    assert (failed["status"], failed["error_message"], failed["download_available"]) == ("failed", "broken here", True)
    both = await asyncio.gather(api.call("POST", path, acme.key), api.call("POST", path, acme.key))
    assert sorted(each.status for each in both) == [201, 400]
    [made] = [each for each in both if each.status == 201]
    [other] = [each for each in both if each.status == 400]
    next_id = made.json["id"]
    assert other.json == {"detail": f"job {next_id} goes on from it already; wait until that has ended"}
    assert made.json == {"id": next_id, "job_type": "scrap", "status": "pending", "source_job_id": job_id}
    pocket.project()
    shown = (await read(api, acme, next_id)).json
    assert (shown["source_job_id"], shown["total_attempts_count"], shown["queries"]) == (job_id, 2, SCRAP["queries"])
    assert (shown["grid_points_count"], shown["processed_points"], shown["results_count"]) == (6, 2, 2)
    assert (shown["error_count"], shown["query_stats"]["lamp"]["results"], "void" in shown["query_stats"]) == (
        0,
        1,
        False,
    )
    await worker.begin(next_id)
    await worker.record(next_id, True, True, True, True)
    worker.done(next_id)
    pocket.project()
    rows = (await read(api, acme, next_id, "/items", offset=1)).json["items"]
    assert [row["n"] for row in rows] == [1, 2, 3, 4, 5]
    assert (await read(api, acme, job_id)).json == {**failed, "total_attempts_count": 2}
    assert (await api.call("POST", path, acme.key)).status == 201


async def test_a_repeat_with_a_key_makes_no_second_job(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker
) -> None:
    key = {"Idempotency-Key": "order-1"}
    first = await api.call("POST", "/api/jobs", acme.key, SCRAP, headers=key)
    again = await api.call("POST", "/api/jobs/scrap", acme.key, SCRAP, headers=key)
    assert (again.status, again.headers["Idempotency-Replayed"], again.json) == (200, "true", first.json)
    other = await api.call("POST", "/api/jobs", acme.key, SCRAP | {"zones": ["oslo", "rome"]}, headers=key)
    assert (other.status, other.json["detail"]["errors"][0]["field"]) == (409, "Idempotency-Key")
    job_id = first.json["id"]
    await worker.begin(job_id)
    worker.fail(job_id)
    pocket.project()
    resumed = await api.call("POST", f"/api/jobs/{job_id}/resume", acme.key, headers=key)
    repeated = await api.call("POST", f"/api/jobs/{job_id}/resume", acme.key, headers=key)
    assert (resumed.status, repeated.status, repeated.json) == (201, 200, resumed.json)


async def test_a_cancelled_job_keeps_its_results_and_a_deleted_one_is_gone(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker
) -> None:
    job_id = await submit_scrap(api, acme)
    await worker.begin(job_id)
    await worker.record(job_id, True, False)
    cancelled = await api.call("POST", f"/api/jobs/{job_id}/cancel", acme.key)
    assert (cancelled.status, cancelled.json["status"]) == (202, "cancelled")
    pocket.project()
    shown = (await read(api, acme, job_id)).json
    assert (shown["status"], shown["download_available"]) == ("cancelled", True)
    assert [row["n"] for row in (await read(api, acme, job_id, "/items")).json["items"]] == [0]
    twice = await api.call("POST", f"/api/jobs/{job_id}/cancel", acme.key)
    assert (twice.status, list(twice.json)) == (409, ["detail"])
    deleted = await delete(api, acme, pocket, job_id, "/api/jobs")
    assert (deleted.status, deleted.json) == (200, {"id": job_id, "deleted": True})
    for part in ("", "/items"):
        assert (await read(api, acme, job_id, part)).status == 404


async def test_45_an_expired_job_stays_and_its_results_are_answered_as_gone(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker
) -> None:
    job_id = await submit_scrap(api, acme)
    await worker.begin(job_id)
    await worker.record(job_id, *[True] * 6)
    worker.done(job_id)
    await expire(api, pocket, acme, job_id)
    pocket.project()
    shown = (await read(api, acme, job_id)).json
    assert (shown["status"], shown["results_count"], shown["download_available"]) == ("expired", 6, False)
    assert (shown["output_filename"], shown["query_stats"]) == (None, {})
    assert (await read(api, acme, job_id, "/items")).status == 410
    assert (await api.call("POST", f"/api/jobs/{job_id}/resume", acme.key)).status == 410


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("/api/jobs", b"{", 400, None),
        ("/api/jobs", {}, 422, "queries"),
        ("/api/jobs", SCRAP | {"qeries": []}, 422, "qeries"),
        ("/api/jobs", SCRAP | {"url_template": "https://shop.example/"}, 422, "url_template"),
        ("/api/jobs", SCRAP | {"queries": [f"{n:0400}" for n in range(700)]}, 413, "queries"),
        ("/api/jobs/sitemap", {"url": "ftp://x", "extract": SCRAP["extract"]}, 422, "url"),
        ("/api/jobs/enrich", {"extract": SCRAP["extract"]}, 422, "job_id"),
        ("/api/jobs/nothing", SCRAP, 404, None),
        ("/api/jobs/a/b/c", SCRAP, 404, None),
    ],
)
async def test_an_error_has_a_detail_and_names_every_field_at_fault(
    api: Api, acme: Tenant, path: str, body: Any, status: int, field: str | None
) -> None:
    refused = await api.call("POST", path, acme.key, body)
    assert (refused.status, list(refused.json)) == (status, ["detail"])
    assert refused.headers["X-Request-Id"]
    if field is None:
        assert isinstance(refused.json["detail"], str)
    else:
        assert refused.json["detail"]["message"]
        assert field in [each["field"] for each in refused.json["detail"]["errors"]]


async def test_who_may_not_call_is_told_in_the_same_shape(api: Api, acme: Tenant) -> None:
    assert list((await api.call("GET", "/api/jobs/x")).json) == ["detail"]
    wrong = await api.call("PUT", "/api/jobs", acme.key)
    assert (wrong.status, list(wrong.json), wrong.headers["Allow"]) == (405, ["detail"], "POST")
    limit = await read(api, acme, await submit_scrap(api, acme), "/items", limit=0)
    assert (limit.status, limit.json["detail"]["errors"][0]["field"]) == (422, "limit")


async def test_a_job_of_another_vocabulary_is_no_module_job(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme)
    for stored in (False, True):
        for part in ("", "/items"):
            assert (await read(api, acme, job_id, part)).status == 404, stored
        assert (await api.call("POST", f"/api/jobs/{job_id}/resume", acme.key)).status == 404
        pocket.project()


async def test_the_call_for_one_body_says_where_the_items_of_a_module_job_are(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker
) -> None:
    job_id = await submit_scrap(api, acme)
    await worker.begin(job_id)
    await worker.record(job_id, True)
    for end in (False, True):
        if end:
            worker.done(job_id)
        pocket.project()
        answer = await api.call("GET", f"/api/v1/jobs/{job_id}/result", acme.key)
        assert (answer.status, answer.json["error"]) == (409, "result_elsewhere")
        page = await api.call("GET", answer.json["items"], acme.key)
        assert (page.status, len(page.json["items"])) == (200, 1)
        file = await api.call("GET", answer.json["download"], acme.key)
        assert file.status == (200 if end else 409)
    await expire(api, pocket, acme, job_id)
    pocket.project()
    assert (await api.call("GET", f"/api/v1/jobs/{job_id}/result", acme.key)).status == 410


async def test_params_that_are_too_large_are_refused_by_the_name_of_the_largest(api: Api, acme: Tenant) -> None:
    refused = await api.call("POST", "/api/jobs", acme.key, SCRAP | {"queries": [f"{n:0200}" for n in range(1_500)]})
    assert refused.status == 413
    assert [each["field"] for each in refused.json["detail"]["errors"]] == ["queries"]
    assert "split the job" in refused.json["detail"]["message"]


async def test_a_page_reads_only_the_chunks_that_it_shows(
    api: Api, acme: Tenant, pocket: PocketLedger, worker: ModuleWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = await submit_scrap(api, acme)
    await worker.begin(job_id)
    for _ in range(3):
        await worker.record(job_id, True, True)
    pocket.project()
    asked: list[str] = []

    async def first(store: BlobStore, key: str, length: int, read: Any = BlobStore.first) -> bytes:
        asked.append(key)
        return bytes(await read(store, key, length))

    monkeypatch.setattr(BlobStore, "first", first)
    for offset, chunks in ((0, 1), (1, 2), (2, 1), (6, 0)):
        asked.clear()
        rows = (await read(api, acme, job_id, "/items", offset=offset, limit=2)).json["items"]
        assert [row["n"] for row in rows] == list(range(6))[offset : offset + 2]
        assert len(asked) == chunks
