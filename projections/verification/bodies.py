"""Checks the bodies that events name, in the blob store: pages that nodes fetched, what was read of them, items, lines.

A body that is gone, or not as large as its event says, is a fault. Whether it holds what was written is known only
where it is read from beginning to end: its key carries a digest.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from projections.postgres.rows import JobKey
from projections.verification.expected import is_gone
from projections.verification.faults import Fault
from projections.verification.log import OpenRecords, PartitionLog, every_event
from schemas.codec import Decoder
from schemas.events import ItemsRecorded, JobDeleted, JobExpired, JobExtracted, JobLogged, NodeFinished
from schemas.recorded import Recorded
from services.runtime.blob import BlobStore, is_as_written
from services.runtime.errors import BlobMissing

BLOBS = "blobs"  # their place in faults
AT_ONCE = 16
LOOKED_UP_AT_ONCE = 1_000
RESULT = "result"  # named as a node is, where a job's result is none of a node that was reported
ITEMS, LINES = "items", "lines"  # named so too: chunks of items, and lines that a job said


class Body(Struct, frozen=True):
    """What the store has."""

    size: int
    changed: bool = False  # it is not what was written


class Named(Struct, frozen=True):
    """What an event says of a body."""

    job: JobKey
    node: str
    key: str
    size: int


Look = Callable[[Sequence[str]], Mapping[str, Body]]  # by key; bodies that are missing are left out


def sizes_in(blobs: BlobStore) -> Look:
    """Return what asks how large bodies are, and reads none."""

    async def size(key: str) -> Body:
        return Body(await blobs.size(key))

    return lambda keys: asyncio.run(_looked_up(size, keys))


def contents_in(blobs: BlobStore) -> Look:
    """Return what reads bodies from beginning to end."""

    async def read(key: str) -> Body:
        data = await blobs.get(key)
        return Body(len(data), changed=not is_as_written(key, data))

    return lambda keys: asyncio.run(_looked_up(read, keys))


async def _looked_up(look_up: Callable[[str], Awaitable[Body]], keys: Sequence[str]) -> dict[str, Body]:
    places = asyncio.Semaphore(AT_ONCE)

    async def one(key: str) -> tuple[str, Body | None]:
        async with places:
            try:
                return key, await look_up(key)
            except (BlobMissing, ValueError):  # ValueError: no key at all
                return key, None

    return {key: body for key, body in await asyncio.gather(*map(one, keys)) if body}


class Bodies:
    """Checks one partition of the log after the other; `missing` comes last."""

    def __init__(self, look: Look) -> None:
        self.looked_up = 0
        self._look = look
        self._missing: dict[JobKey, list[Fault]] = {}

    def check(self, log: PartitionLog) -> Iterator[Fault]:
        """Yield bodies that are not what was written; those that are gone come with `missing`."""
        named = (each for events in log.jobs.values() if not is_gone(events) for each in bodies_of(events))
        while some := list(islice(named, LOOKED_UP_AT_ONCE)):
            found = self._look([each.key for each in some])
            self.looked_up += len(found)
            for each in some:
                yield from self._compare(each, found.get(each.key))

    def missing(self, open_records: OpenRecords, decoder: Decoder, partitions: range) -> Iterator[Fault]:
        """Yield bodies that are gone although their jobs were not deleted or expired since."""
        for recorded in every_event(open_records, decoder, partitions) if self._missing else ():
            if isinstance(event := recorded.event, JobDeleted | JobExpired):
                self._missing.pop((event.org_id, event.job_id), None)
        for faults in self._missing.values():
            yield from faults

    def _compare(self, named: Named, body: Body | None) -> Iterator[Fault]:
        org_id, job_id = named.job
        place = f"{job_id} node={named.node} key={named.key}"
        if body is None:
            self._missing.setdefault(named.job, []).append(Fault(BLOBS, org_id, place, "body", "one", "none"))
        elif body.size != named.size:
            yield Fault(BLOBS, org_id, place, "bytes", str(named.size), str(body.size))
        elif body.changed:
            yield Fault(BLOBS, org_id, place, "body", "as it was written", "another of as many bytes")


def bodies_of(events: Sequence[Recorded]) -> Iterator[Named]:
    """Yield the bodies that the events of a job name, each once: of its nodes, its result, its items and its lines."""
    seen: set[str] = set()
    for recorded in events:
        match recorded.event:
            case NodeFinished(body_ref=key, body_bytes=size) as event if key and key not in seen:
                seen.add(key)
                yield Named((event.org_id, event.job_id), event.node_id, key, size)
            case JobExtracted(result_ref=key, result_bytes=size) as event if key and key not in seen:
                seen.add(key)
                yield Named((event.org_id, event.job_id), RESULT, key, size)
            case ItemsRecorded(items_ref=key) as event:
                size = event.rows_bytes + event.outcomes_bytes + event.stats_bytes
                yield Named((event.org_id, event.job_id), ITEMS, key, size)
            case JobLogged(lines_ref=key, lines_bytes=size) as event if key:
                yield Named((event.org_id, event.job_id), LINES, key, size)
            case _:
                pass
