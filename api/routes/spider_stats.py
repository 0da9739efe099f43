"""How a crawl goes, and what came of each spider of a project."""

from aiohttp import web

from api.config import deploys, projects
from api.errors import not_found
from api.http import answer
from api.operation import Call, Operation
from api.spiders import job_answers
from api.spiders.frame import PREFIX, acting
from api.spiders.job_reading import job_of
from api.spiders.requests import OfOrg
from api.spiders.spiders_shown import spiders_shown
from api.spiders.stats_shown import statistics


async def stats(call: Call) -> web.StreamResponse:
    """Answer how a crawl goes: while it runs as of the newest snapshot, which its runner takes every 30 s."""
    query: OfOrg = call.query
    call, job = await job_of(call, query.org)
    newest = None if job.expired_at else await call.parts.jobs.items.counted(job.org_id, job.job_id)
    return answer(200, statistics(job, newest))


async def spiders(call: Call) -> web.StreamResponse:
    """Answer what came of each spider of a project: its own runs and their items, and apart how many were grouped."""
    call = await acting(call, call.request.match_info["org"])
    project = call.request.match_info["project"]
    org_id, reads = call.caller.org_id, call.parts.jobs.spiders
    if await projects.find(call.parts.pool, org_id, project) is None:
        raise not_found("project")
    deploy = await deploys.find(call.parts.pool, org_id, project)
    runs = await reads.spiders(org_id, project)
    last = await reads.several(org_id, [each.last_job_id for each in runs])
    return answer(200, spiders_shown(deploy.spiders if deploy else [], runs, last))


OPERATIONS = (
    Operation(
        method="GET",
        path=f"{PREFIX}/jobs/{{job_id}}/stats",
        summary="Read the statistics of a crawl, also while it runs",
        access="read",
        operator_too=True,
        handler=stats,
        positioned=True,
        query=OfOrg,
        answers={200: job_answers.CrawlStatistics},
        errors=("not_found", "catching_up"),
    ),
    Operation(
        method="GET",
        path=f"{PREFIX}/projects/{{org}}/{{project}}/spiders",
        summary="List the spiders of a project with what came of their runs",
        access="read",
        operator_too=True,
        handler=spiders,
        positioned=True,
        answers={200: job_answers.SpidersOfProject},
        errors=("not_found",),
    ),
)
