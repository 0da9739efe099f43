"""Who may make which call, and what an ended job lets happen to it: every route is tried, also those added later."""

import re

import pytest

from api.config.keys import SCOPES
from api.operation import Operation
from api.routes.all import OPERATIONS
from services.ledger.reports import Extracted
from tests.integration.api.conftest import OPERATOR, Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger

ASKS_ONLY = {"/api/v1/jobs/batch-status"}  # a POST that changes nothing
OPEN = {"/spider/health", "/api/v1/openapi.json", "/api/v1/workflows/schema"}
ADMIN_READS = {"/api/v1/keys", "/api/v1/credentials"}
# What may still be done to an ended job, and why that changes no end.
AFTER_THE_END = {
    # a job of a workflow is no module job
    "POST /api/jobs/{job_id}": {404},
    "POST /api/jobs/{job_id}/resume": {404},
    "POST /api/jobs/{job_id}/cancel": {404},
    "DELETE /api/jobs/{job_id}": {404},
    "POST /spider/jobs/{job_id}/cancel": {404},  # nor one of spiders
    "DELETE /api/v1/jobs/{job_id}": {200, 202},  # it is forgotten, not changed
    "POST /api/v1/jobs/{job_id}/deliveries/{destination_id}/redeliver": {202},  # deliveries have lives of their own
    "POST /api/v1/jobs/{job_id}/deliveries/{destination_id}/waive": {202},  # was acknowledged: nothing happens
}


def name_of(operation: Operation) -> str:
    """Return what a call is called in the tables here."""
    return f"{operation.method} {operation.path}"


@pytest.mark.parametrize("operation", OPERATIONS, ids=name_of)
def test_every_route_has_a_scope_that_fits_what_it_does(operation: Operation) -> None:
    if operation.path in OPEN:
        assert (operation.access, operation.method) == ("open", "GET")
    elif operation.path.startswith("/api/v1/orgs"):
        assert operation.access == "operator"
    elif operation.path in ADMIN_READS:
        assert operation.access == "admin"
    elif operation.method == "GET" or operation.path in ASKS_ONLY:
        assert operation.access in ("read", "operator")
    else:
        assert operation.access in ("submit", "admin", "operator"), "what changes something takes more than read"


async def test_every_route_lets_in_the_scope_it_names_and_nobody_else(api: Api, acme: Tenant) -> None:
    callers = {"operator": OPERATOR, "": ""}
    for scope in SCOPES:
        made = await api.call("POST", "/api/v1/keys", acme.key, {"name": scope, "scopes": [scope]})
        callers[scope] = made.json["secret"]
    for operation in OPERATIONS:
        path = re.sub(r"{\w+}", "0f9d0c0e-0000-7000-8000-000000000000", operation.path.replace("{org}", "acme"))
        for caller, key in callers.items():
            answer = await api.call(operation.method, path, key, b"no json" if operation.body else None)
            expected = 403 if caller else 401
            refused = answer.status in (401, 403)
            told = (name_of(operation), caller, answer.status)
            let_in = operation.access in ("open", caller) or (caller == "operator" and operation.operator_too)
            assert refused != let_in, told
            assert not refused or answer.status == expected, told


async def test_no_call_changes_the_end_of_a_job(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    tried = 0
    for operation in OPERATIONS:
        if "{job_id}" not in operation.path or operation.method == "GET":
            continue
        tried += 1
        job_id = await submit(api, acme)
        extracted = Extracted(result_ref=f"acme/{job_id}/1/body", content_type="text/html", result_bytes=3)
        pocket.extract(acme.partition, acme.org_id, job_id, extracted)
        pocket.ack(acme.partition, acme.org_id, job_id)
        pocket.project()
        path = operation.path.format(job_id=job_id, destination_id="internal-postgres")
        answer = await api.call(operation.method, path, acme.key, {} if operation.body else None)
        if name_of(operation) in AFTER_THE_END:
            assert answer.status in AFTER_THE_END[name_of(operation)], (name_of(operation), answer.json)
        else:
            assert (answer.status, answer.json["error"], answer.json["status"]) == (409, "job_terminal", "completed")
        pocket.project()
        if operation.method != "DELETE":
            job = (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json
            assert job["status"] == "completed"
    assert tried >= len(AFTER_THE_END) + 2
