"""Destinations of a Scrapy project: where the items of its jobs go. None of them gates."""

from api.config.destinations import Stored
from api.config.store import Pool, rows
from schemas.values import Destination


async def enabled(pool: Pool, org_id: str, project: str) -> tuple[Destination, ...]:
    """Return the destinations that a job of the project that is submitted now gets."""
    values = {"org_id": org_id, "project": project}
    async with pool.connection() as connection:
        found = await rows(connection, Stored, "enabled_destinations_of_project", values)
    return tuple(each.destination for each in found)
