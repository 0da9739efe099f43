"""Fires of schedules: trigger one now, look at those there were, and act on all schedules with some tags."""

import asyncio
from collections.abc import Sequence

from aiohttp import web

from api import schedule_answers, schedule_requests, submission
from api.config import schedules
from api.config.schedules import Schedule, TagFilter
from api.errors import Gathering, Problem, invalid
from api.http import answer, answered_with
from api.operation import Call, Operation
from api.refused import done, repeatable
from api.routes.jobs import ledger_position
from api.routes.schedules import all_shown, schedule_of, there
from api.schedules.shown import after, before, fire
from api.schedules.work import submitted
from schemas.values import FireKind
from services.ledger.commands import FireSchedule, SubmitJobs
from services.ledger.replies import Reply
from services.runtime.ids import uuid7
from services.runtime.logs import note
from services.runtime.time import now_micros

MOST_BY_TAGS = 200  # schedules that one call may act on
TRIGGERED_AT_ONCE = 8


async def trigger(call: Call) -> web.StreamResponse:
    """Fire a schedule now, also a disabled one. Its clock is not moved; a repeat with the same key fires once."""
    key = submission.given_key(call.request.headers) or uuid7()
    schedule = await schedule_of(call)
    with repeatable(key):
        reply = await triggered(call, schedule, key, given="Idempotency-Key" in call.request.headers)
    made = done(reply)
    note(jobs=len(made.job_ids))
    headers = {"Idempotency-Key": key, **ledger_position(reply)}
    if made.repeated:
        headers["Idempotency-Replayed"] = "true"
    body = schedule_answers.Triggered(schedule_id=schedule.schedule_id, job_ids=list(made.job_ids))
    return answer(200 if made.repeated else 201, body, headers)


async def fires(call: Call) -> web.StreamResponse:
    """Answer a page of the fires of a schedule, newest first. Postgres only: one of this instant may not be on it."""
    schedule, limit = await schedule_of(call), call.query.limit
    rows = await call.parts.fires.page(call.caller, schedule.schedule_id, before(call.query.cursor), limit + 1)
    following = str(rows[limit - 1].seq) if len(rows) > limit else None
    return answer(200, schedule_answers.Fires(fires=[fire(row) for row in rows[:limit]], next_cursor=following))


async def trigger_by_tags(call: Call) -> web.StreamResponse:
    """Fire every schedule with these tags now; each is answered for by itself."""
    key, given = submission.given_key(call.request.headers) or uuid7(), "Idempotency-Key" in call.request.headers
    meant = await _meant(call)
    answered_with({"Idempotency-Key": key})  # some may be fired where another is not: whoever repeats it needs the key
    turn = asyncio.Semaphore(TRIGGERED_AT_ONCE)

    async def one(schedule: Schedule) -> schedule_answers.TriggeredByTags:
        async with turn:
            try:
                whole = await _whole(call, schedule)
                made = done(await triggered(call, whole, f"{key}\0{schedule.schedule_id}", given=given))
            except Problem as problem:
                if problem.status >= 500:
                    raise
                return _outcome(schedule, (), problem.code)
            return _outcome(schedule, made.job_ids, None)

    with repeatable(key):
        outcomes = await asyncio.gather(*map(one, meant))
    return answer(200, schedule_answers.AllTriggered(schedules=list(outcomes)))


async def _whole(call: Call, schedule: Schedule) -> Schedule:
    """Return a schedule of a page with its work; the work of all of them at once may be too much."""
    if schedule.work is not None:
        return schedule
    return there(await schedules.find(call.parts.pool, schedule.org_id, schedule.schedule_id))


async def enable_by_tags(call: Call) -> web.StreamResponse:
    """Let every schedule with these tags fire from now on."""
    return await _switch_all(call, enabled=True)


async def disable_by_tags(call: Call) -> web.StreamResponse:
    """Let no schedule with these tags fire any more."""
    return await _switch_all(call, enabled=False)


