"""Orgs and workflows that are paused: none of their jobs is dispatched, due retries included; what runs goes on.

A paused job keeps its place in the queue, and its time in the queue goes on.
"""

from typing import TypeAlias

from schemas.events import OrgPaused, OrgResumed, WorkflowPaused, WorkflowResumed
from services.ledger.commands import PauseOrg, PauseWorkflow, ResumeOrg, ResumeWorkflow
from services.ledger.replies import Refused
from services.ledger.state import Org

PauseCommand: TypeAlias = PauseOrg | ResumeOrg | PauseWorkflow | ResumeWorkflow
PauseEvent: TypeAlias = OrgPaused | OrgResumed | WorkflowPaused | WorkflowResumed
MOST_PAUSED = 10_000  # workflows of an org


def decide_pause(org: Org, command: PauseCommand) -> PauseEvent:
    """Return the event of a pause or its end; where it is in effect already it says so once more (`setting.once`)."""
    match command:
        case PauseOrg():
            return OrgPaused(org_id=org.org_id)
        case ResumeOrg():
            return OrgResumed(org_id=org.org_id)
        case PauseWorkflow(workflow_id=workflow_id):
            return WorkflowPaused(org_id=org.org_id, workflow_id=workflow_id)
        case ResumeWorkflow(workflow_id=workflow_id):
            return WorkflowResumed(org_id=org.org_id, workflow_id=workflow_id)


def not_pausable(org: Org, command: PauseCommand) -> Refused | None:
    """Return why a pause is refused: an org's list of paused workflows does not grow for ever."""
    if isinstance(command, PauseWorkflow) and not command.workflow_id:
        return Refused(code="bad_workflow", message="workflowId: name the workflow to pause")
    if not isinstance(command, PauseWorkflow) or command.workflow_id in org.paused_workflows:
        return None
    if len(org.paused_workflows) < MOST_PAUSED:
        return None
    return Refused(code="too_many_paused", message=f"{MOST_PAUSED} workflows are paused: resume some, or pause the org")


def fold_pause(org: Org, event: PauseEvent) -> None:
    """Fold a pause or its end into its org."""
    match event:
        case OrgPaused():
            org.paused = True
        case OrgResumed():
            org.paused = False
        case WorkflowPaused(workflow_id=workflow_id) if workflow_id not in org.paused_workflows:
            for queue in org.queues.values():
                queue.pause(workflow_id)
            org.paused_workflows.add(workflow_id)
        case WorkflowResumed(workflow_id=workflow_id) if workflow_id in org.paused_workflows:
            org.paused_workflows.discard(workflow_id)
            for queue in org.queues.values():
                queue.resume(workflow_id)
