"""A log that a released version wrote, under today's code; and behind it what a later version wrote."""

import asyncio
import time
from contextlib import closing

import psycopg
import pytest

from projections.__main__ import main as project
from projections.clickhouse.__main__ import main as project_clickhouse
from projections.migrate import SCHEMA
from projections.verification.compare import TABLES, compare, expected_rows
from projections.verification.log import PartitionLog
from projections.verification.snapshot import snapshot_of
from schemas.client.judging import Received
from schemas.client.reader import follow
from schemas.events import JobSubmitted, OrgLimitChanged
from schemas.recorded import Recorded
from schemas.values import Vocabulary
from services.ledger.status import Status
from services.ledger.wire import COMMANDS
from services.runtime import topics
from services.runtime.clickhouse import connect
from services.runtime.errors import LogGap
from services.runtime.producer import Producer
from services.runtime.settings import Settings
from tests.event_streams import Stream
from tests.eventually import eventually
from tests.integration.decider.partitions import ORG, opened, registered, run_to_completion, submitted
from tests.integration.evolution.logs import later_events, old_stream, write
from tests.integration.junk.consumers import running

pytestmark = pytest.mark.kafka
SECONDS = 90.0  # of a machine under load


def folded(settings: Settings, partition: int) -> int:
    with psycopg.connect(settings.postgres) as connection:
        query = f"SELECT position FROM {SCHEMA}.checkpoints WHERE partition = {partition}"
        row = connection.execute(query.encode()).fetchone()
    return int(row[0]) if row else 0


def inserted(settings: Settings, partition: int) -> int:
    with closing(connect(settings.clickhouse)) as client:
        query = f"SELECT max(position) FROM job_events WHERE partition = {partition}"
        return int(client.query(query).result_rows[0][0])


async def project_up_to(settings: Settings, partition: int, position: int) -> None:
    """Let both projections read up to a position."""
    async with running(project, settings) as postgres:
        await eventually(lambda: folded(settings, partition) == position or postgres.done(), SECONDS)
    if settings.clickhouse:
        async with running(project_clickhouse, settings) as clickhouse:
            await eventually(
                lambda: clickhouse.done() or (ready(settings) and inserted(settings, partition) == position), SECONDS
            )
        assert inserted(settings, partition) == position
    assert folded(settings, partition) == position


def ready(settings: Settings) -> bool:
    """Whether ClickHouse has its tables."""
    with closing(connect(settings.clickhouse)) as client:
        return bool(client.query("EXISTS TABLE job_events").result_rows[0][0])


def differences(settings: Settings, partition: int, events: list[Recorded]) -> list[str]:
    """Return what of the read model in Postgres is not what these events say."""
    log = PartitionLog(partition)
    for recorded in events:
        if recorded.event.job_id:
            log.jobs.setdefault((recorded.event.org_id, recorded.event.job_id), []).append(recorded)
    with snapshot_of(settings.postgres) as snapshot:
        return [
            str(fault)
            for table in TABLES
            for fault in compare(table, expected_rows(log, table), snapshot.rows(table, partition))
        ]


def consumed(settings: Settings, partition: int) -> tuple[list[Received], int]:
    """Return what a consumer gets of the log, and how many events of types that it does not know there were."""
    found: list[Received] = []
    deadline = time.monotonic() + SECONDS
    kafka = {"bootstrap.servers": settings.kafka}
    with follow(kafka, topics.events(settings), settings.registry, partitions=[partition]) as reader:
        while not reader.at_end():
            assert time.monotonic() < deadline
            found += reader.poll(1000, 0.2).events
        assert reader.counts.strangers == 0
        return found, reader.counts.unknown


async def test_a_released_log_is_restored_projected_consumed_and_written_on_and_so_is_what_a_later_version_wrote(
    ledger: Settings,
) -> None:
    stream = await asyncio.to_thread(old_stream, ledger)
    partition, old = stream.partition, len(stream.events)
    await asyncio.to_thread(write, ledger, partition, stream.events, stream.raws)
    await asyncio.to_thread(_decide_on, ledger, stream)
    found, _ = await asyncio.to_thread(consumed, ledger, partition)
    last = found[-1].header.position
    assert [each.header.position for each in found] == [*range(1, last + 1)]
    assert last > old + 5
    events, raws = await asyncio.to_thread(later_events, ledger, partition, last)
    await asyncio.to_thread(write, ledger, partition, events, raws)
    await project_up_to(ledger, partition, last + 2)
    found, unknown = await asyncio.to_thread(consumed, ledger, partition)
    limits = [each.event for each in found if isinstance(each.event, OrgLimitChanged)]
    assert [(each.max_in_flight, each.idempotency_digest) for each in limits] == [(50, b"")]
    assert differences(ledger, partition, [each.recorded for each in found]) == []
    newest = found[-1].event
    assert isinstance(newest, JobSubmitted)
    assert (newest.vocabulary, newest.domain, unknown) == (Vocabulary.UNKNOWN, "d.example", 1)
    with pytest.raises(LogGap, match="a newer decider wrote it; upgrade"), opened(ledger):
        pass


def _decide_on(settings: Settings, stream: Stream) -> None:
    """Restore the old log, and run a new job through it."""
    with closing(Producer(settings, "test")) as producer:  # what the old log was decided from
        producer.start()
        for _ in range(stream.cause + 1):
            producer.produce(topics.commands(settings), stream.partition, ORG, COMMANDS.encode(registered()))
        producer.flush()
    with opened(settings) as decider:
        states = {job.job_id: decider.status(job.job_id) for job in stream.jobs}
        assert states == {job.job_id: Status(job.status) for job in stream.jobs}
        decider.send(submitted("new-job"), *run_to_completion("new-job"))
        decider.until(lambda: decider.status("new-job") is Status.COMPLETED)
