"""Which workflow a job runs that names none: the one whose route its host falls under."""

import re
from collections.abc import Sequence

from api import requests
from api.config import workflows
from api.config.store import Pool
from api.config.workflows import Runnable
from api.errors import Problem
from services.ledger.workflow_routes import candidates

_WORKFLOW_ID = re.compile(requests.ID_PATTERN, re.ASCII)


async def workflows_for(
    pool: Pool, org_id: str, workflow_id: str | None, hosts: Sequence[tuple[str, str]]
) -> list[Runnable]:
    """Return the version that the job of each (field, host) runs for life, or raise a Problem."""
    if workflow_id is not None:
        named = await _named(pool, org_id, workflow_id)
        return [named] * len(hosts)
    wanted = {host: candidates(host) for _, host in hosts}
    routes = sorted({route for each in wanted.values() for route in each})
    routed = await workflows.routed(pool, org_id, routes)
    chosen = {host: next((routed[route] for route in each if route in routed), None) for host, each in wanted.items()}
    only = None if all(chosen.values()) else await workflows.only_published(pool, org_id)
    return [chosen[host] or only or _nowhere(field, host) for field, host in hosts]


async def _named(pool: Pool, org_id: str, workflow_id: str) -> Runnable:
    found = await workflows.runnable(pool, org_id, workflow_id) if _WORKFLOW_ID.fullmatch(workflow_id) else None
    if found is None:
        message = f"no published workflow is called {workflow_id[:80]!r}: publish it, or name another"
        raise Problem("unknown_workflow", message, field="workflowId")
    return found


def _nowhere(field: str, host: str) -> Runnable:
    message = f"no published workflow has a route for {host}: publish one with domain:{host} or *, or name a workflowId"
    raise Problem("no_route", message, field=field)
