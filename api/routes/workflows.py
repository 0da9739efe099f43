"""Workflows of the caller's org: save, clone and read versions."""

import asyncio
import re
import time
from typing import Any

import msgspec
from aiohttp import web

from api import config_answers, requests
from api.config import orgs, workflows
from api.errors import Problem, invalid, not_found
from api.etags import tag_of, wanted
from api.http import answer
from api.operation import Call, Operation
from api.times import iso_or_none
from api.urls import route_form
from api.workflow_answers import chosen, current, line_of, refusals, shown, versions_of, workflow_id_of
from services.ledger.workflow import Fault, SelectorKind, Workflow, WorkflowInvalid, digest
from services.ledger.workflow_reading import MAX_DOCUMENT_BYTES, document_from
from services.ledger.workflow_schema import workflow_schema
from services.runtime.blob import blob_key
from services.runtime.ids import uuid7
from services.workers.extract.selectors import selector_fault

MAX_BODY_BYTES = MAX_DOCUMENT_BYTES + 64 * 1024
CHECK_CPU_SECONDS = 5.0  # for the selectors of one document; thousands take less
RESERVED = "schema"  # a path of its own


async def save(call: Call) -> web.StreamResponse:
    """Save a version. A document that the newest version holds already makes no other."""
    body: requests.SaveWorkflow = call.body
    workflow_id, expected = _id_for(body.workflow_id), wanted(call.request) or workflows.anything
    return await _save(call, workflow_id, await checked(body.document), body.publish, expected)


async def update(call: Call) -> web.StreamResponse:
    """Save the next version of a workflow, unless somebody else did since the caller read it."""
    workflow_id, expected = workflow_id_of(call), wanted(call.request)
    await versions_of(call)  # there is one
    if expected is None:
        message = "send the ETag of the workflow that you read as If-Match, or * to overwrite whatever is there"
        raise Problem("if_match_missing", message, field="If-Match")
    return await _save(call, workflow_id, await checked(call.body.document), call.body.publish, expected)


async def clone(call: Call) -> web.StreamResponse:
    """Make a new workflow, a draft, of a version of another, with the same routes."""
    body: requests.CloneWorkflow = call.body
    source = await chosen(call, current(await versions_of(call)) if body.version is None else body.version)
    document = dict(source.document)
    if body.name is not None:
        document["name"] = body.name
    workflow_id = _id_for(body.workflow_id)
    try:
        return await _save(
            call, workflow_id, await checked(document), publish=False, expected=lambda newest: newest == 0
        )
    except Problem as problem:
        if problem.code != "version_changed":
            raise
        message = f"the org has another workflow {workflow_id}: choose another workflowId"
        raise Problem("workflow_exists", message, field="workflowId") from None


async def every(call: Call) -> web.StreamResponse:
    """Answer each workflow as its published version, or else its newest."""
    found = await workflows.every(call.parts.pool, call.caller.org_id)
    return answer(200, config_answers.Workflows(workflows=[line_of(version) for version in found]))


async def get(call: Call) -> web.StreamResponse:
    """Answer the published version, or else the newest, with its document, and all versions."""
    found = await versions_of(call)
    runs = await chosen(call, current(found))
    history = config_answers.WorkflowHistory(
        **msgspec.structs.asdict(shown(runs)),
        versions=[line_of(version) for version in found],
        paused_at=iso_or_none(await orgs.workflow_paused_at(call.parts.pool, call.caller.org_id, runs.workflow_id)),
    )
    return answer(200, history, {"ETag": tag_of(runs.version)})


async def versions(call: Call) -> web.StreamResponse:
    """Answer all versions of a workflow, newest first."""
    found = await versions_of(call)
    return answer(200, config_answers.WorkflowVersions(versions=[line_of(version) for version in found]))


async def version(call: Call) -> web.StreamResponse:
    """Answer one version with its document, published or not."""
    number = call.request.match_info["version"]
    if not re.fullmatch(r"[1-9][0-9]{0,8}", number, re.ASCII):
        raise not_found("version of a workflow")
    found = await chosen(call, int(number))
    return answer(200, shown(found), {"ETag": tag_of(found.version)})


async def schema(_call: Call) -> web.StreamResponse:
    """Answer the JSON Schema of workflow documents."""
    return answer(200, workflow_schema())


