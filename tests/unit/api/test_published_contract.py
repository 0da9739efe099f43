"""The calls of the published API for workflow jobs are there, and their answers have its fields.

What the fields hold, tests of each call say; a row here would be missed by whoever renames one and all its tests.
"""

import re
from typing import Any

import pytest

from api import openapi
from api.routes.all import OPERATIONS

DESCRIBED = openapi.document(OPERATIONS)
V1 = "/api/v1"
CALLS = f"""
POST {V1}/jobs
GET {V1}/jobs
GET {V1}/jobs/*
GET {V1}/jobs/*/stream
POST {V1}/jobs/batch-status
GET {V1}/jobs/*/result
GET {V1}/extraction/results/*
GET {V1}/extractions
POST {V1}/jobs/*/cancel
GET {V1}/plans/status
POST {V1}/workflows
GET {V1}/workflows
GET {V1}/workflows/*
PUT {V1}/workflows/*
DELETE {V1}/workflows/*
POST {V1}/workflows/*/publish
POST {V1}/workflows/*/unpublish
POST {V1}/schedules
GET {V1}/schedules
GET {V1}/schedules/*
PUT {V1}/schedules/*
DELETE {V1}/schedules/*
POST {V1}/schedules/*/trigger
POST {V1}/schedules/*/enable
POST {V1}/schedules/*/disable
POST {V1}/webhooks
GET {V1}/webhooks
GET {V1}/webhooks/*
PATCH {V1}/webhooks/*
DELETE {V1}/webhooks/*
POST {V1}/webhooks/*/test
GET {V1}/webhooks/*/deliveries
POST {V1}/webhooks/*/replay
POST {V1}/destinations
GET {V1}/destinations
GET {V1}/destinations/*
PATCH {V1}/destinations/*
DELETE {V1}/destinations/*
GET {V1}/jobs/*/deliveries
POST {V1}/jobs/*/deliveries/*/redeliver
POST {V1}/jobs/*/deliveries/*/waive
POST {V1}/credentials
GET {V1}/credentials
DELETE {V1}/credentials/*
POST {V1}/keys
GET {V1}/keys
POST {V1}/keys/*/rotate
DELETE {V1}/keys/*
POST {V1}/orgs
PATCH {V1}/orgs/*
POST {V1}/orgs/*/credits
PUT {V1}/orgs/*/plan
POST {V1}/orgs/*/pause
POST {V1}/orgs/*/resume
POST /api/jobs
POST /api/jobs/*
GET /api/jobs/*
GET /api/jobs/*/items
POST /api/jobs/*/resume
POST /api/jobs/*/cancel
DELETE /api/jobs/*
POST /spider/jobs
GET /spider/jobs
GET /spider/jobs/*
POST /spider/jobs/*/cancel
GET /spider/jobs/*/logs
GET /spider/jobs/*/logs/download
GET /spider/jobs/*/items
GET /spider/jobs/*/items/download
GET /spider/jobs/*/stats
GET /spider/projects/*/*/spiders
""".split("\n")[1:-1]  # fmt: skip
ANSWERS: list[tuple[str, str, str, str]] = [  # the call, its status, where in the answer, and the fields there
    ("GET /api/v1/jobs/*", "200", "", "status workflowId version errorType errorMessage scheduleId createdAt "
     "completedAt executionTrace transitions gate"),
    ("GET /api/v1/jobs/*", "200", "executionTrace", "node provider attempt outcome statusCode latencyMs errorType "
     "edge startedAt endedAt"),
    ("GET /api/v1/jobs/*", "200", "transitions", "status at"),
    ("GET /api/v1/jobs/*", "200", "gate", "expected acked pending"),
    ("GET /api/v1/extraction/results/*", "200", "", "id orgId jobId domain schemaId dataType normalized rawBlobKey "
     "qualityCompleteness qualityValidation qualityComposite latencyMs deliveredAt createdAt"),
    ("GET /api/v1/extraction/results/*", "202", "", "retryAfterSeconds"),
    ("GET /api/v1/extractions", "200", "", "indexingPending extractions page pageSize"),
    ("GET /api/jobs/*", "200", "", "id job_type queries zones status grid_points_count processed_points results_count "
     "error_count ef_cost created_at started_at completed_at expires_at error_message output_filename "
     "download_available source_job_id breakdown dead_queries total_attempts_count query_stats"),
    ("GET /api/jobs/*", "200", "breakdown", "by_query by_zone"),
    ("POST /spider/jobs", "201", "", "key state spiders items_total"),
    ("GET /spider/jobs", "200", "jobs", "key state spiders items_total delivered"),
    ("GET /spider/jobs/*", "200", "", "key state spiders items_total items_stored snapshot delivered"),
    ("GET /spider/jobs/*/logs", "200", "", "lines source complete note"),
    ("GET /spider/jobs/*/items", "200", "", "items next_cursor has_more status snapshot items_scraped items_stored"),
    ("GET /spider/jobs/*/stats", "200", "responses", "ok failed"),
    ("GET /spider/jobs/*/stats", "200", "", "errors into_downloader answered_before_fetch retried snapshot stats"),
    ("GET /spider/projects/*/*/spiders", "200", "spiders", "spider last_run items grouped_runs"),
    ("GET /api/v1/plans/status", "200", "", "plan canSubmitJobs remainingCredits"),
    ("GET /api/v1/schedules/*", "200", "", "cron timezone tags missed nextRunAt enabled"),
]  # fmt: skip
ASKED: list[tuple[str, str]] = [
    ("POST /api/v1/jobs", "url urls workflowId input metadata priority"),
    ("POST /api/jobs", "queries zones url_template extract"),
    ("POST /api/v1/jobs/batch-status", "jobIds"),
    (
        "POST /spider/jobs",
        "org project spiders spider_args settings env deploy_version grouped unblock proxy_country "
        "isolate_pipelines memory cpus timeout_seconds log_level priority",
    ),
    ("POST /api/v1/destinations", "kind settings gating onExhausted"),
]
PARAMETERS: list[tuple[str, str]] = [
    ("GET /api/v1/jobs", "status cursor limit"),
    ("GET /api/jobs/*/items", "offset limit"),
    ("GET /api/v1/extractions", "domain url page pageSize"),
    ("POST /api/v1/jobs", "Idempotency-Key"),
    ("POST /spider/jobs", "Idempotency-Key"),
    ("GET /spider/jobs", "org project state limit"),
    ("GET /spider/jobs/*/logs", "lines level contains org"),
    ("GET /spider/jobs/*/items", "cursor limit org"),
    ("GET /spider/jobs/*/items/download", "format"),
]


