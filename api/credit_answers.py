"""Answers about plans and credits."""

from typing import Annotated

from msgspec import Meta

from api.answers import Answer
from api.times import Timestamp


class OrgCredits(Answer, frozen=True, kw_only=True):
    """Plan and credits of an org, as its operator sees them, with the change in effect."""

    org_id: str
    plan: str
    metered: Annotated[bool, Meta(description="whether its jobs cost credits")]
    remaining_credits: Annotated[int, Meta(description="the balance; what is set aside is not in it")]


class Surcharges(Answer, frozen=True, kw_only=True):
    """Credits that a node costs beside the job."""

    render: Annotated[int, Meta(description="where it has its provider render")]
    fallback: Annotated[int, Meta(description="where it is called because another node failed")]


class PlanStatus(Answer, frozen=True, kw_only=True):
    """The plan of an org and its credits; balance = granted - debited - surcharged + refunded - held."""

    plan: str
    metered: Annotated[bool, Meta(description="whether its jobs cost credits")]
    can_submit_jobs: Annotated[bool, Meta(description="whether it can pay for one more")]
    remaining_credits: Annotated[int | None, Meta(description="null: it is not metered")]
    credits_per_job: int
    surcharges: Surcharges
    clickhouse: Annotated[bool, Meta(description="whether it may have destinations of this kind")]
    warehouses: Annotated[bool, Meta(description="whether it may have destinations in warehouses of its own")]
    granted: int
    debited: int
    surcharged: int
    refunded: int
    held: Annotated[int, Meta(description="set aside for the rest of a submission")]
    jobs: Annotated[int, Meta(description="jobs that cost credits")]


class CreditTransaction(Answer, frozen=True, kw_only=True):
    """One event that moved the balance: grant, debit, surcharge, refund, hold or release."""

    kind: str
    credits: Annotated[int, Meta(description="what was added; negative: taken")]
    balance: Annotated[int, Meta(description="behind it")]
    job_id: str | None
    position: Annotated[str, Meta(description="of its event in the log: partition:position")]
    event_id: str
    occurred_at: Timestamp


class CreditTransactions(Answer, frozen=True, kw_only=True):
    """A page of transactions, newest first; `nextCursor` is null on the last page."""

    transactions: list[CreditTransaction]
    next_cursor: str | None
