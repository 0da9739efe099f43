"""Says where two versions of the read model differ: which org and day of which table, then which job and field."""

from collections.abc import Collection, Iterator
from typing import Any

from msgspec import Struct
from psycopg import Connection, sql

from projections.postgres.rows import JobKey
from projections.rebuild.digest import SQL, Bucket, Digest, Shape, Shapes, digest_of
from projections.verification.compare import shown
from projections.verification.faults import Fault

MOST_BUCKETS, MOST_ROWS = 50, 50  # that are looked into, and of each of them; the others are counted


class Side(Struct, frozen=True):
    """A version, through a session whose snapshot is of the positions that are compared."""

    connection: Connection[Any]
    schema: str


class Difference(Struct, frozen=True):
    """Where the version in use says otherwise than the new one; false: nowhere."""

    buckets: dict[str, list[Fault]] = {}  # by table, org and day; `expected` is of the new version: the log says so
    unread: list[str] = []  # buckets that differ too, and were not looked into

    def __bool__(self) -> bool:
        return bool(self.buckets or self.unread)

    @property
    def faults(self) -> list[Fault]:
        """Every fault that was looked up."""
        return [fault for faults in self.buckets.values() for fault in faults]

    def without(self, jobs: Collection[JobKey]) -> "Difference":
        """Leave out what is about these jobs."""
        rest = {name: [each for each in faults if job_of(each) not in jobs] for name, faults in self.buckets.items()}
        return Difference({name: faults for name, faults in rest.items() if faults}, self.unread)


def job_of(fault: Fault) -> JobKey:
    """Return the job that a fault is about; its id is empty where it is about none."""
    return fault.org_id, fault.job_id.split(" ")[0]


def difference_of(new: Side, old: Side, shapes: Shapes, digests: tuple[Digest, Digest]) -> Difference:
    """Compare bucket by bucket; what was deleted from the old version meanwhile is no difference."""
    built, used = digests
    buckets = sorted(each for each in built.keys() | used.keys() if built.get(each) != used.get(each))
    looked_into = buckets[:MOST_BUCKETS]
    found = {str(each): list(_in_bucket(new, old, shapes[each.table], each)) for each in looked_into}
    return Difference(found, [str(each) for each in buckets[MOST_BUCKETS:]])


def _in_bucket(new: Side, old: Side, shape: Shape, bucket: Bucket) -> Iterator[Fault]:
    built, used = _hashes(new, shape, bucket), _hashes(old, shape, bucket)
    differing = sorted(key for key in built.keys() | used.keys() if built.get(key) != used.get(key))
    for key in differing[:MOST_ROWS]:
        yield from _of_row(new, old, shape, bucket, key)
    if len(differing) > MOST_ROWS:
        yield Fault(bucket.table, bucket.org_id, "", "rows", "the same", f"{len(differing) - MOST_ROWS} more differ")


def _hashes(side: Side, shape: Shape, bucket: Bucket) -> dict[tuple[str, ...], int]:
    values = {"org": bucket.org_id, "day": bucket.day}
    rows = side.connection.execute(shape.statement("rows", side.schema), values).fetchall()
    return {tuple(key): hashed for key, hashed in rows}


def _of_row(new: Side, old: Side, shape: Shape, bucket: Bucket, key: tuple[str, ...]) -> Iterator[Fault]:
    names = dict(zip(shape.key, key, strict=True))
    job_id = names.pop("job_id", "")
    names.pop("org_id", "")
    place = " ".join(filter(None, [job_id, *(f"{name}={value}" for name, value in names.items())]))
    built, used = (_row(side, shape, bucket, key) for side in (new, old))
    if built is None or used is None:
        expected, found = ("one" if row else "none" for row in (built, used))
        yield Fault(shape.table, bucket.org_id, place, "row", expected, found)
        return
    for name in shape.columns:
        if built[name] != used[name]:
            yield Fault(shape.table, bucket.org_id, place, name, shown(built[name]), shown(used[name]))


def _row(side: Side, shape: Shape, bucket: Bucket, key: tuple[str, ...]) -> dict[str, Any] | None:
    values = {"key": list(key), "org": bucket.org_id}
    found = side.connection.execute(shape.statement("row", side.schema), values).fetchone()
    return dict(found[0]) if found else None


def deleted_meanwhile(connection: Connection[Any], schema: str, faults: list[Fault]) -> set[JobKey]:
    """Return those jobs of these faults that the version in use has deleted by now."""
    deleted: set[JobKey] = set()
    query = sql.SQL(SQL["deleted"]).format(schema=sql.Identifier(schema))
    jobs = set(map(job_of, faults))
    for org_id in {org for org, _ in jobs}:
        names = [job for org, job in jobs if org == org_id]
        deleted |= {(org_id, row[0]) for row in connection.execute(query, (org_id, names)).fetchall()}
    return deleted


def compare_versions(new: Side, old: Side, shapes: Shapes) -> tuple[Digest, Difference]:
    """Return the digest of the new version, and where the old one differs."""
    digests = digest_of(new.connection, new.schema, shapes), digest_of(old.connection, old.schema, shapes)
    return digests[0], difference_of(new, old, shapes, digests)
