"""What callers get about the deliveries of a job."""

from api.answers import Answer
from api.times import Timestamp


class JobDelivery(Answer, frozen=True, kw_only=True):
    """One delivery of a job to one destination.

    `status` is requested, waiting, acked, dead_lettered or waived; or superseded: a later generation took its place.
    `place` is where the rows are, and `summary` says the whole in a few words, such as `1240 -> db.table`.
    """

    destination_id: str
    kind: str
    gating: bool
    on_exhausted: str
    generation: int
    status: str
    tries: int
    requested_at: Timestamp
    delivered_at: Timestamp | None
    next_try_at: Timestamp | None
    waived_at: Timestamp | None
    waive_reason: str | None
    error_type: str | None
    error_message: str | None
    rows: int | None
    place: str | None
    summary: str


class JobDeliveries(Answer, frozen=True, kw_only=True):
    """Every delivery of a job, by destination, older generations first."""

    deliveries: list[JobDelivery]


class DeliveryOrder(Answer, frozen=True, kw_only=True):
    """What was asked about a delivery is recorded."""

    job_id: str
    destination_id: str
    generation: int
    accepted: bool
