"""What an org has left, as a fold: one number that every event with credits in it moves."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, assert_never

from schemas.credit_events import AccountEvent, CreditsGranted, CreditsHeld, CreditsReleased, OrgPlanChanged
from schemas.events import AnyEvent, JobCancelled, JobFailed, JobSubmitted, NodeFinished, OrgRegistered
from schemas.item_events import ItemsRecorded, StatsRecorded


class Kind(StrEnum):
    """Why a balance changed."""

    GRANT = "grant"
    DEBIT = "debit"
    SURCHARGE = "surcharge"
    REFUND = "refund"
    HOLD = "hold"
    RELEASE = "release"


class Movement(NamedTuple):
    """What an event does to the balance of its org."""

    kind: Kind
    credits: int  # what is added; negative: taken


@dataclass(slots=True)
class Account:
    """Plan and credits of an org."""

    plan: str = ""
    metered: bool = False
    balance: int = 0  # credits; what is set aside is not in it
    holds: dict[bytes, int] = field(default_factory=dict)  # hold id -> credits set aside


def movement(event: AnyEvent) -> Movement | None:
    """Return what an event does to the balance of its org; None: nothing."""
    match event:
        case JobSubmitted():
            moved = Movement(Kind.DEBIT, -event.credits)
        case NodeFinished() | ItemsRecorded() | StatsRecorded():
            moved = Movement(Kind.SURCHARGE, -event.surcharge)
        case JobFailed() | JobCancelled():
            moved = Movement(Kind.REFUND, event.refund)
        case OrgRegistered() | CreditsGranted():
            moved = Movement(Kind.GRANT, event.credits)
        case CreditsHeld():
            moved = Movement(Kind.HOLD, -event.credits)
        case CreditsReleased():
            moved = Movement(Kind.RELEASE, event.credits)
        case _:
            return None
    return moved if moved.credits else None


def fold_account(account: Account, event: AccountEvent | OrgRegistered) -> None:
    """Fold what an event says of an account beside moving its balance."""
    match event:
        case OrgRegistered() | OrgPlanChanged():
            account.plan, account.metered = event.plan, event.metered
        case CreditsGranted():
            account.metered = True
        case CreditsHeld():
            account.holds[event.hold_id] = account.holds.get(event.hold_id, 0) + event.credits
        case CreditsReleased():
            left = account.holds.pop(event.hold_id, 0) - event.credits
            if left > 0:
                account.holds[event.hold_id] = left
        case _:
            assert_never(event)
