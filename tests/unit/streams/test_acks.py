"""Acks keep the order of the log, whatever the order in which records get done."""

from hypothesis import given
from hypothesis import strategies as st

from services.streams.acks import AcksInOrder


def test_a_record_that_is_done_early_waits_for_those_before_it() -> None:
    acks, acked = AcksInOrder(), list[int]()
    done = [acks.take(0, lambda offset=offset: acked.append(offset)) for offset in (12, 14, 15, 16)]  # type: ignore[misc]
    done[0]()
    done[2]()
    done[3]()
    assert acked == [12]
    done[1]()
    assert acked == [12, 14, 15, 16]


@given(st.lists(st.integers(0, 2), max_size=30), st.randoms(use_true_random=False))
def test_what_is_acked_is_always_a_beginning_of_each_partition(partitions: list[int], random: object) -> None:
    acks, acked, undone = AcksInOrder(), list[tuple[int, int]](), set[tuple[int, int]]()
    dones = []
    for number, partition in enumerate(partitions):
        undone.add((partition, number))
        dones.append(
            ((partition, number), acks.take(partition, lambda key=(partition, number): acked.append(key)))  # type: ignore[misc]
        )
    random.shuffle(dones)  # type: ignore[attr-defined]
    for key, done in dones:
        undone.discard(key)
        done()
        for partition, number in acked:
            assert not any(place == partition and other <= number for place, other in undone)
    assert sorted(acked) == sorted((partition, number) for number, partition in enumerate(partitions))
