"""What orgs have and spent, as rows: the events that move a balance, folded onto one row for each org. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from datetime import datetime
from uuid import UUID

from msgspec import Struct

from projections.postgres.rows import event_uuid, instant
from schemas.credit_events import CreditsGranted, OrgPlanChanged
from schemas.events import AnyEvent, OrgRegistered
from schemas.recorded import Header, Recorded
from services.ledger.account import Kind, Movement, movement

SAYS_PLAN = (OrgRegistered, OrgPlanChanged, CreditsGranted)  # also where no balance moves
COLUMN_OF = {Kind.GRANT: "granted", Kind.DEBIT: "debited", Kind.SURCHARGE: "surcharged", Kind.REFUND: "refunded"}


class Usage(Struct, gc=False):
    """A row of `org_usage`. `position`: of the newest event that it has folded."""

    org_id: str
    partition: int
    position: int = 0
    plan: str = ""
    metered: bool = False
    balance: int = 0  # credits, as are the next five
    granted: int = 0
    debited: int = 0
    surcharged: int = 0
    refunded: int = 0
    held: int = 0
    jobs: int = 0  # submitted that cost credits


class Transaction(Struct, gc=False):
    """A row of `credit_transactions`: one event that moved a balance."""

    org_id: str
    position: int
    partition: int
    event_id: UUID
    kind: str
    credits: int
    balance: int  # behind it
    job_id: str | None
    occurred_at: datetime
    actor: str


def orgs_of(batch: Iterable[Recorded]) -> set[str]:
    """Return the orgs whose row a batch changes."""
    return {event.org_id for _, event, _ in _counting(batch)}


def fold_usage(current: Mapping[str, Usage], batch: Iterable[Recorded]) -> tuple[dict[str, Usage], list[Transaction]]:
    """Fold a batch; what a row has already folded changes nothing."""
    rows: dict[str, Usage] = {}
    moved: list[Transaction] = []
    for header, event, change in _counting(batch):
        row = rows.get(event.org_id) or copy(current.get(event.org_id)) or Usage(event.org_id, header.partition)
        if header.position <= row.position:
            continue
        rows[event.org_id] = row
        row.position = header.position
        match event:
            case OrgRegistered() | OrgPlanChanged():
                row.plan, row.metered = event.plan, event.metered
            case CreditsGranted():
                row.metered = True
        if change is not None:
            _move(row, change)
            moved.append(_transaction(row, header, event, change))
    return rows, moved


def _counting(batch: Iterable[Recorded]) -> Iterator[tuple[Header, AnyEvent, Movement | None]]:
    """Yield what changes the row of an org, each with what it does to the balance."""
    for recorded in batch:
        event = recorded.event
        change = movement(event)
        if change is not None or isinstance(event, SAYS_PLAN):
            yield recorded.header, event, change


def _move(row: Usage, change: Movement) -> None:
    row.balance += change.credits
    column = COLUMN_OF.get(change.kind)
    if column is None:
        row.held -= change.credits
    else:
        taken = change.kind in (Kind.DEBIT, Kind.SURCHARGE)
        setattr(row, column, getattr(row, column) + (-change.credits if taken else change.credits))
    row.jobs += change.kind is Kind.DEBIT


def _transaction(row: Usage, header: Header, event: AnyEvent, change: Movement) -> Transaction:
    return Transaction(
        event.org_id,
        header.position,
        header.partition,
        event_uuid(header.event_id),
        str(change.kind),
        change.credits,
        row.balance,
        event.job_id or None,
        instant(header.occurred_at),
        header.actor,
    )
