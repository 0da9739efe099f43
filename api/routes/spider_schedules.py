"""Schedules of spiders: made, listed, toggled, deleted, and run now. They fire as all schedules do."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from aiohttp import web

from api import submission
from api.auth import Caller
from api.config import schedules
from api.config.schedules import Schedule, Setting
from api.errors import Problem, not_found
from api.http import answer
from api.operation import Call, Operation
from api.refused import done, repeatable
from api.routes.jobs import ledger_position
from api.routes.schedule_fires import triggered
from api.routes.schedules import refusals
from api.schedules import cron
from api.spiders import answers, requests
from api.spiders.frame import PREFIX, acting, acting_on, orgs_of
from api.spiders.job_requests import SubmitSpiders
from api.spiders.keeping import kept_sealed, schedule_owner
from api.spiders.schedule_numbers import id_of
from api.spiders.schedule_requests import AddSpiderSchedule
from api.spiders.scheduled import pinned, run_of
from api.spiders.submission import run_options
from api.spiders.there import deploy_of
from api.times import iso, iso_or_none
from services.runtime.ids import uuid7
from services.runtime.logs import note
from services.runtime.sealing import Sealer


async def every(call: Call) -> web.StreamResponse:
    """Answer the schedules of a project, or of all projects of an org."""
    orgs = [org.org_id for org in await orgs_of(call, call.query.org)]
    found = await schedules.of_projects(call.parts.pool, orgs, call.query.project)
    return answer(200, answers.SpiderSchedules(schedules=await _all_shown(call, found)))


async def add(call: Call) -> web.StreamResponse:
    """Make a schedule, due from now on if it is enabled. What it runs has to be there now; a repeat makes another."""
    body: AddSpiderSchedule = call.body
    call = await acting(call, body.org)
    pool, settings, org_id = call.parts.pool, call.parts.settings, call.caller.org_id
    run_options(body, await deploy_of(pool, org_id, body.project, pinned(body)))
    cron.check(body.cron, body.timezone, await schedules.now(pool), settings.schedule_min_seconds)
    number = await schedules.next_number(pool)
    schedule_id = id_of(number)
    sealer = Sealer(settings.credentials_key) if settings.credentials_key else None
    made = Setting(
        name=body.name,
        cron=body.cron,
        timezone=body.timezone,
        work=run_of(body),
        tags=(),
        missed="once",
        enabled=body.enabled,
        project=body.project,
        sealed=kept_sealed(sealer, schedule_owner(org_id, schedule_id), {"env": body.env}) if body.env else None,
    )
    try:
        saved, _ = await schedules.add(pool, org_id, schedule_id, made, settings.schedules_per_org, number=number)
    except schedules.TooMany:
        message = f"an org has at most {settings.schedules_per_org} schedules: delete one first"
        raise Problem("too_many_schedules", message) from None
    return answer(201, await _shown(call, saved))


async def toggle(call: Call) -> web.StreamResponse:
    """Let a schedule that fires fire no more, or one that does not from now on."""
    call, found = await _found(call)
    with refusals():
        switched = await schedules.switch(
            call.parts.pool,
            found.org_id,
            found.schedule_id,
            enabled=not found.enabled,
            expected=lambda version: version in (0, found.version),
        )
    if switched is None:
        raise not_found("schedule")
    return answer(200, await _shown(call, switched))


async def delete(call: Call) -> web.StreamResponse:
    """Delete a schedule. A fire that is under way is carried out; jobs that it submitted stay."""
    call, found = await _found(call)
    if not await schedules.delete(call.parts.pool, found.org_id, found.schedule_id):
        raise not_found("schedule")
    return answer(200, answers.DeletedByNumber(id=found.number, deleted=True))


async def run_now(call: Call) -> web.StreamResponse:
    """Submit the run of a schedule now, also of a disabled one. Its clock stays; a repeat with the key runs once."""
    key = submission.given_key(call.request.headers) or uuid7()
    call, found = await _found(call)
    with repeatable(key):
        reply = await triggered(call, found, key, given="Idempotency-Key" in call.request.headers)
    made = done(reply)
    [job_id] = made.job_ids
    note(jobs=1, job_id=job_id)
    headers = {"Idempotency-Key": key, **ledger_position(reply)}
    if made.repeated:
        headers["Idempotency-Replayed"] = "true"
    ran = answers.SpiderRun(id=found.number, key=job_id, next_run_at=iso_or_none(found.next_run_at))
    return answer(200 if made.repeated else 201, ran, headers)


async def _found(call: Call) -> tuple[Call, Schedule]:
    call, number = await acting_on(call, "schedule", schedules.org_of)
    found = await schedules.numbered(call.parts.pool, call.caller.org_id, number)
    if found is None:
        raise not_found("schedule")
    return call, found


async def _shown(call: Call, schedule: Schedule) -> answers.SpiderSchedule:
    [shown] = await _all_shown(call, [schedule])
    return shown


async def _all_shown(call: Call, listed: Sequence[Schedule]) -> list[answers.SpiderSchedule]:
    last: dict[str, datetime] = {}
    for org_id in {each.org_id for each in listed}:
        ids = [each.schedule_id for each in listed if each.org_id == org_id]
        last |= await call.parts.fires.last_runs(Caller(org_id=org_id), ids)
    return [_one(each, last.get(each.schedule_id)) for each in listed]


def _one(schedule: Schedule, last_run_at: datetime | None) -> answers.SpiderSchedule:
    asked = msgspec.convert(schedule.work, SubmitSpiders)
    run = {name: getattr(asked, name) for name in SubmitSpiders.__struct_fields__ if name not in ("org", "project")}
    return answers.SpiderSchedule(
        **{**run, "deploy_version": pinned(asked), "env": dict.fromkeys(asked.env)},
        id=schedule.number,
        org=schedule.org_id,
        project=asked.project,
        name=schedule.name,
        cron=schedule.cron,
        timezone=schedule.timezone,
        enabled=schedule.enabled,
        next_run_at=iso_or_none(schedule.next_run_at),
        last_run_at=iso_or_none(last_run_at),
        created_at=iso(schedule.created_at),
    )


ONE = f"{PREFIX}/schedules/{{number}}"
OPERATIONS = (
    Operation(
        method="GET",
        path=f"{PREFIX}/schedules",
        summary="List the schedules of projects",
        access="read",
        operator_too=True,
        handler=every,
        query=requests.OfProject,
        answers={200: answers.SpiderSchedules},
        errors=("not_found",),
    ),
    Operation(
        method="POST",
        path=f"{PREFIX}/schedules",
        summary="Make a schedule of runs",
        access="submit",
        operator_too=True,
        handler=add,
        body=AddSpiderSchedule,
        answers={201: answers.SpiderSchedule},
        errors=("not_found", "too_many_schedules", "unusable_text", "credentials_disabled"),
    ),
    Operation(
        method="POST",
        path=f"{ONE}/toggle",
        summary="Let a schedule fire, or fire no more",
        access="submit",
        operator_too=True,
        handler=toggle,
        query=requests.OfOrg,
        answers={200: answers.SpiderSchedule},
        errors=("not_found", "version_changed"),
    ),
    Operation(
        method="POST",
        path=f"{ONE}/run",
        summary="Submit the run of a schedule now",
        access="submit",
        operator_too=True,
        handler=run_now,
        query=requests.OfOrg,
        headers=("Idempotency-Key",),
        answers={201: answers.SpiderRun, 200: answers.SpiderRun},
        errors=(
            "not_found",
            "idempotency_conflict",
            "queue_full",
            "quota_exhausted",
            "too_large",
            "ledger_unavailable",
        ),
    ),
    Operation(
        method="DELETE",
        path=ONE,
        summary="Delete a schedule of a project",
        access="submit",
        operator_too=True,
        handler=delete,
        query=requests.OfOrg,
        answers={200: answers.DeletedByNumber},
        errors=("not_found",),
    ),
)
