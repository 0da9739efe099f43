"""Answers about plans and credits."""

from typing import Annotated

from msgspec import Meta

from api.answers import Answer


class OrgCredits(Answer, frozen=True, kw_only=True):
    """Plan and credits of an org, as its operator sees them, with the change in effect."""

    org_id: str
    plan: str
    metered: Annotated[bool, Meta(description="whether its jobs cost credits")]
    remaining_credits: Annotated[int, Meta(description="the balance; what is set aside is not in it")]