async def _switch_all(call: Call, *, enabled: bool) -> web.StreamResponse:
    pool, org_id = call.parts.pool, call.caller.org_id
    found: list[Schedule] = []
    gathering = Gathering()
    for each in await _meant(call):
        with gathering.looking():  # one that cannot be enabled keeps no other from it
            if switched := await schedules.switch(pool, org_id, each.schedule_id, enabled=enabled):
                found.append(schedules.as_listed(switched))
    gathering.done()
    return answer(200, schedule_answers.Switched(schedules=await all_shown(call, found)))


async def _meant(call: Call) -> list[Schedule]:
    wanted: schedule_requests.TagFilter = call.body.tag_filter
    if not (wanted.any or wanted.all or wanted.none):
        raise invalid("tagFilter", "name at least one tag, in any, all or none")
    found = await schedules.page(
        call.parts.pool,
        call.caller.org_id,
        TagFilter(wanted.any, wanted.all, wanted.none),
        enabled=None,
        before=after(None),
        limit=MOST_BY_TAGS + 1,
    )
    if len(found) > MOST_BY_TAGS:
        raise invalid("tagFilter", f"more than {MOST_BY_TAGS} schedules have these tags: name more of them")
    return found


async def triggered(call: Call, schedule: Schedule, key: str, *, given: bool) -> Reply:
    """Ask the ledger for a fire. A repeat whose workflow is gone by now is answered from what is known of its key."""
    digest = submission.key_digest(call.caller.org_id, key)
    allowed = call.parts.settings.allowed_networks
    try:
        made = await submitted(call.parts.pool, call.parts.keys, schedule, call.asks(), allowed=allowed, digest=digest)
    except Problem:
        if not given:
            raise
        body_digest = submission.trigger_digest(schedule.schedule_id)
        known = SubmitJobs(**call.asks(), jobs=(), idempotency_digest=digest, request_digest=body_digest)
        reply = await call.parts.commander.ask(call.caller.partition, known)
        if not done(reply).job_ids:
            raise
        return reply
    fired = FireSchedule(
        **call.asks(),
        schedule_id=schedule.schedule_id,
        due_at=now_micros(),
        how=FireKind.TRIGGER,
        submission=made,
    )
    return await call.parts.commander.ask(call.caller.partition, fired)


def _outcome(schedule: Schedule, job_ids: Sequence[str], code: str | None) -> schedule_answers.TriggeredByTags:
    return schedule_answers.TriggeredByTags(schedule_id=schedule.schedule_id, job_ids=list(job_ids), code=code)


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/v1/schedules/{schedule_id}/trigger",
        summary="Fire a schedule now",
        access="submit",
        handler=trigger,
        headers=("Idempotency-Key",),
        answers={201: schedule_answers.Triggered, 200: schedule_answers.Triggered},
        errors=(
            "not_found",
            "idempotency_conflict",
            "no_route",
            "queue_full",
            "quota_exhausted",
            "too_large",
            "unknown_workflow",
            "ledger_unavailable",
        ),
    ),
    Operation(
        method="GET",
        path="/api/v1/schedules/{schedule_id}/fires",
        summary="List the fires of a schedule",
        access="read",
        handler=fires,
        positioned=True,
        query=schedule_requests.ListFires,
        answers={200: schedule_answers.Fires},
        errors=("not_found",),
    ),
    Operation(
        method="POST",
        path="/api/v1/schedules/trigger",
        summary="Fire every schedule with some tags now",
        access="submit",
        handler=trigger_by_tags,
        body=schedule_requests.ByTags,
        headers=("Idempotency-Key",),
        answers={200: schedule_answers.AllTriggered},
        errors=("ledger_unavailable",),
    ),
    Operation(
        method="POST",
        path="/api/v1/schedules/enable",
        summary="Let every schedule with some tags fire",
        access="submit",
        handler=enable_by_tags,
        body=schedule_requests.ByTags,
        answers={200: schedule_answers.Switched},
    ),
    Operation(
        method="POST",
        path="/api/v1/schedules/disable",
        summary="Let no schedule with some tags fire",
        access="submit",
        handler=disable_by_tags,
        body=schedule_requests.ByTags,
        answers={200: schedule_answers.Switched},
    ),
)
