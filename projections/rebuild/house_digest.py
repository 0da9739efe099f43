"""The digest of a version of the read model in ClickHouse, and where two differ: org and day, then job and column.

Tables and columns are those that ClickHouse knows. States are compared as what they come to, merged (FINAL), and
numbers with a point to six digits where they are sums: their order of adding is nobody's business.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from clickhouse_connect.driver.client import Client

from projections.rebuild.difference import MOST_BUCKETS, MOST_ROWS, Difference
from projections.rebuild.digest import NO_DAY, ORG, TIMES, Bucket, Digest, Summed
from projections.rebuild.houses import SQL
from projections.verification.compare import shown
from projections.verification.faults import Fault
from services.runtime.clickhouse import quoted

EVENTS, DELETED = "job_events", "deleted_jobs"
DAYS = (*TIMES, "hour", "day", "expired_at")
ROUGH = ("AggregateFunction(quantile", "AggregateFunction(uniq")  # what they come to depends on how parts were merged
JOB_COLUMNS = ("job_id", "partition", "position")
AFTER, UP_TO = ">", "<="


@dataclass(frozen=True, slots=True)
class Table:
    """What is compared of a table: by column, how its value is told."""

    name: str
    engine: str
    columns: Mapping[str, str]
    key: tuple[str, ...]
    condition: str = "1"

    def _from(self, database: str) -> str:
        final = "" if self.engine == "MergeTree" else " FINAL"
        return f"FROM {quoted(database)}.{self.name}{final} WHERE {self.condition}"

    @property
    def _org(self) -> str:
        return f"toString({ORG})" if ORG in self.columns else "''"

    @property
    def _day(self) -> str:
        time = next((each for each in DAYS if each in self.columns), None)
        return f"ifNull(toString(toDate({time})), '{NO_DAY}')" if time else f"'{NO_DAY}'"

    @property
    def _hash(self) -> str:
        return f"cityHash64(toString(tuple({', '.join(self.columns.values())})))"

    def buckets(self, database: str) -> str:
        """Return the query of the digest."""
        return (
            f"SELECT {self._org} AS o, {self._day} AS d, count(), toString(sum({self._hash})) "
            f"{self._from(database)} GROUP BY o, d"
        )

    def rows(self, database: str) -> str:
        """Return the query of the hash of each row of a bucket, by key."""
        key = ", ".join(f"toString({each})" for each in self.key)
        return (
            f"SELECT [{key}] AS k, sum({self._hash}), count() {self._from(database)} "
            f"AND {self._org} = {{org:String}} AND {self._day} = {{day:String}} GROUP BY k"
        )

    def row(self, database: str) -> str:
        """Return the query of one row, each column as text."""
        key = ", ".join(f"toString({each})" for each in self.key)
        texts = ", ".join(f"ifNull(toString({value}), 'NULL')" for value in self.columns.values())
        return f"SELECT {texts} {self._from(database)} AND [{key}] = {{key:Array(String)}}"


def tables_of(client: Client, database: str) -> list[Table]:
    """Return the tables of a version that hold something."""
    found = client.query(SQL["tables"], parameters={"database": database}).result_rows
    return [_table(client, database, str(name), str(engine)) for name, engine in found]


def _table(client: Client, database: str, name: str, engine: str) -> Table:
    rows = client.query(SQL["columns"], parameters={"database": database, "table": name}).result_rows
    columns = {column: told for column, kind, _ in rows if (told := _told(column, kind, engine))}
    key = tuple(column for column, _, in_key in rows if in_key)
    return Table(name, engine, columns, (*key, *(each for each in JOB_COLUMNS[1:] if name == EVENTS)))


def _told(column: str, kind: str, engine: str) -> str:
    """Return how a column's value is told; empty: it is not compared."""
    if kind.startswith(ROUGH):
        return ""
    if kind.startswith("AggregateFunction(groupBitmap"):
        return f"bitmapToArray({column})"
    if kind.startswith("AggregateFunction"):
        return f"finalizeAggregation({column})"
    return f"round({column}, 6)" if "Float" in kind and engine != "MergeTree" else column


