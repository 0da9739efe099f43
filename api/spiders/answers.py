"""What callers get of orgs, projects and deploys of spiders, in the snake_case of their published API."""

import msgspec

from api.times import Timestamp


class SpiderAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Every field is always there; what is not known (yet) is null."""


class SpiderHealth(SpiderAnswer, frozen=True, kw_only=True):
    """The API answers."""

    status: str


class SpiderOrg(SpiderAnswer, frozen=True, kw_only=True):
    """An org; its slug is its id in every API."""

    slug: str
    name: str
    plan: str
    concurrency_slots: int  # jobs dispatched or running at once
    retention_days: float  # that items are kept after the end of a job; 0: for ever
    created_at: Timestamp


class RegisteredSpiderOrg(SpiderOrg, frozen=True, kw_only=True):
    """An org that was just registered; `api_key` is its first key, and is shown this once."""

    api_key: str


class SpiderOrgs(SpiderAnswer, frozen=True, kw_only=True):
    """The orgs that the caller sees, oldest first."""

    orgs: list[SpiderOrg]
