"""Bodies that were lost or edited in the blob store are named with their job and node, unless their job is gone."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from projections.verification.bodies import Bodies, Look, bodies_of, contents_in, sizes_in
from schemas.events import JobExtracted, NodeFinished
from services.runtime.blob import BlobStore, body_key
from tests.event_streams import Play, Stream, records_of
from tests.fakes.records import InMemoryRecords
from tests.spider_streams import run_spider
from tests.unit.projections.test_log_check import check, decoder

PAGE, READ = b"<html>lamp</html>", b'{"normalized": {"name": "Lamp"}}'
Looking = Callable[[BlobStore], Look]
BOTH = pytest.mark.parametrize("looking", [sizes_in, contents_in])


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    """A store in a directory."""
    return BlobStore(f"file://{tmp_path}")


async def worked(stream: Stream, blobs: BlobStore) -> tuple[Play, str, str]:
    """Let a job fetch a page and read it; return it with the keys of both bodies."""
    job = stream.submit()
    stream.dispatch(job)
    stream.claim(job)
    keys = []
    for node, name, data in (("fetch", "page-0", PAGE), ("read", "extraction-1.json", READ)):
        keys.append(key := body_key(job.org_id, job.job_id, job.attempt, name, data))
        await blobs.put(key, data)
        stream.of(job, NodeFinished(step=job.step, node_id=node, body_ref=key, body_bytes=len(data)))
        job.step += 1
    page, read = keys
    stream.of(job, JobExtracted(result_ref=page, result_bytes=len(PAGE), extraction_ref=read, items=1))
    return job, page, read


def faults(stream: Stream, blobs: BlobStore, looking: Looking, upto: int | None = None) -> list[tuple[str, str]]:
    """Return what is named, and in which words."""
    bodies = Bodies(looking(blobs))
    found = [*bodies.check(check(stream, position=upto))]
    found += bodies.missing(lambda _: InMemoryRecords(records_of(stream)), decoder(), range(1))
    assert {fault.place for fault in found} <= {"blobs"}
    return [(fault.job_id, f"{fault.field}: {fault.expected}, {fault.found}") for fault in found]


@BOTH
async def test_bodies_that_are_as_they_were_written_are_no_fault(blobs: BlobStore, looking: Looking) -> None:
    stream = Stream().open()
    await worked(stream, blobs)
    assert await _faults(stream, blobs, looking) == []


@BOTH
async def test_a_body_that_is_gone_is_named_with_its_job_and_node(blobs: BlobStore, looking: Looking) -> None:
    stream = Stream().open()
    job, page, read = await worked(stream, blobs)
    other, *_ = await worked(stream, blobs)
    for key in (page, read):
        await blobs.delete(key)
    assert other.job_id != job.job_id
    assert await _faults(stream, blobs, looking) == [
        (f"{job.job_id} node=fetch key={page}", "body: one, none"),
        (f"{job.job_id} node=read key={read}", "body: one, none"),
    ]


@BOTH
async def test_a_body_of_another_size_is_named(blobs: BlobStore, looking: Looking) -> None:
    stream = Stream().open()
    job, page, _ = await worked(stream, blobs)
    await blobs.put(page, PAGE + b" ")
    assert await _faults(stream, blobs, looking) == [(f"{job.job_id} node=fetch key={page}", "bytes: 17, 18")]


async def test_a_body_of_the_same_size_is_named_where_bodies_are_read(blobs: BlobStore) -> None:
    stream = Stream().open()
    job, _, read = await worked(stream, blobs)
    await blobs.put(read, READ.replace(b"Lamp", b"Sofa"))
    assert await _faults(stream, blobs, sizes_in) == []
    said = (f"{job.job_id} node=read key={read}", "body: as it was written, another of as many bytes")
    assert await _faults(stream, blobs, contents_in) == [said]


@BOTH
async def test_a_result_that_no_node_left_is_named_as_one(blobs: BlobStore, looking: Looking) -> None:
    stream = Stream().open()
    job = stream.submit()
    stream.dispatch(job)
    stream.claim(job)
    stream.of(job, JobExtracted(result_ref="of/an/older/release", result_bytes=3))
    key = "node=result key=of/an/older/release"
    assert await _faults(stream, blobs, looking) == [(f"{job.job_id} {key}", "body: one, none")]
    await blobs.put("of/an/older/release", b"abc")
    assert await _faults(stream, blobs, looking) == []


@BOTH
async def test_items_and_lines_that_are_gone_are_named(blobs: BlobStore, looking: Looking) -> None:
    stream = Stream().open()
    job = run_spider(stream)
    named = [(each.node, each.key, each.size) for each in bodies_of(stream.events)]
    assert [node for node, *_ in named] == ["lines", "items", "items"]
    for _, key, size in named:
        await blobs.put(key, bytes(size))
    assert await _faults(stream, blobs, looking) == []
    for _, key, _ in named[:2]:
        await blobs.delete(key)
    said = [f"{job.job_id} node={node} key={key}" for node, key, _ in named[:2]]
    assert await _faults(stream, blobs, looking) == [(each, "body: one, none") for each in said]


@pytest.mark.parametrize("gone", ["delete", "expire"])
@pytest.mark.parametrize("read_behind", [False, True])
async def test_bodies_of_a_job_that_is_gone_are_not_missed(blobs: BlobStore, gone: str, read_behind: bool) -> None:
    """Also where that came behind the position up to which is verified."""
    stream = Stream().open()
    job, page, _ = await worked(stream, blobs)
    upto = len(stream.events)
    stream.complete_if_open(job)
    job.status = "completed"
    getattr(stream, gone)(job)
    await blobs.delete(page)
    assert await _faults(stream, blobs, sizes_in, None if read_behind else upto) == []


async def _faults(stream: Stream, blobs: BlobStore, looking: Looking, upto: int | None = None) -> list[tuple[str, str]]:
    """Do as `faults`, which runs a loop of its own, in a thread."""
    return await asyncio.to_thread(faults, stream, blobs, looking, upto)
