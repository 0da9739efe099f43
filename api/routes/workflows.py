"""Workflows of the caller's org: save a version, list, read, publish."""

import re

import msgspec
from aiohttp import web

from api import answers, requests
from api.config import workflows
from api.errors import Problem, not_found
from api.http import answer
from api.operation import Call, Operation
from api.times import iso, iso_or_none
from services.ledger.workflow import Fault, Workflow, WorkflowInvalid, digest
from services.ledger.workflow_reading import MAX_DOCUMENT_BYTES, document_from
from services.runtime.blob import blob_key
from services.runtime.ids import uuid7
from services.workers.extract.selectors import selector_fault

MAX_BODY_BYTES = MAX_DOCUMENT_BYTES + 64 * 1024


async def save(call: Call) -> web.StreamResponse:
    """Save a version. A document that the newest version holds already makes no other."""
    body: requests.SaveWorkflow = call.body
    document = _read(body.document)
    workflow_id = body.workflow_id or f"wf-{uuid7()}"
    org_id, pool = call.caller.org_id, call.parts.pool
    data = msgspec.json.encode(document, order="sorted")
    ref = blob_key(org_id, "workflows", 0, f"{digest(document)}.json")
    await call.parts.blobs.put(ref, data)  # before anything names it; the same content has the same key
    version, new = await workflows.save(pool, org_id, workflow_id, msgspec.json.decode(data), ref)
    if body.publish:
        version = await workflows.publish(pool, org_id, workflow_id, version.version) or version
    return answer(201 if new else 200, _shown(version), {"Location": f"/api/v1/workflows/{workflow_id}"})


async def every(call: Call) -> web.StreamResponse:
    """Answer each workflow as its published version, or else its newest."""
    found = await workflows.every(call.parts.pool, call.caller.org_id)
    return answer(200, answers.Workflows(workflows=[_line(version) for version in found]))


async def get(call: Call) -> web.StreamResponse:
    """Answer the published version, or else the newest, with its document, and all versions."""
    workflow_id = _workflow_id(call)
    versions = await workflows.versions(call.parts.pool, call.caller.org_id, workflow_id)
    if not versions:
        raise not_found("workflow")
    shown = next((version for version in versions if version.state == "published"), versions[0])
    history = answers.WorkflowHistory(
        **msgspec.structs.asdict(_shown(shown)), versions=[_line(version) for version in versions]
    )
    return answer(200, history)


async def publish(call: Call) -> web.StreamResponse:
    """Let a version be the one that runs; jobs that run another one keep it."""
    workflow_id = _workflow_id(call)
    version = await workflows.publish(call.parts.pool, call.caller.org_id, workflow_id, call.body.version)
    if version is None:
        raise not_found("version of a workflow")
    return answer(200, _shown(version))


def _read(document: dict[str, object]) -> Workflow:
    try:
        return document_from(msgspec.json.encode(document), selector_fault=selector_fault)
    except WorkflowInvalid as error:
        faults = [_fault(fault) for fault in error.faults]
        message = f"the workflow cannot run, {len(faults)} faults: {error}"
        raise Problem("workflow_invalid", message, field=faults[0]["path"], details={"faults": faults}) from None


def _fault(fault: Fault) -> dict[str, str]:
    path = "document" if fault.path in ("", "document") else f"document.{fault.path}"
    return {"path": path, "code": fault.code, "message": fault.message}


def _workflow_id(call: Call) -> str:
    workflow_id = call.request.match_info["workflow_id"]
    if not re.fullmatch(requests.ID_PATTERN, workflow_id, re.ASCII):
        raise not_found("workflow")
    return workflow_id


def _line(version: workflows.Version) -> answers.WorkflowVersion:
    return answers.WorkflowVersion(
        workflow_id=version.workflow_id,
        version=version.version,
        state=version.state,
        created_at=iso(version.created_at),
        published_at=iso_or_none(version.published_at),
    )


def _shown(version: workflows.Version) -> answers.Workflow:
    return answers.Workflow(
        **msgspec.structs.asdict(_line(version)),
        document=version.document,
        ref=version.ref,
    )


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/v1/workflows",
        summary="Save a workflow, or a new version of one",
        access="submit",
        handler=save,
        body=requests.SaveWorkflow,
        max_body_bytes=MAX_BODY_BYTES,
        answers={201: answers.Workflow, 200: answers.Workflow},
        errors=("workflow_invalid", "unusable_text"),
    ),
    Operation(
        method="GET",
        path="/api/v1/workflows",
        summary="List the workflows of the org",
        access="read",
        handler=every,
        answers={200: answers.Workflows},
    ),
    Operation(
        method="GET",
        path="/api/v1/workflows/{workflow_id}",
        summary="Read a workflow and the list of its versions",
        access="read",
        handler=get,
        answers={200: answers.WorkflowHistory},
        errors=("not_found",),
    ),
    Operation(
        method="POST",
        path="/api/v1/workflows/{workflow_id}/publish",
        summary="Publish a version: jobs submitted from now on run it",
        access="submit",
        handler=publish,
        body=requests.PublishWorkflow,
        body_optional=True,
        answers={200: answers.Workflow},
        errors=("not_found",),
    ),
)
