"""The projection as a fold: how its input is cut and repeated never shows in the rows."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from projections.postgres.batch import batch_of
from projections.postgres.fold import Changes, Current, fold
from projections.postgres.rows import Checkpoint
from projections.verification.compare import TABLES, compare, expected_rows
from projections.verification.log import PartitionLog, check_job
from projections.verification.usage import compare_transactions, compare_usage, usage_of
from services.runtime.ledger_log import Entry
from services.runtime.reader import Record
from tests.event_streams import Stream, entries_of
from tests.tables import Tables

numbers = st.lists(st.integers(min_value=0, max_value=16 * 12 - 1), max_size=120)
cuts = st.lists(st.integers(min_value=1, max_value=9), min_size=1, max_size=60)


def batches(entries: list[Entry], sizes: list[int]) -> list[list[Entry]]:
    found, at = [], 0
    for turn in range(len(entries)):
        size = sizes[turn % len(sizes)]
        if at < len(entries):
            found.append(entries[at : at + size])
        at += size
    return found


@settings(deadline=None)
@given(numbers, cuts)
def test_any_split_into_batches_each_delivered_twice_gives_the_rows_of_one_by_one(
    numbers: list[int], cuts: list[int]
) -> None:
    entries = entries_of(Stream(modules=True).open().play(numbers))
    one_by_one, twice = Tables(), Tables()
    for entry in entries:
        one_by_one.write([entry])
    for batch in batches(entries, cuts):
        twice.write(batch)
        twice.write(batch)
    assert twice == one_by_one


@settings(deadline=None)
@given(numbers, cuts)
def test_without_checkpoints_the_ordinals_alone_keep_out_repetitions(numbers: list[int], cuts: list[int]) -> None:
    entries = entries_of(Stream(modules=True).open().play(numbers))
    plain, repeated = Tables(), Tables()
    for batch in batches(entries, cuts):
        plain.write(batch)
        for _ in range(2):
            repeated.checkpoints = {}
            repeated.write(batch)
    assert repeated == plain


@settings(deadline=None)
@given(numbers)
def test_a_second_way_of_reading_the_events_asks_for_the_same_rows(numbers: list[int]) -> None:
    stream = Stream(modules=True).open().play(numbers)
    tables = Tables()
    tables.write(entries_of(stream))
    log = read(stream)
    assert log.faults == []
    for table in TABLES:
        assert list(compare(table, expected_rows(log, table), tables.found(table))) == []
    told = usage_of(log)
    assert log.faults == []
    assert list(compare_usage(told, tables.found("org_usage"))) == []
    assert list(compare_transactions(told, tables.found("credit_transactions"))) == []


@settings(deadline=None)
@given(numbers)
def test_a_batch_holds_each_key_once_and_its_last_positions(numbers: list[int]) -> None:
    entries = entries_of(Stream(modules=True).open().play(numbers))
    batch = batch_of({0: Checkpoint(0)}, entries)
    assert batch.after[0].position == entries[-1].position
    assert batch.after[0].next_offset == entries[-1].offset + 1
    changes: Changes = fold(Current(), batch.events)
    keys: list[Any] = [(each.org_id, each.job_id, each.seq) for each in changes.transitions]
    assert len(keys) == len(set(keys))


def read(stream: Stream) -> PartitionLog:
    log = PartitionLog(stream.partition)
    for recorded, raw in zip(stream.events, stream.raws, strict=True):
        log.take(Record("events", stream.partition, recorded.header.position * 2, "", raw, [], 0), recorded)
    for events in log.jobs.values():
        check_job(log, events)
    return log
