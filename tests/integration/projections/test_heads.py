"""Signed heads of a real log: they go on where they stood, and name what was taken from the log's end."""

import asyncio
import base64
import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest
from confluent_kafka.admin import AdminClient

from projections.heads.sheet import Sheet, read_sheet, sheet_key
from projections.heads.signing import Signer
from projections.heads.sink import HeadsSink
from projections.verify_chain import verify_chain
from services.runtime import topics
from services.runtime.admin import ensure_topics
from services.runtime.blob import BlobStore
from services.runtime.producer import Producer
from services.runtime.raw_log import RawLog
from services.runtime.registry import decoder, encoder
from services.runtime.settings import Settings
from services.runtime.strangers import by_checksum, noting
from tests.event_streams import Stream, records_of
from tests.eventually import eventually

SEED = base64.b64encode(b"s" * 32).decode()
PUBLIC_KEY = Signer(SEED).public_key


@pytest.fixture
def signing(ledger: Settings) -> Settings:
    """A ledger whose heads are signed; all its events are on partition 0."""
    return replace(ledger, signing_key=SEED)


def write(settings: Settings, stream: Stream, events: slice) -> None:
    """Write some events of a stream as the decider would."""
    with closing(Producer(settings, "test")) as producer:
        producer.start()
        for record in records_of(stream)[events]:
            producer.produce(topics.events(settings), record.partition, record.key, record.value, record.headers)
        producer.flush()


def sign(settings: Settings) -> Sheet:
    """Follow the log from the last sheet to its end, and sign."""
    sink = HeadsSink(settings)
    with closing(
        RawLog(
            settings,
            by_checksum(decoder(settings).claim),
            noting("heads"),
            sink.checkpoints(range(settings.partitions)),
        )
    ) as log:
        while not log.at_end():
            sink.write(log.poll(1000, 0.5))
    sink.close()
    sheet = asyncio.run(read_sheet(BlobStore(settings.blobs), settings.topic_prefix, 0))
    assert sheet
    return sheet


def stream_of(settings: Settings) -> Stream:
    seed = random.Random(5)
    return Stream(0, encoder=encoder(settings)).open().play(_numbers(seed, 60))


def _numbers(seed: random.Random, length: int) -> Iterator[int]:
    return (seed.randrange(16 * 40) for _ in range(length))


def test_heads_go_on_where_they_stood_and_the_chain_holds(signing: Settings) -> None:
    stream = stream_of(signing)
    half = len(stream.events) // 2
    write(signing, stream, slice(half))
    first = sign(signing)
    write(signing, stream, slice(half, None))
    second = sign(signing)
    assert (first.checkpoint.position, second.checkpoint.position) == (half, len(stream.events))
    newest = {recorded.event.org_id: recorded.header.position for recorded in stream.events}
    assert {org_id: head.position for org_id, head in second.heads.items()} == newest
    report = verify_chain(signing, PUBLIC_KEY)
    assert (report.faults, report.heads) == ([], len(newest))


def test_a_log_cut_at_its_end_is_named_by_the_sheet_and_by_a_kept_head(signing: Settings) -> None:
    stream = stream_of(signing)
    write(signing, stream, slice(None))
    heads = sign(signing).heads
    _begin_anew(signing)
    write(signing, stream, slice(-2))
    expected = {(head.org_id, f"partition 0 position {head.position}") for head in heads.values()}
    lost = {(stream.events[number].event.org_id) for number in (-1, -2)}
    expected = {(org_id, place) for org_id, place in expected if org_id in lost}
    for kept in ((), tuple(heads.values())):
        if kept:
            asyncio.run(BlobStore(signing.blobs).delete(sheet_key(signing.topic_prefix, 0)))
        faults = verify_chain(signing, PUBLIC_KEY, kept).faults
        assert {(fault.org_id, fault.job_id) for fault in faults} == expected
        assert {fault.field for fault in faults} == {"last event"}


def test_a_sheet_that_somebody_changed_is_named_and_made_anew(signing: Settings) -> None:
    stream = stream_of(signing)
    write(signing, stream, slice(None))
    good = sign(signing)
    blobs = BlobStore(signing.blobs)
    key = sheet_key(signing.topic_prefix, 0)
    forged = asyncio.run(blobs.get(key)).replace(b'"position": %d' % good.checkpoint.position, b'"position": 1')
    for data, field in ((forged, "signature of its head"), (b"{}", "sheet of signed heads")):
        asyncio.run(blobs.put(key, data))
        assert {fault.field for fault in verify_chain(signing, PUBLIC_KEY).faults} == {field}
        assert sign(signing).heads.keys() == good.heads.keys()
        assert verify_chain(signing, PUBLIC_KEY).ok


def test_heads_of_another_signer_are_not_taken(signing: Settings) -> None:
    write(signing, stream_of(signing), slice(None))
    sign(signing)
    other = Signer(base64.b64encode(b"t" * 32).decode()).public_key
    assert {fault.field for fault in verify_chain(signing, other).faults} == {"signature of its head"}


def _begin_anew(settings: Settings) -> None:
    """Delete the topic of events and make it again: the same ledger, and nothing in it."""
    admin = AdminClient({"bootstrap.servers": settings.kafka})
    topic = topics.events(settings)
    for done in admin.delete_topics([topic]).values():
        done.result(30)
    asyncio.run(eventually(lambda: topic not in admin.list_topics(timeout=10).topics, 30))
    ensure_topics(settings)
