"""Which org a path names, and how an org is answered."""

import re

from api import config_answers, requests
from api.config import orgs
from api.errors import not_found
from api.operation import Call
from api.times import iso, iso_or_none


async def org_of(call: Call) -> orgs.Org:
    """Return the registered org that the path names."""
    org_id = call.request.match_info["org_id"]
    org = await orgs.find(call.parts.pool, org_id) if re.fullmatch(requests.ID_PATTERN, org_id) else None
    if org is None or org.registered_at is None:
        raise not_found("org")
    return org


def shown_org(org: orgs.Org) -> config_answers.Org:
    """Return an org as its operator sees it."""
    return config_answers.Org(
        org_id=org.org_id,
        name=org.name,
        plan=org.plan,
        partition=org.partition,
        max_in_flight=org.max_in_flight,
        max_pending=org.max_pending,
        max_queue_seconds=org.max_queue_seconds,
        retention_seconds=org.retention_seconds,
        paused_at=iso_or_none(org.paused_at),
        created_at=iso(org.created_at),
    )