def of_events(table: Table, used: str, side: str, positions: Mapping[int, int], since: int = 0) -> Table:
    """Narrow job_events to the events up to these positions, or after them; of deleted jobs only that they are.

    The rows before go from the version in use as soon as it has folded the deletion. What occurred before `since`
    (microseconds UTC) is left out: one version may have forgotten it, and the other not yet.
    """
    partitions, at = ", ".join(map(str, positions)), ", ".join(f"toInt64({each})" for each in positions.values())
    bound = f"transform(toInt32(partition), [{partitions}], [{at}], toInt64(-1))" if positions else "toInt64(-1)"
    kept = f"(event_type = 'JobDeleted' OR {_not_deleted(used)})"
    young = f" AND occurred_at >= fromUnixTimestamp64Micro(toInt64({since}))" if since else ""
    return replace(table, condition=f"position {side} {bound} AND {kept}{young}")


def of_jobs(table: Table, used: str) -> Table:
    """Leave deleted jobs out of what is told of jobs: what is left of them depends on how events were inserted."""
    about_jobs = "job_id" in table.columns and table.name != DELETED
    return replace(table, condition=_not_deleted(used)) if about_jobs else table


def _not_deleted(used: str) -> str:
    return f"({ORG}, job_id) NOT IN (SELECT {ORG}, job_id FROM {quoted(used)}.{DELETED})"  # noqa: S608


def digest_of(client: Client, database: str, tables: list[Table]) -> Digest:
    """Return the digest of these tables of a version."""
    return {
        Bucket(table.name, org_id, day): Summed(rows, digest)
        for table in tables
        for org_id, day, rows, digest in client.query(table.buckets(database)).result_rows
    }


def difference_of(client: Client, new: str, old: str, tables: list[Table]) -> tuple[Digest, Difference]:
    """Compare two databases bucket by bucket; return the digest of the new one, and where the old one differs."""
    built, used = digest_of(client, new, tables), digest_of(client, old, tables)
    buckets = sorted(each for each in built.keys() | used.keys() if built.get(each) != used.get(each))
    by_name = {table.name: table for table in tables}
    found = {
        str(each): list(_in_bucket(client, (new, old), by_name[each.table], each)) for each in buckets[:MOST_BUCKETS]
    }
    return built, Difference(found, [str(each) for each in buckets[MOST_BUCKETS:]])


def _in_bucket(client: Client, databases: tuple[str, str], table: Table, bucket: Bucket) -> Iterator[Fault]:
    values = {"org": bucket.org_id, "day": bucket.day}
    built, used = (
        {
            tuple(key): (hashed, rows)
            for key, hashed, rows in client.query(table.rows(each), parameters=values).result_rows
        }
        for each in databases
    )
    differing = sorted(key for key in built.keys() | used.keys() if built.get(key) != used.get(key))
    for key in differing[:MOST_ROWS]:
        yield from _of_row(client, databases, table, bucket, key)
    if len(differing) > MOST_ROWS:
        yield Fault(table.name, bucket.org_id, "", "rows", "the same", f"{len(differing) - MOST_ROWS} more differ")


def _of_row(
    client: Client, databases: tuple[str, str], table: Table, bucket: Bucket, key: tuple[str, ...]
) -> Iterator[Fault]:
    names = {name: value for name, value in zip(table.key, key, strict=True) if name != ORG}
    place = " ".join(filter(None, [names.pop("job_id", ""), *(f"{name}={value}" for name, value in names.items())]))
    built, used = (_rows(client, table.row(each), key) for each in databases)
    if len(built) != 1 or len(used) != 1:
        yield Fault(table.name, bucket.org_id, place, "row", str(len(built)), str(len(used)))
        return
    for name, expected, found in zip(table.columns, built[0], used[0], strict=True):
        if expected != found:
            yield Fault(table.name, bucket.org_id, place, name, shown(expected), shown(found))


def _rows(client: Client, query: str, key: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in client.query(query, parameters={"key": list(key)}).result_rows]
