"""What the caller's org has and spent: its plan, its credits, and every event that moved them."""

import re

from aiohttp import web

from api import requests
from api.credit_answers import CreditTransaction, CreditTransactions, PlanStatus, Surcharges
from api.errors import invalid
from api.http import answer
from api.operation import Call, Operation
from api.times import iso
from projections.postgres.usage import Transaction
from services.ledger.plans import plan_named, plans_of

NEWEST = 2**63 - 1
_POSITION = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)


async def status(call: Call) -> web.StreamResponse:
    """Answer the plan and what is left. Postgres only: what was decided in this instant may not be in it."""
    usage, settings = await call.parts.usage.now(call.caller), call.parts.settings
    plan = plan_named(plans_of(settings.plans), usage.plan)
    shown = PlanStatus(
        plan=usage.plan or "standard",
        metered=usage.metered,
        can_submit_jobs=not usage.metered or usage.balance >= settings.job_credits,
        remaining_credits=usage.balance if usage.metered else None,
        credits_per_job=settings.job_credits if usage.metered else 0,
        surcharges=Surcharges(render=settings.render_surcharge, fallback=settings.fallback_surcharge),
        clickhouse=plan.clickhouse,
        warehouses=plan.warehouses,
        granted=usage.granted,
        debited=usage.debited,
        surcharged=usage.surcharged,
        refunded=usage.refunded,
        held=usage.held,
        jobs=usage.jobs,
    )
    return answer(200, shown)


async def transactions(call: Call) -> web.StreamResponse:
    """Answer a page of what moved the balance, newest first; a cursor goes on where its page ended, whatever came."""
    cursor, limit = call.query.cursor, call.query.limit
    if cursor is not None and not _POSITION.fullmatch(cursor):
        raise invalid("cursor", "not a cursor of this API: pass `nextCursor` of the page before, unchanged")
    rows = await call.parts.usage.page(call.caller, int(cursor or NEWEST), limit + 1)
    following = str(rows[limit - 1].position) if len(rows) > limit else None
    return answer(200, CreditTransactions(transactions=list(map(_shown, rows[:limit])), next_cursor=following))


def _shown(row: Transaction) -> CreditTransaction:
    return CreditTransaction(
        kind=row.kind,
        credits=row.credits,
        balance=row.balance,
        job_id=row.job_id,
        position=f"{row.partition}:{row.position}",
        event_id=str(row.event_id),
        occurred_at=iso(row.occurred_at),
    )


OPERATIONS = (
    Operation(
        method="GET",
        path="/api/v1/plans/status",
        summary="Read the plan of the org, and what it has left",
        access="read",
        handler=status,
        answers={200: PlanStatus},
        positioned=True,
    ),
    Operation(
        method="GET",
        path="/api/v1/plans/transactions",
        summary="List what moved the credits of the org",
        access="read",
        handler=transactions,
        query=requests.ListTransactions,
        answers={200: CreditTransactions},
        positioned=True,
    ),
)
