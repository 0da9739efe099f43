"""What an org has left, as a fold: one number that every event with credits in it moves."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, assert_never

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


# By type of event: most move nothing, and are not asked of one after the other which they are.
MOVEMENTS: dict[type[AnyEvent], Callable[[Any], Movement]] = {
    JobSubmitted: lambda event: Movement(Kind.DEBIT, -event.credits),
    NodeFinished: lambda event: Movement(Kind.SURCHARGE, -event.surcharge),
    ItemsRecorded: lambda event: Movement(Kind.SURCHARGE, -event.surcharge),
    StatsRecorded: lambda event: Movement(Kind.SURCHARGE, -event.surcharge),
    JobFailed: lambda event: Movement(Kind.REFUND, event.refund),
    JobCancelled: lambda event: Movement(Kind.REFUND, event.refund),
    OrgRegistered: lambda event: Movement(Kind.GRANT, event.credits),
    CreditsGranted: lambda event: Movement(Kind.GRANT, event.credits),
    CreditsHeld: lambda event: Movement(Kind.HOLD, -event.credits),
    CreditsReleased: lambda event: Movement(Kind.RELEASE, event.credits),
}


@dataclass(slots=True)
class Account:
    """Plan and credits of an org."""

    plan: str = ""
    metered: bool = False
    balance: int = 0  # credits; what is set aside is not in it
    holds: dict[bytes, int] = field(default_factory=dict)  # hold id -> credits set aside


def movement(event: AnyEvent) -> Movement | None:
    """Return what an event does to the balance of its org; None: nothing."""
    moves = MOVEMENTS.get(type(event))
    moved = moves(event) if moves else None
    return moved if moved and moved.credits else None


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
