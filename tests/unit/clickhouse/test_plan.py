"""What an insert takes is planned, and found again exactly."""

import random

from hypothesis import given
from hypothesis import strategies as st

from projections.clickhouse.plan import Range, plan_of, split
from services.runtime.raw_log import Checkpoint, RawEntry

START = {0: Checkpoint(), 1: Checkpoint()}


def entry(partition: int, position: int) -> RawEntry:
    return RawEntry(b"", partition, position * 2, position, "")


def log(length: int, order: int) -> list[RawEntry]:
    """Return two partitions as a consumer hands them out: each in order, mixed in one of many ways."""
    partitions = {number: iter([entry(number, at + 1) for at in range(length)]) for number in (0, 1)}
    turns = [0] * length + [1] * length
    random.Random(order).shuffle(turns)
    return [next(partitions[turn]) for turn in turns]


def test_a_plan_names_where_each_partition_begins_and_ends() -> None:
    at = {0: Checkpoint(5, 11), 3: Checkpoint(), 7: Checkpoint(1, 3)}
    plan = plan_of("t", at, [entry(0, 6), entry(3, 1), entry(0, 7), entry(3, 2)])
    assert plan.ranges == {0: Range(Checkpoint(5, 11), Checkpoint(7, 15)), 3: Range(Checkpoint(), Checkpoint(2, 5))}
    assert plan.size == 4


@given(st.integers(1, 20), st.integers(0, 5), st.integers(), st.integers())
def test_however_partitions_mix_and_whatever_comes_beside_the_same_rows_come_in_the_same_order(
    length: int, more: int, order: int, other_order: int
) -> None:
    first = log(length, order)
    plan = plan_of("t", START, first)
    taken, others = split(plan, first)
    again, beside = split(plan, log(length + more, other_order))
    assert again == taken
    assert others == []
    assert (len(taken), len(beside)) == (plan.size, 2 * more)
