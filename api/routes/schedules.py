"""Schedules of the caller's org: make, read, list, change, delete, and let fire or not."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from aiohttp import web

from api import schedule_answers, schedule_requests, submission
from api.config import schedules
from api.config.schedules import Schedule, TagFilter
from api.errors import Gathering, Problem, not_found
from api.etags import tag_of, wanted
from api.http import answer
from api.operation import Call, Operation
from api.schedules import cron, work
from api.schedules.shown import after, cursor_of, shown
from services.runtime.ids import uuid7
from services.runtime.settings import Settings
from services.runtime.time import utc_now

_ID = re.compile(r"sch-[0-9a-f-]{36}", re.ASCII)
MAX_BODY_BYTES = 5 * 1024 * 1024  # 500 long urls


async def create(call: Call) -> web.StreamResponse:
    """Make a schedule, one however often the request is repeated with its key; an enabled one is due from now on."""
    key = submission.given_key(call.request.headers)
    schedule_id = submission.schedule_id(call.caller.org_id, key) if key else f"sch-{uuid7()}"
    made, most = await _checked(call), call.parts.settings.schedules_per_org
    try:
        saved, new = await schedules.add(call.parts.pool, call.caller.org_id, schedule_id, made, most)
    except schedules.TooMany:
        raise Problem("too_many_schedules", f"an org has at most {most} schedules: delete one first") from None
    except schedules.OtherSchedule:
        message = f"this Idempotency-Key made {schedule_id}, which is set otherwise: use a new key for a new schedule"
        raise Problem("idempotency_conflict", message, field="Idempotency-Key") from None
    headers = {"Location": f"/api/v1/schedules/{schedule_id}"} | ({} if new else {"Idempotency-Replayed": "true"})
    return await _answered(call, saved, 201 if new else 200, headers)


async def get(call: Call) -> web.StreamResponse:
    """Answer a schedule, with when it fires next and when it last submitted jobs."""
    return await _answered(call, await schedule_of(call))


async def page(call: Call) -> web.StreamResponse:
    """Answer a page of the org's schedules, newest first, those with the tags asked for."""
    query: schedule_requests.ListSchedules = call.query
    some = await schedules.page(
        call.parts.pool,
        call.caller.org_id,
        TagFilter(_listed(query.tags_any), _listed(query.tags_all), _listed(query.tags_none)),
        enabled=query.enabled,
        before=after(query.cursor),
        limit=query.limit + 1,  # one more tells whether there is a next page
    )
    listed = some[: query.limit]
    following = cursor_of(listed[-1]) if len(some) > query.limit else None
    return answer(200, schedule_answers.Schedules(schedules=await all_shown(call, listed), next_cursor=following))


async def update(call: Call) -> web.StreamResponse:
    """Set a schedule anew, unless somebody else did. Another cron or timezone begins anew from now on."""
    found, expected = await schedule_of(call), wanted(call.request)
    if found.project is not None:
        raise not_found("schedule")  # its run is of another kind: it is made anew among those of its project
    if expected is None:
        message = "send the ETag of the schedule that you read as If-Match, or * to overwrite whatever is there"
        raise Problem("if_match_missing", message, field="If-Match")
    made = await _checked(call)
    with refusals():
        saved = await schedules.change(call.parts.pool, call.caller.org_id, found.schedule_id, made, expected)
    return await _answered(call, there(saved))


async def delete(call: Call) -> web.StreamResponse:
    """Delete a schedule. A fire that is under way is carried out; jobs that it submitted stay."""
    schedule_id, expected = schedule_id_of(call), wanted(call.request) or schedules.anything
    with refusals():
        there = await schedules.delete(call.parts.pool, call.caller.org_id, schedule_id, expected)
    if not there:
        raise not_found("schedule")
    return answer(200, schedule_answers.DeletedSchedule(schedule_id=schedule_id, deleted=True))


async def enable(call: Call) -> web.StreamResponse:
    """Let a schedule fire from now on; what was due while it was disabled is not made up for."""
    return await _switch(call, enabled=True)


async def disable(call: Call) -> web.StreamResponse:
    """Let a schedule fire no more. A fire that is under way is carried out."""
    return await _switch(call, enabled=False)


def schedule_id_of(call: Call) -> str:
    """Return the id in the path; what has not the form of one is no schedule."""
    schedule_id = call.request.match_info["schedule_id"]
    if not _ID.fullmatch(schedule_id):
        raise not_found("schedule")
    return schedule_id


async def schedule_of(call: Call) -> Schedule:
    """Return the schedule that the path names."""
    return there(await schedules.find(call.parts.pool, call.caller.org_id, schedule_id_of(call)))


def there(schedule: Schedule | None) -> Schedule:
    """Return a schedule that was looked for, or raise a Problem."""
    if schedule is None:
        raise not_found("schedule")
    return schedule


