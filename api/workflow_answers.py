"""How a version of a workflow is answered, which one a path names, and why a change of one is refused."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from api import config_answers, requests
from api.config import workflows
from api.errors import Problem, not_found
from api.etags import tag_of
from api.operation import Call
from api.times import iso, iso_or_none
from services.ledger.workflow_routes import ANY_HOST


def workflow_id_of(call: Call) -> str:
    """Return the id in the path; what has not the form of one is no workflow."""
    workflow_id = call.request.match_info["workflow_id"]
    if not re.fullmatch(requests.ID_PATTERN, workflow_id, re.ASCII):
        raise not_found("workflow")
    return workflow_id


def line_of(version: workflows.Line) -> config_answers.WorkflowVersion:
    """Return a version without its document."""
    return config_answers.WorkflowVersion(
        workflow_id=version.workflow_id,
        version=version.version,
        state=version.state,
        created_at=iso(version.created_at),
        published_at=iso_or_none(version.published_at),
    )


def shown(version: workflows.Version) -> config_answers.Workflow:
    """Return a version with its document."""
    return config_answers.Workflow(
        **msgspec.structs.asdict(line_of(version)),
        document=version.document,
        ref=version.ref,
    )


async def versions_of(call: Call) -> list[workflows.Line]:
    """Return the versions of the workflow that the path names; there is at least one."""
    found = await workflows.versions(call.parts.pool, call.caller.org_id, workflow_id_of(call))
    if not found:
        raise not_found("workflow")
    return found


def current(versions: Sequence[workflows.Line]) -> int:
    """Return the number of the published version, or else of the newest."""
    return next((line.version for line in versions if line.state == "published"), versions[0].version)


async def chosen(call: Call, number: int) -> workflows.Version:
    """Return a version of the workflow that the path names."""
    found = await workflows.version(call.parts.pool, call.caller.org_id, workflow_id_of(call), number)
    if found is None:
        raise not_found("version of a workflow")
    return found


@contextmanager
def refusals() -> Iterator[None]:
    """Say in the words of the API why a change was refused."""
    try:
        yield
    except workflows.VersionChanged as error:
        headers = {"ETag": tag_of(error.newest)} if error.newest else {}
        message = f"version {error.newest} is the newest: read it, and change that one"
        raise Problem("version_changed", message, field="If-Match", headers=headers) from None
    except workflows.RouteTaken as error:
        route = error.route if error.route == ANY_HOST else f"domain:{error.route}"
        message = f"the published workflow {error.workflow_id} has the route {route} too: unpublish one of them"
        details = {"workflowId": error.workflow_id, "route": route}
        raise Problem("route_conflict", message, field="document.routes", details=details) from None
