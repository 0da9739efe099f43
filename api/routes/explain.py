"""Why a job stands where it stands."""

from aiohttp import web

from api import explain_answers, explained
from api.errors import not_found
from api.http import answer
from api.operation import Call, Operation
from api.routes.jobs import job_id_of
from api.tail import TailBehind
from services.ledger.commands import ExplainJob
from services.ledger.replies import Explained, Reason
from services.ledger.status import TERMINAL


async def explain(call: Call) -> web.StreamResponse:
    """Answer what a job waits for and since when, or how it ended and which events made it end so.

    A live job is explained by its decider, from the state that it decides by.
    """
    job_id = job_id_of(call)
    detail = await call.parts.jobs.find(call.caller, job_id)
    if detail is None:
        raise not_found("job")
    if detail.job.status in TERMINAL:
        return answer(200, explained.ended(detail))
    command = ExplainJob(job_id=job_id, **call.asks())
    reply = await call.parts.commander.ask(call.caller.partition, command)
    if isinstance(reply.body, Explained) and reply.body.reason is not Reason.ENDED:
        return answer(200, explained.live(job_id, reply.body))
    ending = await call.parts.jobs.find_behind(call.caller, job_id, reply.position)
    if ending is None:  # it was deleted since it was looked up
        raise not_found("job")
    if ending.job.status not in TERMINAL:
        raise TailBehind("the job has just ended, and its end is not readable yet")
    return answer(200, explained.ended(ending))


OPERATIONS = (
    Operation(
        method="GET",
        path="/api/v1/jobs/{job_id}/explain",
        summary="Explain why a job stands where it stands",
        access="read",
        handler=explain,
        positioned=True,
        answers={200: explain_answers.Explanation},
        errors=("not_found", "catching_up", "ledger_unavailable"),
    ),
)