async def all_shown(call: Call, listed: Sequence[Schedule]) -> list[schedule_answers.Schedule]:
    """Show schedules, each with when it last submitted jobs."""
    last = await call.parts.fires.last_runs(call.caller, [each.schedule_id for each in listed])
    return [shown(each, last.get(each.schedule_id)) for each in listed]


@contextmanager
def refusals() -> Iterator[None]:
    """Say in the words of the API why a change was refused."""
    try:
        yield
    except schedules.ScheduleChanged as error:
        headers = {"ETag": tag_of(error.version)} if error.version else {}
        message = "the schedule was changed since you read it: read it again, and send its ETag"
        raise Problem("version_changed", message, field="If-Match", headers=headers) from None


async def _switch(call: Call, *, enabled: bool) -> web.StreamResponse:
    schedule_id, expected = schedule_id_of(call), wanted(call.request) or schedules.anything
    with refusals():
        saved = await schedules.switch(
            call.parts.pool, call.caller.org_id, schedule_id, enabled=enabled, expected=expected
        )
    return await _answered(call, there(saved))


async def _checked(call: Call) -> schedules.Setting:
    body: schedule_requests.SaveSchedule = call.body
    settings = call.parts.settings
    now, gathering = await schedules.now(call.parts.pool), Gathering()
    with gathering.looking():
        cron.check(body.cron, body.timezone, now, settings.schedule_min_seconds)
    with gathering.looking():
        await work.check(call.parts.pool, call.caller.org_id, body.work, allowed=settings.allowed_networks)
    gathering.done()
    return schedules.Setting(
        name=body.name,
        cron=body.cron,
        timezone=body.timezone,
        work={name: value for name, value in msgspec.to_builtins(body.work).items() if value is not None},
        tags=tuple(dict.fromkeys(body.tags)),
        missed=body.missed,
        enabled=body.enabled,
    )


def _faults(settings: Settings, given: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with the times and the jobs of a schedule that cannot be read as a whole."""
    times = given.get("cron") or "0 0 * * *", given.get("timezone") or "UTC"  # of what is no text nothing more is said
    try:
        cron.check(*times, utc_now(), settings.schedule_min_seconds)
    except Problem as problem:
        yield problem
    if work_sent := given.get("work"):
        for each in submission.url_faults(work_sent, allowed=settings.allowed_networks):
            yield each.within("work")


def _listed(tags: str) -> tuple[str, ...]:
    return tuple(tags.split(",")) if tags else ()


async def _answered(
    call: Call, schedule: Schedule, status: int = 200, headers: dict[str, str] | None = None
) -> web.Response:
    [body] = await all_shown(call, [schedule])
    return answer(status, body, {"ETag": tag_of(schedule.version), **(headers or {})})


_SAVING = ("too_large", "unknown_workflow", "unusable_text")
OPERATIONS = (
    Operation(
        method="POST",
        path="/api/v1/schedules",
        summary="Make a schedule",
        access="submit",
        handler=create,
        body=schedule_requests.SaveSchedule,
        faults=_faults,
        headers=("Idempotency-Key",),
        max_body_bytes=MAX_BODY_BYTES,
        answers={201: schedule_answers.Schedule, 200: schedule_answers.Schedule},
        errors=("idempotency_conflict", "too_many_schedules", *_SAVING),
    ),
    Operation(
        method="GET",
        path="/api/v1/schedules",
        summary="List the schedules of the org",
        access="read",
        handler=page,
        positioned=True,
        query=schedule_requests.ListSchedules,
        answers={200: schedule_answers.Schedules},
    ),
    Operation(
        method="GET",
        path="/api/v1/schedules/{schedule_id}",
        summary="Read a schedule",
        access="read",
        handler=get,
        positioned=True,
        answers={200: schedule_answers.Schedule},
        errors=("not_found",),
    ),
    Operation(
        method="PUT",
        path="/api/v1/schedules/{schedule_id}",
        summary="Set a schedule anew, unless somebody else did",
        access="submit",
        handler=update,
        body=schedule_requests.SaveSchedule,
        faults=_faults,
        headers=("If-Match",),
        max_body_bytes=MAX_BODY_BYTES,
        answers={200: schedule_answers.Schedule},
        errors=("not_found", "version_changed", "if_match_missing", *_SAVING),
    ),
    Operation(
        method="DELETE",
        path="/api/v1/schedules/{schedule_id}",
        summary="Delete a schedule",
        access="submit",
        handler=delete,
        headers=("If-Match",),
        answers={200: schedule_answers.DeletedSchedule},
        errors=("not_found", "version_changed"),
    ),
    *(
        Operation(
            method="POST",
            path=f"/api/v1/schedules/{{schedule_id}}/{handler.__name__}",
            summary=summary,
            access="submit",
            handler=handler,
            headers=("If-Match",),
            answers={200: schedule_answers.Schedule},
            errors=("not_found", "version_changed"),
        )
        for handler, summary in ((enable, "Let a schedule fire"), (disable, "Let a schedule fire no more"))
    ),
)
