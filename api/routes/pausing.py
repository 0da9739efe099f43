"""Pause and resume: an org by its operator, a workflow by its org. What runs goes on; what waits keeps its place."""

from aiohttp import web

from api import config_answers
from api.config import orgs
from api.http import answer
from api.operation import Call, Operation
from api.org_answers import org_of, shown_org
from api.refused import accepted
from api.routes.jobs import ledger_position
from api.workflow_answers import versions_of, workflow_id_of
from services.ledger.commands import PauseOrg, PauseWorkflow, ResumeOrg, ResumeWorkflow


async def pause_org(call: Call) -> web.StreamResponse:
    """Let no job of an org start any more."""
    return await _org(call, pause=True)


async def resume_org(call: Call) -> web.StreamResponse:
    """Let jobs of an org start again."""
    return await _org(call, pause=False)


async def pause_workflow(call: Call) -> web.StreamResponse:
    """Let no job of a workflow start any more."""
    return await _workflow(call, pause=True)


async def resume_workflow(call: Call) -> web.StreamResponse:
    """Let jobs of a workflow start again."""
    return await _workflow(call, pause=False)


async def _org(call: Call, *, pause: bool) -> web.StreamResponse:
    org = await org_of(call)
    reply = await call.parts.commander.ask(org.partition, (PauseOrg if pause else ResumeOrg)(**call.asks(org.org_id)))
    accepted(reply)
    changed = await orgs.set_paused(call.parts.pool, org.org_id, paused=pause)
    return answer(200, shown_org(changed or org), ledger_position(reply))


async def _workflow(call: Call, *, pause: bool) -> web.StreamResponse:
    workflow_id, pool = workflow_id_of(call), call.parts.pool
    if pause or await orgs.workflow_paused_at(pool, call.caller.org_id, workflow_id) is None:
        await versions_of(call)  # there is such a workflow; one that was deleted while paused can be resumed
    command = (PauseWorkflow if pause else ResumeWorkflow)(**call.asks(), workflow_id=workflow_id)
    reply = await call.parts.commander.ask(call.caller.partition, command)
    accepted(reply)
    await orgs.set_workflow_paused(pool, call.caller.org_id, workflow_id, paused=pause)
    return answer(200, config_answers.WorkflowPause(workflow_id=workflow_id, paused=pause), ledger_position(reply))


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/v1/orgs/{org_id}/pause",
        summary="Let no job of an org start until it is resumed; what runs goes on",
        access="operator",
        handler=pause_org,
        answers={200: config_answers.Org},
        errors=("not_found", "ledger_unavailable"),
    ),
    Operation(
        method="POST",
        path="/api/v1/orgs/{org_id}/resume",
        summary="Let jobs of an org start again",
        access="operator",
        handler=resume_org,
        answers={200: config_answers.Org},
        errors=("not_found", "ledger_unavailable"),
    ),
    Operation(
        method="POST",
        path="/api/v1/workflows/{workflow_id}/pause",
        summary="Let no job of a workflow start until it is resumed; what runs goes on",
        access="submit",
        handler=pause_workflow,
        answers={200: config_answers.WorkflowPause},
        errors=("not_found", "too_many_paused", "ledger_unavailable"),
    ),
    Operation(
        method="POST",
        path="/api/v1/workflows/{workflow_id}/resume",
        summary="Let jobs of a workflow start again, each from its place",
        access="submit",
        handler=resume_workflow,
        answers={200: config_answers.WorkflowPause},
        errors=("not_found", "ledger_unavailable"),
    ),
)
