"""The signed head of an org's hash chain: whoever keeps it can later show what the log held."""

from aiohttp import web

from api import history_answers
from api.errors import Problem, not_found
from api.http import answer
from api.operation import Call, Operation
from projections.heads.sheet import UnusableSheet, read_sheet


async def head(call: Call) -> web.StreamResponse:
    """Answer the newest signed head of the caller's org; new events are signed within some ten seconds."""
    try:
        sheet = await read_sheet(call.parts.blobs, call.parts.settings.topic_prefix, call.caller.partition)
    except UnusableSheet:
        raise Problem("store_unavailable", "the signed heads are not readable: ask the operator") from None
    signed = sheet.heads.get(call.caller.org_id) if sheet else None
    if sheet is None or signed is None:
        raise not_found("signed head yet")
    told = history_answers.ChainHead(
        ledger=signed.ledger,
        org_id=signed.org_id,
        partition=signed.partition,
        position=signed.position,
        hash=signed.hash,
        signed_at=signed.signed_at,
        signature=signed.signature,
        public_key=sheet.public_key,
    )
    return answer(200, told)


OPERATIONS = (
    Operation(
        method="GET",
        path="/api/v1/history/head",
        summary="Read the signed head of the org's hash chain",
        access="read",
        handler=head,
        answers={200: history_answers.ChainHead},
        errors=("not_found",),
    ),
)