async def _save(
    call: Call, workflow_id: str, document: Workflow, publish: bool, expected: workflows.Expected
) -> web.StreamResponse:
    org_id, pool = call.caller.org_id, call.parts.pool
    data = msgspec.json.encode(document, order="sorted")
    ref = blob_key(org_id, "workflows", 0, f"{digest(document)}.json")
    await call.parts.blobs.put(ref, data)  # before anything names it; the same content has the same key
    plain: dict[str, Any] = msgspec.json.decode(data)
    with refusals():
        saved, new = await workflows.save(pool, org_id, workflow_id, plain, ref, publish=publish, expected=expected)
    headers = {"Location": f"/api/v1/workflows/{workflow_id}", "ETag": tag_of(saved.version)}
    return answer(201 if new else 200, shown(saved), headers)


async def checked(document: dict[str, object]) -> Workflow:
    """Read a document in a thread of its own: selectors by the thousand take seconds, and others call meanwhile."""
    try:
        return await asyncio.to_thread(_read, msgspec.json.encode(document))
    except WorkflowInvalid as error:
        faults = [_fault(fault) for fault in error.faults]
        message = f"the workflow cannot run, {len(faults)} faults: {error}"
        raise Problem("workflow_invalid", message, field=faults[0]["path"], details={"faults": faults}) from None


def _read(data: bytes) -> Workflow:
    until = time.thread_time() + CHECK_CPU_SECONDS

    def check(kind: SelectorKind, query: str) -> str | None:
        if time.thread_time() > until:
            message = f"its selectors take more than {CHECK_CPU_SECONDS:g} s to check: write fewer, or shorter ones"
            raise WorkflowInvalid([Fault("document", "too_large", message)])
        return selector_fault(kind, query)

    return document_from(data, selector_fault=check, route_form=route_form)


def _fault(fault: Fault) -> dict[str, str]:
    path = "document" if fault.path in ("", "document") else f"document.{fault.path}"
    return {"path": path, "code": fault.code, "message": fault.message}


def _id_for(asked: str | None) -> str:
    """Return the id that the caller asks for, or a new one."""
    if asked == RESERVED:
        raise invalid("workflowId", f"{RESERVED!r} is a path of the API: name the workflow otherwise")
    return asked or f"wf-{uuid7()}"


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/v1/workflows",
        summary="Save a workflow, or a new version of one",
        access="submit",
        handler=save,
        body=requests.SaveWorkflow,
        headers=("If-Match",),
        max_body_bytes=MAX_BODY_BYTES,
        answers={201: config_answers.Workflow, 200: config_answers.Workflow},
        errors=("route_conflict", "version_changed", "workflow_invalid", "unusable_text"),
    ),
    Operation(
        method="GET",
        path="/api/v1/workflows",
        summary="List the workflows of the org",
        access="read",
        handler=every,
        answers={200: config_answers.Workflows},
    ),
    Operation(
        method="GET",
        path="/api/v1/workflows/schema",
        summary="Read the JSON Schema of workflow documents",
        access="open",
        handler=schema,
        answers={200: None},
    ),
    Operation(
        method="GET",
        path="/api/v1/workflows/{workflow_id}",
        summary="Read a workflow and the list of its versions",
        access="read",
        handler=get,
        answers={200: config_answers.WorkflowHistory},
        errors=("not_found",),
    ),
    Operation(
        method="PUT",
        path="/api/v1/workflows/{workflow_id}",
        summary="Save the next version of a workflow, unless somebody else did",
        access="submit",
        handler=update,
        body=requests.UpdateWorkflow,
        headers=("If-Match",),
        max_body_bytes=MAX_BODY_BYTES,
        answers={201: config_answers.Workflow, 200: config_answers.Workflow},
        errors=(
            "not_found",
            "route_conflict",
            "version_changed",
            "workflow_invalid",
            "unusable_text",
            "if_match_missing",
        ),
    ),
    Operation(
        method="GET",
        path="/api/v1/workflows/{workflow_id}/versions",
        summary="List the versions of a workflow",
        access="read",
        handler=versions,
        answers={200: config_answers.WorkflowVersions},
        errors=("not_found",),
    ),
    Operation(
        method="GET",
        path="/api/v1/workflows/{workflow_id}/versions/{version}",
        summary="Read one version of a workflow",
        access="read",
        handler=version,
        answers={200: config_answers.Workflow},
        errors=("not_found",),
    ),
    Operation(
        method="POST",
        path="/api/v1/workflows/{workflow_id}/clone",
        summary="Make a new workflow of a version of another",
        access="submit",
        handler=clone,
        body=requests.CloneWorkflow,
        body_optional=True,
        answers={201: config_answers.Workflow},
        errors=("not_found", "workflow_exists", "workflow_invalid", "unusable_text"),
    ),
)
