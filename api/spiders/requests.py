"""What callers send about spiders, in the snake_case of their published API."""

from typing import Annotated

import msgspec
from msgspec import Meta

from api.requests import Id, InFlight, Name, PlanName
from services.runtime.settings import MAX_RETENTION_SECONDS

DAY_SECONDS = 86_400
OrgName = Annotated[str, Meta(description="slug of the org; without it, that of the key")]
Days = Annotated[
    int,
    Meta(
        ge=0,
        le=MAX_RETENTION_SECONDS // DAY_SECONDS,
        description="for how long items are kept after the end of a job; 0 or nothing: as the ledger is set",
    ),
]


class SpiderRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Snake case, no unknown fields: a misspelt one is an error, not silence."""


class RegisterSpiderOrg(SpiderRequest, frozen=True, kw_only=True):
    """An org to be registered."""

    slug: Id
    name: Name
    plan: PlanName = "standard"
    concurrency_slots: Annotated[InFlight | None, Meta(description="without it, what the plan has")] = None
    retention_days: Days | None = None
