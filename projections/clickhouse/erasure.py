"""Takes what was said of deleted jobs out of ClickHouse; that they were deleted stays, and what came later."""

from collections.abc import Sequence

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from projections.clickhouse.insertion import Away
from services.runtime.raw_log import RawEntry

DELETED = "JobDeleted"
JOBS_AT_ONCE = 500  # a deletion costs ClickHouse as much for many jobs as for one; they travel in its URL
FIND = (
    "SELECT org_id, job_id, position FROM job_events "
    "WHERE event_type = 'JobDeleted' AND partition = {partition:Int32} AND position IN {positions:Array(Int64)}"
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
    positions: dict[int, list[int]] = {}
    for entry in entries:
        if entry.event_type == DELETED:
            positions.setdefault(entry.partition, []).append(entry.position)
    try:
        for partition, found in positions.items():
            rows = client.query(FIND, parameters={"partition": partition, "positions": found}).result_rows
            for at in range(0, len(rows), JOBS_AT_ONCE):
                some = rows[at : at + JOBS_AT_ONCE]
                jobs = {"jobs": [(org_id, job_id) for org_id, job_id, _ in some]}
                client.command(ERASE, parameters=jobs | {"deleted": [position for _, _, position in some]})
                client.command(FORGET, parameters=jobs)
    except ClickHouseError as error:
        raise Away(str(error)) from error
