"""Projects of spiders: make, list, set, delete. What is deployed of them has calls of its own."""

from aiohttp import web

from api.config import projects
from api.config.projects import Project
from api.errors import Problem, not_found
from api.http import answer
from api.operation import Call, Operation
from api.spiders import answers, requests
from api.spiders.frame import PREFIX, acting, orgs_of
from api.spiders.killing import kill_queued
from api.spiders.project_settings import changing
from api.times import iso
from services.runtime.errors import Unsealable
from services.runtime.sealing import Sealer


async def every(call: Call) -> web.StreamResponse:
    """Answer the projects of an org; to the operator who names none, those of all."""
    orgs = [org.org_id for org in await orgs_of(call, call.query.org)]
    found = await projects.of_orgs(call.parts.pool, orgs)
    return answer(200, answers.SpiderProjects(projects=list(map(_shown, found))))


async def add(call: Call) -> web.StreamResponse:
    """Make a project; one that is there with this name already is answered."""
    body: requests.AddProject = call.body
    call = await acting(call, body.org)
    name = body.name or body.slug
    made = await projects.add(call.parts.pool, call.caller.org_id, body.slug, name)
    found = made or await projects.find(call.parts.pool, call.caller.org_id, body.slug)
    if found is None:
        raise Problem("project_exists", f"{body.slug} is being deleted: repeat its deletion first", field="slug")
    if found.name != name:
        raise Problem("project_exists", f"{body.slug} is there already, with the name {found.name!r}", field="slug")
    return answer(201 if made else 200, _shown(found))


async def delete(call: Call) -> web.StreamResponse:
    """Delete a project: its queued jobs are killed, what runs goes on, and the records of all of them stay.

    Its deploys, schedules and destinations go with it. From its first moment on nothing is submitted of the project;
    where it could not be ended, 503, it is repeated.
    """
    call = await acting(call, call.request.match_info["org"])
    name = (call.caller.org_id, call.request.match_info["project"])
    if not await projects.end(call.parts.pool, *name):
        raise not_found("project")
    killed = await kill_queued(call, name[1])
    await projects.delete(call.parts.pool, *name)
    return answer(200, answers.DeletedProject(org=name[0], slug=name[1], deleted=True, killed_jobs=killed))


async def settings(call: Call) -> web.StreamResponse:
    """Answer what a project is set with; of secrets, that they are there."""
    return _settings_of(await project_of(await acting(call, call.request.match_info["org"])))


async def save_settings(call: Call) -> web.StreamResponse:
    """Set a project for runs that begin from now on; what is left out stays. No answer ever shows a secret."""
    call = await acting(call, call.request.match_info["org"])
    keys = call.parts.settings.credentials_key
    changed = changing(call.body, Sealer(keys) if keys else None)
    name = call.request.match_info["project"]
    try:
        saved = await projects.change(call.parts.pool, call.caller.org_id, name, changed)
    except Unsealable as fault:
        raise Problem("credentials_disabled", f"what the project has cannot be read: {fault}") from None
    if saved is None:
        raise not_found("project")
    return _settings_of(saved)


async def project_of(call: Call) -> Project:
    """Return the project in the path, of the org of the caller, or raise the Problem that there is none."""
    found = await projects.find(call.parts.pool, call.caller.org_id, call.request.match_info["project"])
    if found is None:
        raise not_found("project")
    return found


def _shown(project: Project) -> answers.SpiderProject:
    return answers.SpiderProject(
        org=project.org_id,
        slug=project.project,
        name=project.name,
        created_at=iso(project.created_at),
        updated_at=iso(project.updated_at),
    )


def _settings_of(project: Project) -> web.Response:
    shown = answers.ProjectSettings(
        repo_url=project.repo_url,
        repo_ref=project.repo_ref,
        repo_token=None,
        has_repo_token=project.has_token,
        env=dict.fromkeys(project.env_names),
        updated_at=iso(project.updated_at),
    )
    return answer(200, shown, {"Cache-Control": "no-store"})


ONE = f"{PREFIX}/projects/{{org}}/{{project}}"
OPERATIONS = (
    Operation(
        method="GET",
        path=f"{PREFIX}/projects",
        summary="List projects",
        access="read",
        operator_too=True,
        handler=every,
        query=requests.OfOrg,
        answers={200: answers.SpiderProjects},
        errors=("not_found",),
    ),
    Operation(
        method="POST",
        path=f"{PREFIX}/projects",
        summary="Make a project",
        access="submit",
        operator_too=True,
        handler=add,
        body=requests.AddProject,
        answers={201: answers.SpiderProject, 200: answers.SpiderProject},
        errors=("not_found", "project_exists"),
    ),
    Operation(
        method="DELETE",
        path=ONE,
        summary="Delete a project; its queued jobs are killed, and records stay",
        access="submit",
        operator_too=True,
        handler=delete,
        answers={200: answers.DeletedProject},
        errors=("not_found", "catching_up", "ledger_unavailable"),
    ),
    Operation(
        method="GET",
        path=f"{ONE}/settings",
        summary="Read what a project is set with, without its secrets",
        access="read",
        operator_too=True,
        handler=settings,
        answers={200: answers.ProjectSettings},
        errors=("not_found",),
    ),
    Operation(
        method="PUT",
        path=f"{ONE}/settings",
        summary="Set what runs of a project get: repository, token and environment",
        access="admin",
        operator_too=True,
        handler=save_settings,
        body=requests.SaveProjectSettings,
        answers={200: answers.ProjectSettings},
        errors=("not_found", "credentials_disabled"),
    ),
)
