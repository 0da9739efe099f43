"""What somebody else wrote to the topic of events: every reader goes past it, one parks it, nothing of it is folded.

tests/unit/runtime/test_strangers.py puts every kind at every place before both kinds of log. Here it lies between real
events and behind them, before every process and tool that reads the log.
"""

import asyncio
import base64
from collections import Counter
from contextlib import AsyncExitStack, closing
from dataclasses import replace

import aiohttp
import psycopg
import pytest
from typer.testing import CliRunner

from api.compose import main as serve
from api.compose import serving
from projections.__main__ import main as project
from projections.clickhouse.__main__ import main as project_clickhouse
from projections.heads.__main__ import main as sign
from projections.heads.sheet import read_sheet
from projections.heads.signing import Signer
from projections.lag import head_positions
from projections.verify import verify
from projections.verify_chain import verify_chain
from services.cli import tail
from services.decider.__main__ import main as decide
from services.runtime import topics
from services.runtime.blob import BlobStore
from services.runtime.clickhouse import connect
from services.runtime.ends import committed_end
from services.runtime.errors import LogGap, RecordRefused
from services.runtime.event_lookup import EventLookup
from services.runtime.reader import LogReader, Record
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.junk.consumers import CONSUMERS, Main, running
from tests.integration.junk.log import Log
from tests.integration.junk.records import (
    PARTITION,
    Letters,
    Planted,
    limit_records,
    plant,
    registration,
    said_of,
    submission,
    to_be_said,
)

pytestmark = pytest.mark.kafka
SECONDS = 90.0
SIGNING_KEY = base64.b64encode(b"j" * 32).decode()
NOTHING, EVERYTHING = 1, 1_048_588  # bytes of the largest record that a topic takes


async def decided(settings: Settings, *numbers: int) -> None:
    """Let a decider record the submission of these jobs, the org's registration before the first."""
    commands = [Planted(submission(number)) for number in numbers]
    commands = [Planted(registration()), *commands] if 1 in numbers else commands
    async with CONSUMERS[0].watching(settings) as used, running(decide, settings) as process:
        await asyncio.to_thread(plant, settings, topics.commands(settings), PARTITION, commands)
        await eventually(lambda: {f"job-{each}" for each in numbers} <= used() or process.done(), SECONDS)
        assert not process.done(), process


@pytest.fixture
async def log(ledger: Settings) -> Log:
    """A log with a registration and a job."""
    settings = replace(ledger, host="127.0.0.1", port=0, signing_key=SIGNING_KEY)
    await decided(settings, 1)
    return Log(settings, await asyncio.to_thread(everything, settings))


def mains_of(settings: Settings) -> dict[str, Main]:
    """Return the processes that follow the log into something."""
    mains: dict[str, Main] = {"postgres": project, "heads": sign}
    return mains | ({"clickhouse": project_clickhouse} if settings.clickhouse else {})


