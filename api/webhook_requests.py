"""What callers ask about the messages to a webhook endpoint: one struct per call, as in `api.requests`."""

from typing import Annotated, Literal

from msgspec import Meta

from api.requests import Instant, Request


class ReplayWebhook(Request, frozen=True, kw_only=True):
    """Which messages are sent once more: of those whose newest delivery was requested in a range of time."""

    since: Annotated[Instant, Meta(description="from then on")] | None = None
    until: Annotated[Instant, Meta(description="before then; now, where it is left out")] | None = None
    only: Annotated[Literal["failed", "all"], Meta(description="what was given up or waived, or also what arrived")] = (
        "failed"
    )
    job_id: Annotated[str, Meta(description="only those about this job")] | None = None
    cursor: Annotated[str, Meta(description="`nextCursor` of the answer before")] | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 100


class ListAttempts(Request, frozen=True, kw_only=True):
    """Which attempts, and how many."""

    job_id: Annotated[str, Meta(description="only those about this job")] | None = None
    message_id: Annotated[str, Meta(description="only those of the message with this `webhook-id`")] | None = None
    cursor: Annotated[str, Meta(description="`nextCursor` of the page before")] | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 50