def calls() -> dict[str, dict[str, Any]]:
    """Return what is described of each call, by method and path with `*` for what varies."""
    return {
        f"{method.upper()} {re.sub(r'{[^}]*}', '*', path)}": said
        for path, of_path in DESCRIBED["paths"].items()
        for method, said in of_path.items()
    }


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the object behind references, lists and `null`."""
    while True:
        if "$ref" in schema:
            schema = DESCRIBED["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        elif "items" in schema:
            schema = schema["items"]
        elif "anyOf" in schema:
            [schema] = [option for option in schema["anyOf"] if option.get("type") != "null"]
        else:
            return schema


def of_content(described: dict[str, Any]) -> dict[str, Any]:
    return resolved(described["content"]["application/json"]["schema"])


@pytest.mark.parametrize("call", CALLS)
def test_a_published_call_is_there(call: str) -> None:
    assert call in calls()


@pytest.mark.parametrize(("call", "status", "part", "names"), ANSWERS)
def test_an_answer_always_has_its_published_fields(call: str, status: str, part: str, names: str) -> None:
    answer = of_content(calls()[call]["responses"][status])
    answer = resolved(answer["properties"][part]) if part else answer
    assert set(names.split()) <= set(answer["properties"])
    assert set(names.split()) <= set(answer["required"])


@pytest.mark.parametrize(("call", "names"), ASKED)
def test_a_request_may_have_its_published_fields(call: str, names: str) -> None:
    assert set(names.split()) <= set(of_content(calls()[call]["requestBody"])["properties"])


@pytest.mark.parametrize(("call", "names"), PARAMETERS)
def test_a_call_takes_its_published_parameters(call: str, names: str) -> None:
    assert set(names.split()) <= {each["name"] for each in calls()[call]["parameters"]}
