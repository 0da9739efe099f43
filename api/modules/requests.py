"""What callers ask about module jobs, in the snake_case of their published API."""

from typing import Annotated

import msgspec
from msgspec import Meta

MAX_ITEMS = 1_000


class ListItems(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which results of a job."""

    offset: Annotated[int, Meta(ge=0, lt=2**62, description="how many results are passed over")] = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_ITEMS)] = 200
