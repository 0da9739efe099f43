"""Plans and credits: whether the log keeps its rules about them, and the read model says the same.

The balance of an org is told three ways that have to meet: by the sum of its transactions in the log, by the fold that
its decider makes of the same events, and by the rows.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from projections.verification.compare import shown
from projections.verification.expected import Columns
from projections.verification.faults import Fault
from projections.verification.log import PartitionLog
from schemas.events import OrgRegistered
from schemas.recorded import Recorded
from services.ledger.account import Account, fold_account, movement

USAGE, TRANSACTIONS = "org_usage", "credit_transactions"
# event type -> the kind of transaction that it is, the field that has the amount, and its sign
MOVES = {
    "OrgRegistered": ("grant", "credits", 1),
    "CreditsGranted": ("grant", "credits", 1),
    "JobSubmitted": ("debit", "credits", -1),
    "NodeFinished": ("surcharge", "surcharge", -1),
    "ItemsRecorded": ("surcharge", "surcharge", -1),
    "StatsRecorded": ("surcharge", "surcharge", -1),
    "JobFailed": ("refund", "refund", 1),
    "JobCancelled": ("refund", "refund", 1),
    "CreditsHeld": ("hold", "credits", -1),
    "CreditsReleased": ("release", "credits", 1),
}
ABOUT_THE_ORG = ("OrgRegistered", "OrgPlanChanged", "CreditsGranted")


@dataclass(slots=True)
class Told:
    """What the log says of one org."""

    transactions: list[Columns] = field(default_factory=list)
    row: Columns = field(default_factory=dict)
    account: Account = field(default_factory=Account)
    costs: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    refunded: set[str] = field(default_factory=set)


def usage_of(log: PartitionLog) -> dict[str, Told]:
    """Return what the events of a partition say of each of its orgs."""
    told: defaultdict[str, Told] = defaultdict(Told)
    for recorded in log.recorded:
        if recorded.header.event_type in MOVES or recorded.header.event_type in ABOUT_THE_ORG:
            _take(told[recorded.event.org_id], recorded, log)
    return {org_id: each for org_id, each in told.items() if each.row}


def compare_usage(told: Mapping[str, Told], found: Iterable[Columns]) -> Iterator[Fault]:
    """Yield what is missing, too much or different among the rows of orgs."""
    yield from _compare(USAGE, {(org_id,): each.row for org_id, each in told.items()}, found, ("org_id",))


def compare_transactions(told: Mapping[str, Told], found: Iterable[Columns]) -> Iterator[Fault]:
    """Yield the same of transactions."""
    wanted = {(row["org_id"], row["position"]): row for each in told.values() for row in each.transactions}
    yield from _compare(TRANSACTIONS, wanted, found, ("org_id", "position"))


def _take(told: Told, recorded: Recorded, log: PartitionLog) -> None:
    header, event = recorded.header, recorded.event
    kind, name, sign = MOVES.get(header.event_type, ("", "", 0))
    amount = sign * getattr(event, name) if name else 0
    if not amount and header.event_type not in ABOUT_THE_ORG:
        return
    row = told.row or {"org_id": event.org_id, "partition": header.partition, **dict.fromkeys(SUMS, 0)}
    row |= {"position": header.position, "metered": row.get("metered", False), "plan": row.get("plan", "")}
    if header.event_type in ABOUT_THE_ORG:
        row["metered"] = getattr(event, "metered", True)
        row["plan"] = getattr(event, "plan", row["plan"])
    told.row = row
    if amount:
        row["balance"] += amount
        row[SUM_OF[kind]] += -amount if kind in ("debit", "surcharge", "hold", "release") else amount
        row["jobs"] += kind == "debit"
        told.transactions.append(_transaction(recorded, kind, amount, row["balance"]))
    _check(told, recorded, kind, amount, log)


SUM_OF = {
    "grant": "granted",
    "debit": "debited",
    "surcharge": "surcharged",
    "refund": "refunded",
    "hold": "held",
    "release": "held",
}
SUMS = ("balance", "jobs", *SUM_OF.values())


def _check(told: Told, recorded: Recorded, kind: str, amount: int, log: PartitionLog) -> None:
    """Check the rules: never below zero, one refund for a job and of what it cost, and the decider's own balance."""
    event = recorded.event
    place = event.job_id or f"partition {log.partition} position {recorded.header.position}"
    if told.row["balance"] < 0:
        log.fault(event.org_id, place, "balance", "never below 0", told.row["balance"])
    if kind in ("debit", "surcharge"):
        told.costs[event.job_id] -= amount
    if kind == "refund":
        if event.job_id in told.refunded or amount != told.costs[event.job_id]:
            log.fault(event.org_id, place, "refund", f"once, {told.costs[event.job_id]}", amount)
        told.refunded.add(event.job_id)
    if isinstance(event, OrgRegistered) or recorded.header.event_type.startswith(("Credits", "OrgPlan")):
        fold_account(told.account, event)  # type: ignore[arg-type]
    moved = movement(event)
    told.account.balance += moved.credits if moved else 0
    row, account = told.row, told.account
    if (account.balance, account.metered, account.plan) != (row["balance"], row["metered"], row["plan"]):
        log.fault(event.org_id, place, "account", f"{row['balance']} on {row['plan']}", account)


def _transaction(recorded: Recorded, kind: str, amount: int, balance: int) -> Columns:
    header = recorded.header
    return {
        "org_id": recorded.event.org_id,
        "position": header.position,
        "partition": header.partition,
        "event_id": UUID(bytes=header.event_id),
        "kind": kind,
        "credits": amount,
        "balance": balance,
        "job_id": recorded.event.job_id or None,
        "occurred_at": header.occurred_at,
        "actor": header.actor,
    }


def _compare(
    table: str, wanted: Mapping[tuple[Any, ...], Columns], found: Iterable[Columns], names: tuple[str, ...]
) -> Iterator[Fault]:
    left = dict(wanted)
    for row in found:
        key = tuple(row[name] for name in names)
        expected = left.pop(key, None)
        place = " ".join(f"{name}={row[name]}" for name in names)
        if expected is None:
            yield Fault(table, row["org_id"], place, "row", "none", "one too many")
            continue
        for name, value in expected.items():
            if row[name] != value:
                yield Fault(table, row["org_id"], place, name, shown(value), shown(row[name]))
    for key in left:
        yield Fault(table, key[0], " ".join(map(str, key)), "row", "one", "none")
