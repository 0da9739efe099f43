"""What the operator sends about the limits of an org."""

from typing import Annotated

from msgspec import Meta

from api.requests import MAX_PENDING, InFlight, QueueSeconds, Request
from services.runtime.settings import MAX_RETENTION_SECONDS

Pending = Annotated[int, Meta(ge=0, le=MAX_PENDING, description="jobs that may be pending; 0: as the ledger is set")]
RetentionSeconds = Annotated[
    int,
    Meta(
        ge=0,
        le=MAX_RETENTION_SECONDS,
        description="how long results are kept after the end of a job; 0: as the ledger is set",
    ),
]


class ChangeOrg(Request, frozen=True, kw_only=True):
    """What changes about an org; a limit that is not named stays."""

    max_in_flight: InFlight | None = None
    max_pending: Pending | None = None
    max_queue_seconds: QueueSeconds | None = None
    retention_seconds: RetentionSeconds | None = None
