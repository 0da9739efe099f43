"""What every call has in common: errors as JSON, request ids, health, and nothing secret in logs."""

import asyncio
import json
import logging

import pytest
from yarl import URL

from api import http
from services.runtime.logs import JsonLines
from tests.eventually import eventually
from tests.integration.api.conftest import Answered, Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger


async def test_a_body_that_never_arrives_whole_is_the_callers_fault(
    api: Api, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "BODY_SECONDS", 0.05)
    address = URL(api.url)
    reader, writer = await asyncio.open_connection(address.host, address.port)
    head = f"POST /api/v1/jobs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {acme.key}\r\nContent-Length: 9\r\n\r\n{{"
    writer.write(head.encode())
    answered = await asyncio.wait_for(reader.readuntil(b"}"), 5)
    writer.close()
    assert answered.startswith(b"HTTP/1.1 400 ")
    assert b'"bad_request"' in answered


async def test_odd_but_legal_json_is_taken(api: Api, acme: Tenant) -> None:
    body = '{"url": "https://shop.example", "metadata": {"big": 123456789012345678901234567890, "e": "\U0001f600"}}'
    assert (await api.call("POST", "/api/v1/jobs", acme.key, body.encode())).status == 201
    assert (await api.call("POST", "/api/v1/jobs", acme.key, body.encode("ascii", "ignore"))).status == 201


async def test_a_request_id_is_taken_over_where_it_is_one(api: Api) -> None:
    mine = await api.call("GET", "/health", headers={"X-Request-Id": "my-id.1"})
    assert mine.headers["X-Request-Id"] == "my-id.1"
    odd = await api.call("GET", "/health", headers={"X-Request-Id": "a b"})
    assert odd.headers["X-Request-Id"] != "a b"


async def test_a_key_in_the_url_is_refused_and_never_logged(
    api: Api, acme: Tenant, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for path in (f"/api/v1/jobs?key={acme.key}", f"/api/v1/jobs?q={acme.key}", f"/api/v1/jobs/{acme.key}"):
        answer = await api.call("GET", path, acme.key)
        assert (answer.status, answer.json["error"]) == (400, "key_in_url")
        assert acme.key.encode() not in answer.body
    ours = [record for record in caplog.records if record.name.startswith("api")]
    formatter = JsonLines("api")
    assert len(ours) == 3
    assert not any(acme.key in formatter.format(record) for record in ours)


async def test_each_answer_is_one_log_line_with_its_ids_and_no_url(
    api: Api, acme: Tenant, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "api.http")
    monkeypatch.setattr(caplog.handler, "formatter", JsonLines("api"))  # one handler serves every test
    job_id = await submit(api, acme)
    answer = await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)
    text = caplog.text.splitlines()[-1]
    line = json.loads(text)
    assert (line["message"], line["route"], line["status"]) == ("request answered", "/api/v1/jobs/{job_id}", 200)
    assert line["request_id"] == answer.headers["X-Request-Id"]
    assert line["actor"].startswith("api:")
    assert (line["org_id"], line["job_id"]) == ("acme", job_id)
    assert f"jobs/{job_id}" not in text


async def test_the_api_is_ready_when_its_parts_make_progress_and_red_when_one_does_not(api: Api, acme: Tenant) -> None:
    assert (await api.call("GET", "/health")).status == 200
    answer = await _until_ready_is(api, 200)
    assert set(answer.json["parts"]) == {"postgres", "ledger", "decider"}
    api.feed.paused = True
    await submit(api, acme)
    answer = await _until_ready_is(api, 503)
    assert "has not read the log" in answer.json["parts"]["ledger"]["reason"]
    api.feed.paused = False
    await _until_ready_is(api, 200)


async def _until_ready_is(api: Api, status: int) -> Answered:
    async def is_so() -> bool:
        return (await api.call("GET", "/ready")).status == status

    await eventually(is_so)
    return await api.call("GET", "/ready")


async def test_metrics_count_requests_by_route_and_not_by_url(api: Api, acme: Tenant) -> None:
    await submit(api, acme)
    await api.call("PROPFIND", "/api/v1/jobs", acme.key)
    text = (await api.call("GET", "/metrics")).body.decode()
    assert 'jobledger_http_requests_total{method="POST",route="/api/v1/jobs",status="201"}' in text
    assert "PROPFIND" not in text


async def test_the_description_is_served_to_anybody(api: Api) -> None:
    answer = await api.call("GET", "/api/v1/openapi.json")
    assert (answer.status, answer.json["openapi"]) == (200, "3.1.0")


async def test_big_answers_are_compressed_as_asked_but_none_that_shows_a_secret(api: Api, acme: Tenant) -> None:
    await api.call("POST", "/api/v1/jobs", acme.key, {"urls": [f"https://shop.example/{n}" for n in range(40)]})
    plain = await api.call("GET", "/api/v1/openapi.json", headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    for accepted in ("gzip", "deflate"):
        small = await api.call("GET", "/api/v1/openapi.json", headers={"Accept-Encoding": accepted})
        assert (small.headers["Content-Encoding"], small.headers["Vary"]) == (accepted, "Accept-Encoding")
        assert int(small.headers["Content-Length"]) < len(plain.body) / 4
        assert small.body == plain.body
    made = await api.call("POST", "/api/v1/keys", acme.key, {"name": "x" * 200}, headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in made.headers


async def test_a_job_that_has_not_changed_is_not_sent_again(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme)
    path = f"/api/v1/jobs/{job_id}"
    known = (await api.call("GET", path, acme.key)).headers["ETag"]
    for projected in (False, True):
        for tag in (known, known.removeprefix("W/"), f'"x", {known}', "*"):
            same = await api.call("GET", path, acme.key, headers={"If-None-Match": tag})
            assert (same.status, same.body, same.headers["ETag"]) == (304, b"", known), projected
        pocket.project()
    assert (await api.call("GET", path, acme.key, headers={"If-None-Match": '"1:1"'})).status == 200
    await api.call("POST", f"{path}/cancel", acme.key)
    pocket.project()
    changed = await api.call("GET", path, acme.key, headers={"If-None-Match": known})
    assert (changed.status, changed.json["status"]) == (200, "cancelled")
    assert changed.headers["ETag"] != known


async def test_a_path_without_parameters_is_no_id(api: Api, acme: Tenant) -> None:
    for method, path, allowed in (
        ("GET", "/api/v1/jobs/batch-status", "POST"),
        ("DELETE", "/api/v1/workflows/schema", "GET"),
        ("OPTIONS", "/api/v1/jobs/batch-status", "POST"),
        ("PUT", "/api/v1/jobs", "GET, POST"),
    ):
        answer = await api.call(method, path, acme.key)
        assert (answer.status, answer.headers["Allow"]) == (405, allowed), (method, path)
