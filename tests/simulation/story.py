"""What the events of one job come to, as `history.py` folds them."""

from dataclasses import dataclass, field

from schemas.values import After, Destination
from tests.simulation.holds import Patience

LIVE = ("pending", "running", "waiting_retry", "extraction_done")
AT_CUSTOMERS = "erasure:own"
# What the stores of ours, and warehouses of customers, are called that are to forget a deleted job.
ERASURES = ("erasure", "erasure-clickhouse", AT_CUSTOMERS)


@dataclass(slots=True)
class Told:
    """One delivery, as the log tells of it."""

    kind: str
    tries: int
    ack: bytes = b""
    rows: int = 0  # as acknowledged
    over: bool = False  # given up or waived
    not_before: int = 0  # microseconds UTC


@dataclass(slots=True)
class Story:
    """One job, as the log tells of it."""

    org_id: str
    destinations: tuple[Destination, ...]
    workflow_id: str = ""
    patience: Patience = field(default_factory=Patience)
    status: str = "pending"
    seq: int = 0
    attempt: int = 0
    dispatch: int = 0
    in_slot: bool = False
    deleted: bool = False
    expired: bool = False
    ended_at: int = 0  # microseconds UTC
    due_at: int = 0
    steps: int = 0
    deliveries: dict[tuple[str, int], Told] = field(default_factory=dict)  # by destination and generation
    opened: dict[str, bytes] = field(default_factory=dict)  # destination -> its first ACK or waiver

    @property
    def terminal(self) -> bool:
        """Whether it has ended."""
        return self.status not in LIVE

    @property
    def gone(self) -> bool:
        """Whether its results are: the stores have to forget it."""
        return self.deleted or self.expired

    def missing(self) -> list[str]:
        """Return the gating destinations whose part of the gate is closed."""
        gating = [each.destination_id for each in self.destinations if each.gating]
        return [place for place in gating if place not in self.opened]

    def unsettled(self) -> list[str]:
        """Return the deliveries that an ended job still waits for; a job that gave no result delivers only notices."""
        newest = {place: told for (place, _), told in sorted(self.deliveries.items())}
        settled = {place for place, told in newest.items() if told.ack or told.over}
        if self.gone:
            return [place for place in ERASURES if place in newest and place not in settled]
        if self.status == "cancelled":
            return []
        after = After.COMPLETED if self.status == "completed" else After.FAILED
        wanted = [place for place in self.destinations if place.after is after]
        if self.status == "completed":
            wanted += [place for place in self.destinations if place.after is After.EXTRACTION]
        return [place.destination_id for place in wanted if place.destination_id not in settled]
