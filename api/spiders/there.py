"""Whether what a call names is there, in the org that its caller acts for."""

from api.config import deploys, projects
from api.config.deploys import Deploy
from api.config.store import Pool
from api.errors import invalid, not_found
from api.operation import Call


async def refuse_no_project(call: Call, project: str) -> None:
    """Raise the Problem that the org has no such project, unless it has."""
    if await projects.find(call.parts.pool, call.caller.org_id, project) is None:
        raise not_found("project")


async def deploy_of(pool: Pool, org_id: str, project: str, version: int | None) -> Deploy:
    """Return what a run of a project has, None: its latest version, or raise the Problem that there is none."""
    found = await deploys.find(pool, org_id, project, version)
    if found:
        return found
    if await projects.find(pool, org_id, project) is None:
        raise not_found("project")
    if version is None:
        raise invalid("project", "nothing was deployed of this project yet: upload a deploy first")
    raise invalid("deploy_version", f"this project has no version {version}: list its deploys")
