"""One delivery of a job's extraction to one destination: what has been asked, answered and given up."""

from enum import IntEnum
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from schemas.events import (
    DeliveryAcked,
    DeliveryDeadLettered,
    DeliveryEvent,
    DeliveryFailed,
    DeliveryRequested,
    DeliveryWaived,
)
from schemas.recorded import Recorded
from schemas.values import Destination


class DeliveryState(IntEnum):
    """Where a delivery stands."""

    REQUESTED = 1  # a writer has it; sent again when no answer comes
    WAITING = 2  # a try failed; the next one is dated
    ACKED = 3
    DEAD = 4  # given up
    WAIVED = 5  # nobody waits for it any more


SETTLED = frozenset({DeliveryState.ACKED, DeliveryState.DEAD, DeliveryState.WAIVED})


class DeliveryStatus(Struct, frozen=True, gc=False):
    """State of one delivery."""

    destination: Destination
    generation: int
    try_number: int
    state: DeliveryState
    changed_at: int  # microseconds UTC
    failures: int = 0
    next_try_at: int = 0  # microseconds UTC; of a WAITING delivery
    requested_at: int = 0  # microseconds UTC; of this generation
    opened_by: bytes = b""  # the event that opened its part of the gate: the first ACK or waiver, of any generation
    erase: bool = False  # of a deleted job: what the destination holds has to go


def initial(
    destination: Destination, recorded: Recorded, requested: DeliveryRequested, opened_by: bytes = b""
) -> DeliveryStatus:
    """Begin a delivery, or a new generation of it: what an earlier one opened stays open."""
    at = recorded.header.occurred_at
    return DeliveryStatus(
        destination,
        requested.generation,
        requested.try_number,
        DeliveryState.REQUESTED,
        changed_at=at,
        requested_at=at,
        opened_by=opened_by,
        erase=requested.erase,
    )


def evolve(delivery: DeliveryStatus, recorded: Recorded, event: DeliveryEvent) -> DeliveryStatus:
    """Fold one event into a delivery of the same destination and generation."""
    at = recorded.header.occurred_at
    match event:
        case DeliveryRequested():
            return replace(delivery, try_number=event.try_number, state=DeliveryState.REQUESTED, changed_at=at)
        case DeliveryAcked():
            return _opened(replace(delivery, state=DeliveryState.ACKED, changed_at=at), recorded)
        case DeliveryWaived():
            return _opened(replace(delivery, state=DeliveryState.WAIVED, changed_at=at), recorded)
        case DeliveryFailed():
            return replace(
                delivery,
                state=DeliveryState.WAITING,
                changed_at=at,
                failures=delivery.failures + 1,
                next_try_at=event.next_try_at,
            )
        case DeliveryDeadLettered():
            return replace(delivery, state=DeliveryState.DEAD, changed_at=at)
        case _:
            assert_never(event)


def _opened(delivery: DeliveryStatus, recorded: Recorded) -> DeliveryStatus:
    return delivery if delivery.opened_by else replace(delivery, opened_by=recorded.header.event_id)
