"""Takes what was said of deleted jobs out of ClickHouse; that they were deleted stays, and what came later."""

from collections.abc import Sequence

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from projections.clickhouse.insertion import Away
from services.runtime.raw_log import RawEntry

DELETED = "JobDeleted"
FIND = (
    "SELECT org_id, job_id, position FROM job_events "
    "WHERE event_type = 'JobDeleted' AND partition = {partition:Int32} AND position IN {positions:Array(Int64)}"
)
ERASE = (
    "DELETE FROM job_events WHERE org_id = {org_id:String} AND job_id = {job_id:String} AND position < {position:Int64}"
)
FORGET = "DELETE FROM job_states WHERE org_id = {org_id:String} AND job_id = {job_id:String}"


def erase(client: Client, entries: Sequence[RawEntry]) -> None:
    """Erase the jobs whose deletion is among these events, which were inserted; safe to repeat."""
    positions: dict[int, list[int]] = {}
    for entry in entries:
        if entry.event_type == DELETED:
            positions.setdefault(entry.partition, []).append(entry.position)
    try:
        for partition, found in positions.items():
            rows = client.query(FIND, parameters={"partition": partition, "positions": found}).result_rows
            for org_id, job_id, position in rows:
                names = {"org_id": org_id, "job_id": job_id}
                client.command(ERASE, parameters=names | {"position": position})
                client.command(FORGET, parameters=names)
    except ClickHouseError as error:
        raise Away(str(error)) from error
