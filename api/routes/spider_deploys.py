"""Deploys of spiders: upload a project, list its versions."""

from pathlib import Path
from tempfile import TemporaryDirectory

from aiohttp import web

from api.config import deploys
from api.config.deploys import Deploy
from api.errors import Problem, not_found
from api.http import answer, without_deadline
from api.operation import Call, Operation
from api.spiders import answers, requests
from api.spiders.frame import PREFIX, acting
from api.spiders.there import refuse_no_project
from api.spiders.uploading import FORM, deployed, uploaded
from api.times import iso

GIT_OFF = "deploys from git are switched off here: pack the project as a tar.gz, and upload it"


async def every(call: Call) -> web.StreamResponse:
    """Answer the versions of a project, newest first."""
    name = call.query.project
    call = await acting(call, call.query.org)
    await refuse_no_project(call, name)
    found = await deploys.of_project(call.parts.pool, call.caller.org_id, name)
    return answer(200, answers.SpiderDeploys(deploys=list(map(_shown, found))))


async def upload(call: Call) -> web.StreamResponse:
    """Deploy an archive as the next version of a project, with the spiders that it tells of itself when it is loaded.

    Content that is the newest version already makes no other one: that is answered with 200. Content of an older
    version does, for what was deployed last is what runs. Of many versions the oldest go, but those that are pinned.
    """
    without_deadline()
    with TemporaryDirectory(prefix="jobledger-upload-") as folder:
        given = await uploaded(call.request, Path(folder))
        asked = given.asked
        call = await acting(call, asked.org)
        await refuse_no_project(call, asked.project)
        made = await deployed(call.parts, call.caller.org_id, given)
    if made is None:
        raise not_found("project")
    deploy, new = made
    return answer(201 if new else 200, _shown(deploy))


async def from_git(call: Call) -> web.StreamResponse:
    """Answer that deploys from git are switched off: a repository runs what it likes while it is fetched and built."""
    call = await acting(call, call.body.org)
    await refuse_no_project(call, call.body.project)
    raise Problem("git_disabled", GIT_OFF)


def _shown(deploy: Deploy) -> answers.SpiderDeploy:
    return answers.SpiderDeploy(
        org=deploy.org_id,
        project=deploy.project,
        version=deploy.version,
        image=f"sha256:{deploy.digest}",
        size_bytes=deploy.archive_bytes,
        spiders=deploy.spiders,
        source=deploy.source,
        notes=deploy.notes,
        created_at=iso(deploy.created_at),
    )


OPERATIONS = (
    Operation(
        method="GET",
        path=f"{PREFIX}/deploys",
        summary="List the versions of a project",
        access="read",
        operator_too=True,
        handler=every,
        query=requests.ListDeploys,
        answers={200: answers.SpiderDeploys},
        errors=("not_found",),
    ),
    Operation(
        method="POST",
        path=f"{PREFIX}/deploys/upload",
        summary="Deploy a tar.gz of a project as its next version",
        access="submit",
        operator_too=True,
        handler=upload,
        body=requests.UploadDeploy,
        form=FORM,
        answers={201: answers.SpiderDeploy, 200: answers.SpiderDeploy},
        errors=("bad_request", "not_found", "too_large", "archive_invalid", "unusable_text"),
    ),
    Operation(
        method="POST",
        path=f"{PREFIX}/deploys/from-git",
        summary="Deploy from the project's repository, where that is switched on",
        access="submit",
        operator_too=True,
        handler=from_git,
        body=requests.DeployFromGit,
        answers={201: answers.SpiderDeploy},
        errors=("not_found", "git_disabled"),
    ),
)
