"""What somebody else wrote to the topic of events: every reader stops there, says where, and folds nothing of it.

They are not dead-lettered. The log is what everything else is made of: a reader that went past what it cannot read
could not tell a stranger's record from a damaged event, and two readers might decide differently. What is dropped
without a stop is only what the rule of positions covers: an event that was folded already.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

import confluent_kafka
import msgspec
import psycopg
import pytest

from api.compose import main as serve
from projections.__main__ import main as project
from projections.clickhouse.__main__ import main as project_clickhouse
from schemas.events import Recorded
from services.decider.__main__ import main as decide
from services.runtime import topics
from services.runtime.errors import LogGap
from services.runtime.kafka import client_config
from services.runtime.reader import LogReader, Record
from services.runtime.registry import decoder, encoder
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.junk.consumers import CONSUMERS, running
from tests.integration.junk.records import FULL_BYTES, PARTITION, Planted, plant, registration, submission

pytestmark = pytest.mark.kafka
SECONDS = 60.0
READERS: dict[str, Callable[[Settings], Coroutine[Any, Any, None]]] = {
    "decider": decide,
    "projection into Postgres": project,
    "projection into ClickHouse": project_clickhouse,
    "tail of the API": serve,
}


@dataclass(frozen=True)
class Log:
    """A partition of events as the decider wrote it."""

    settings: Settings
    records: list[Record]

    @property
    def next(self) -> int:
        """Position of the next event."""
        return len(self.records) + 1

    def of_another_partition(self) -> bytes:
        """Return an event that would be next, had another partition it."""
        last = decoder(self.settings).decode(self.records[-1].value)
        assert last is not None
        header = msgspec.structs.replace(last.header, partition=PARTITION - 1, position=self.next)
        return encoder(self.settings).encode(Recorded(header, last.event))

    def write(
        self,
        value: bytes,
        position: int | None,
    ) -> None:
        """Write a record that says this position."""
        headers: dict[str, str | bytes | None] = {} if position is None else {"ledger-position": str(position)}
        producer = confluent_kafka.Producer(client_config(self.settings, "somebody") | {"message.max.bytes": 2_000_000})
        producer.produce(topics.events(self.settings), value, b"org-1", PARTITION, headers=headers)
        assert producer.flush(30) == 0


@pytest.fixture
async def log(ledger: Settings) -> Log:
    """A log with a registration and a job."""
    settings = replace(ledger, host="127.0.0.1", port=0)
    commands = [Planted(registration()), Planted(submission(1))]
    await asyncio.to_thread(plant, settings, topics.commands(settings), PARTITION, commands)
    decider = CONSUMERS[0]
    async with decider.watching(settings) as used, running(decide, settings):
        await eventually(lambda: "job-1" in used(), SECONDS)
    return Log(settings, await asyncio.to_thread(everything, settings))


@pytest.mark.parametrize("junk", ["empty", "junk", "unknown schema", "oversized", "of another partition", "a gap"])
async def test_every_reader_stops_at_what_is_no_event_of_its_partition(log: Log, junk: str) -> None:
    match junk:
        case "empty":
            log.write(b"", None)
        case "junk":
            log.write(b"\xff\x00\xfe", None)
        case "unknown schema":
            log.write(b"\x00\x00\x00\x00\x63" + log.records[-1].value[5:], log.next)
        case "oversized":
            log.write(b"x" * FULL_BYTES, None)
        case "of another partition":
            log.write(log.of_another_partition(), log.next)
        case "a gap":
            log.write(log.records[-1].value, log.next + 1)
    readers = dict(READERS)
    if not log.settings.clickhouse or junk == "of another partition":  # it decodes nothing; `verify` finds that one
        del readers["projection into ClickHouse"]
    runs = (asyncio.wait_for(main(log.settings), SECONDS) for main in readers.values())
    ends = await asyncio.gather(*runs, return_exceptions=True)
    for reader, end in zip(readers, ends, strict=True):
        gap = gap_in(end) if end else None
        assert gap is not None, (reader, end)
        assert f"topic {topics.events(log.settings)}, partition {PARTITION}, offset " in str(gap), reader


async def test_an_event_that_comes_again_is_dropped_and_the_partition_moves_on(log: Log) -> None:
    settings, commands = log.settings, topics.commands(log.settings)
    async with running(decide, settings), running(project, settings), running(serve, settings):
        for number in (2, 3):
            await asyncio.to_thread(plant, settings, commands, PARTITION, [Planted(submission(number))])
            await eventually(lambda number=number: f"job-{number}" in projected(settings), SECONDS)  # type: ignore[misc]
            log.write(log.records[0].value, 1)
    with pytest.raises(ExceptionGroup) as stopped:  # a decider takes no log that another has written to
        await asyncio.wait_for(decide(settings), SECONDS)
    assert gap_in(stopped.value), stopped.value


def gap_in(error: BaseException) -> LogGap | None:
    if isinstance(error, LogGap):
        return error
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return next((gap for each in inner if (gap := gap_in(each))), None)


def everything(settings: Settings) -> list[Record]:
    reader = LogReader(settings, topics.events(settings), {PARTITION: 0})
    records: list[Record] = []
    while not reader.at_end():
        records += [record for record in reader.poll(100, 0.1) if record.value]  # a fence is empty
    reader.close()
    return records


def projected(settings: Settings) -> set[str]:
    with psycopg.connect(settings.postgres) as connection:
        rows = connection.execute("SELECT job_id FROM ledger_v1.jobs").fetchall()
    return {job_id for (job_id,) in rows}
