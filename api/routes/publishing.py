"""Which version of a workflow runs: publish, unpublish, delete."""

from aiohttp import web

from api import config_answers, requests
from api.config import workflows
from api.errors import not_found
from api.etags import tag_of, wanted
from api.http import answer
from api.operation import Call, Operation
from api.workflow_answers import refusals, shown, workflow_id_of


async def publish(call: Call) -> web.StreamResponse:
    """Let a version be the one that runs and has its routes; jobs that run another one keep it."""
    workflow_id, expected = workflow_id_of(call), wanted(call.request) or workflows.anything
    with refusals():
        found = await workflows.publish(call.parts.pool, call.caller.org_id, workflow_id, call.body.version, expected)
    if found is None:
        raise not_found("version of a workflow")
    return answer(200, shown(found), {"ETag": tag_of(found.version)})


async def unpublish(call: Call) -> web.StreamResponse:
    """Let no version run, and free the routes; jobs that run one keep it. Answers the newest version."""
    workflow_id, expected = workflow_id_of(call), wanted(call.request) or workflows.anything
    with refusals():
        newest = await workflows.unpublish(call.parts.pool, call.caller.org_id, workflow_id, expected)
    if newest is None:
        raise not_found("workflow")
    return answer(200, shown(newest), {"ETag": tag_of(newest.version)})


async def delete(call: Call) -> web.StreamResponse:
    """Delete a workflow with all its versions; jobs that were submitted with it run the version that they have."""
    workflow_id, expected = workflow_id_of(call), wanted(call.request) or workflows.anything
    with refusals():
        there = await workflows.delete(call.parts.pool, call.caller.org_id, workflow_id, expected)
    if not there:
        raise not_found("workflow")
    return answer(200, config_answers.DeletedWorkflow(workflow_id=workflow_id, deleted=True))


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/v1/workflows/{workflow_id}/publish",
        summary="Publish a version: jobs submitted from now on run it",
        access="submit",
        handler=publish,
        body=requests.PublishWorkflow,
        body_optional=True,
        headers=("If-Match",),
        answers={200: config_answers.Workflow},
        errors=("not_found", "route_conflict", "version_changed"),
    ),
    Operation(
        method="POST",
        path="/api/v1/workflows/{workflow_id}/unpublish",
        summary="Publish no version any more",
        access="submit",
        handler=unpublish,
        headers=("If-Match",),
        answers={200: config_answers.Workflow},
        errors=("not_found", "version_changed"),
    ),
    Operation(
        method="DELETE",
        path="/api/v1/workflows/{workflow_id}",
        summary="Delete a workflow",
        access="submit",
        handler=delete,
        headers=("If-Match",),
        answers={200: config_answers.DeletedWorkflow},
        errors=("not_found", "version_changed"),
    ),
)
