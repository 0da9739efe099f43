"""Takes what was said of deleted jobs out of ClickHouse; that they were deleted stays, and what came later."""

from collections.abc import Sequence

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from projections.clickhouse.insertion import Away
from services.runtime.raw_log import RawEntry

DELETED = "JobDeleted"
JOBS_AT_ONCE = 500  # a deletion costs ClickHouse as much for many jobs as for one; they travel in its URL
FIND = (
    "SELECT org_id, job_id, position FROM job_events WHERE event_type = 'JobDeleted' "
    "AND org_id IN {orgs:Array(String)} AND (partition, position) IN {places:Array(Tuple(Int32, Int64))}"
)
ERASE = """
DELETE FROM job_events
WHERE (org_id, job_id) IN {jobs:Array(Tuple(String, String))}
    AND position < arrayElement({deleted:Array(Int64)},
        indexOf({jobs:Array(Tuple(String, String))}, (toString(org_id), job_id)))
"""
FORGET = "DELETE FROM job_states WHERE (org_id, job_id) IN {jobs:Array(Tuple(String, String))}"


def erase(client: Client, entries: Sequence[RawEntry]) -> None:
    """Erase the jobs whose deletion is among these events, which were inserted; safe to repeat."""
    deletions = [entry for entry in entries if entry.event_type == DELETED]
    try:
        for at in range(0, len(deletions), JOBS_AT_ONCE):
            some = deletions[at : at + JOBS_AT_ONCE]
            places = [(entry.partition, entry.position) for entry in some]
            orgs = sorted({entry.org_id for entry in some})  # rows are in the order of orgs: others are not read
            rows = client.query(FIND, parameters={"orgs": orgs, "places": places}).result_rows
            if not rows:  # past their days, with all that was said of their jobs
                continue
            jobs = {"jobs": [(org_id, job_id) for org_id, job_id, _ in rows]}
            client.command(ERASE, parameters=jobs | {"deleted": [position for _, _, position in rows]})
            client.command(FORGET, parameters=jobs)
    except ClickHouseError as error:
        raise Away(str(error)) from error
