"""What callers get of the erasure of an org, as in `api.answers`."""

from api.answers import Answer
from api.times import Timestamp


class Erasure(Answer, frozen=True, kw_only=True):
    """Whether new jobs of an org are sealed, and since when that is so; null: it was never set."""

    org_id: str
    enabled: bool
    since: Timestamp | None