async def test_every_reader_goes_past_what_is_no_event_of_ours_and_one_parks_it(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, letters = log.settings, Letters(log.settings)
    junk = await asyncio.to_thread(log.write_junk)
    await decided(settings, 2)  # a decider that starts, with junk behind its last event
    records = await asyncio.to_thread(everything, settings)
    behind = Log(settings, [record for record in records if record.offset not in junk])
    junk |= await asyncio.to_thread(behind.write_junk)
    last = behind.next - 1
    heads = await asyncio.to_thread(heads_of, settings)
    assert heads[PARTITION] == last, "junk at the end does not hide where the log ends"
    async with AsyncExitStack() as stack:
        tasks = [await stack.enter_async_context(running(main, settings)) for main in mains_of(settings).values()]
        api = await stack.enter_async_context(serving(settings))
        await eventually(lambda: folded(settings) == (last, max(junk) + 1) or any(t.done() for t in tasks), SECONDS)
        await eventually(lambda: letters_are(letters, len(junk)), SECONDS)
        await eventually(lambda: tail_is_at_the_end(api.port), SECONDS)
        await eventually(lambda: signed_up_to(settings, last), SECONDS)
        if settings.clickhouse:
            await eventually(lambda: inserted(settings) == last, SECONDS)
        assert not any(task.done() for task in [*tasks, api.tasks])
    letters.close()
    topic = topics.events(settings)
    assert [said_of(letter) for letter in letters.all] == [
        to_be_said(topic, PARTITION, offset, planted) for offset, planted in sorted(junk.items())
    ]
    report = await asyncio.to_thread(verify, settings)
    assert (report.faults, report.strangers) == ([], len(junk))
    chain = await asyncio.to_thread(verify_chain, settings, Signer(SIGNING_KEY).public_key)
    assert (chain.faults, chain.strangers) == ([], len(junk))
    with closing(EventLookup(settings, decoder(settings))) as lookup:
        positions = range(1, last + 1)
        assert [entry.position for entry in await lookup.events(PARTITION, positions)] == [*positions]
    await asyncio.to_thread(_check_tail, settings, last, len(junk), monkeypatch)


def _check_tail(settings: Settings, last: int, junk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.localstack.attach.attached_settings", lambda _environ: settings)
    shown = CliRunner().invoke(tail.app, ["--from-start", "--json"])
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.count('"event_id"') >= last
    assert shown.stderr.count("left out, no event of ours") == junk


async def test_what_was_parked_is_not_parked_again_by_a_projection_that_starts(log: Log) -> None:
    settings, letters = log.settings, Letters(log.settings)
    first = log.write(b"junk", [])
    async with running(project, settings):
        await eventually(lambda: folded(settings) == (log.next - 1, first + 1), SECONDS)
    second = log.write(b"more junk", [])
    async with running(project, settings):
        await eventually(lambda: folded(settings) == (log.next - 1, second + 1), SECONDS)
    await eventually(lambda: letters_are(letters, 2), SECONDS)
    letters.close()
    assert [said_of(letter)["offset"] for letter in letters.all] == [str(first), str(second)]


async def test_the_projection_stops_at_what_it_cannot_park_and_parks_it_when_it_is_started_again(log: Log) -> None:
    settings, letters = log.settings, Letters(log.settings)
    offset = log.write(b"junk", [])
    await decided(settings, 2)
    await asyncio.to_thread(limit_records, settings, topics.dead_letters(settings), NOTHING)
    with pytest.raises(RecordRefused):
        await asyncio.wait_for(project(settings), SECONDS)
    assert folded(settings)[1] <= offset
    await asyncio.to_thread(limit_records, settings, topics.dead_letters(settings), EVERYTHING)
    async with running(project, settings):
        await eventually(lambda: "job-2" in projected(settings), SECONDS)
    await eventually(lambda: letters_are(letters, 1), SECONDS)
    letters.close()
    assert [said_of(letter)["offset"] for letter in letters.all] == [str(offset)]


async def test_every_reader_stops_at_an_event_that_does_not_follow(log: Log) -> None:
    value, headers = log.event(position=log.next + 1)
    offset = log.write(value, headers)
    readers = {"decider": decide, **mains_of(log.settings), "api": serve}
    runs = (asyncio.wait_for(main(log.settings), SECONDS) for main in readers.values())
    ends = await asyncio.gather(*runs, return_exceptions=True)
    for reader, end in zip(readers, ends, strict=True):
        gap = gap_in(end) if end else None
        assert gap is not None, (reader, end)
        assert f"topic {topics.events(log.settings)}, partition {PARTITION}, offset {offset}: " in str(gap), reader


async def test_an_event_that_comes_again_is_dropped_and_the_partition_moves_on(log: Log) -> None:
    settings, commands = log.settings, topics.commands(log.settings)
    async with running(decide, settings), running(project, settings), running(serve, settings):
        for number in (2, 3):
            await asyncio.to_thread(plant, settings, commands, PARTITION, [Planted(submission(number))])
            await eventually(lambda number=number: f"job-{number}" in projected(settings), SECONDS)  # type: ignore[misc]
            log.write(log.records[0].value, [("ledger-position", b"1")], log.records[0].key)
    await decided(settings, 4)  # a decider that starts drops them too


def gap_in(error: BaseException) -> LogGap | None:
    if isinstance(error, LogGap):
        return error
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return next((gap for each in inner if (gap := gap_in(each))), None)


async def letters_are(letters: Letters, number: int) -> bool:
    return await letters.read() >= number


async def tail_is_at_the_end(port: int) -> bool:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/ready") as answer:
        part = (await answer.json())["parts"].get("ledger", {})
    return part.get("ready") is True and part.get("lag") == 0


def everything(settings: Settings) -> list[Record]:
    reader = LogReader(settings, topics.events(settings), {PARTITION: 0})
    records: list[Record] = []
    while not reader.at_end():
        records += [record for record in reader.poll(100, 0.1) if record.value]  # a fence is empty
    reader.close()
    return records


def heads_of(settings: Settings) -> dict[int, int]:
    ends = committed_end(settings, topics.events(settings), range(settings.partitions))
    return head_positions(settings, decoder(settings), ends)


def folded(settings: Settings) -> tuple[int, int]:
    """Return position and next offset of the checkpoint in Postgres."""
    query = "SELECT position, next_offset FROM ledger_v1.checkpoints WHERE partition = %s"
    with psycopg.connect(settings.postgres) as connection:
        found = connection.execute(query, (PARTITION,)).fetchone()
    return found or (0, 0)


def projected(settings: Settings) -> set[str]:
    with psycopg.connect(settings.postgres) as connection:
        rows = connection.execute("SELECT job_id FROM ledger_v1.jobs").fetchall()
    return {job_id for (job_id,) in rows}


def inserted(settings: Settings) -> int:
    """Return how many positions ClickHouse holds, each once."""
    with closing(connect(settings.clickhouse)) as client:
        query = f"SELECT position FROM job_events WHERE partition = {PARTITION}"
        there = client.command("EXISTS TABLE job_events")
        counted = Counter(position for (position,) in client.query(query).result_rows) if there else Counter[int]()
    assert set(counted.values()) <= {1}
    return len(counted)


async def signed_up_to(settings: Settings, position: int) -> bool:
    sheet = await read_sheet(BlobStore(settings.blobs), settings.topic_prefix, PARTITION)
    return sheet is not None and sheet.checkpoint.position == position
