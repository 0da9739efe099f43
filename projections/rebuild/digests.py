"""The digests of the version of the read model in Postgres that is in use, of one instant, for `jobledger verify`."""

from msgspec import Struct

from projections.rebuild.claim import snapshot
from projections.rebuild.digest import Bucket, digest_of, shapes_of, whole
from projections.rebuild.versions import Versions


class Line(Struct, frozen=True):
    """The digest of a table's rows of one org and day."""

    bucket: Bucket
    rows: int
    digest: str


class Digests(Struct, frozen=True):
    """What a version holds, and at which positions."""

    version: str
    positions: dict[int, int]
    digest: str
    buckets: list[Line]


def digests_in_use(dsn: str) -> Digests:
    """Return the digests of the version in use; a rebuild up to the same positions (`--until`) has the same."""
    with snapshot(dsn) as session:
        versions = Versions(session)
        active = versions.active()
        positions = versions.positions(active)
        digest = digest_of(session, active, shapes_of(session, active))
    lines = [Line(bucket, summed.rows, summed.digest) for bucket, summed in sorted(digest.items())]
    return Digests(active, positions, whole(digest, positions.items()), lines)
