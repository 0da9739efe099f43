"""The log is read on while what came before is written: in order, one batch ahead, and no fault is lost."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest

from projections import ahead
from projections.ahead import AheadLog

PATIENCE_SECONDS = 10.0


class Numbers:
    """A log of numbers; it tells when it is read, and may fail."""

    def __init__(self, until: int = 1_000_000, fails_with: Exception | None = None) -> None:
        self.read, self._until, self._fault = 0, until, fails_with
        self.reads = threading.Semaphore(0)
        self.closed = False

    def poll(self, max_events: int, _timeout_seconds: float) -> Sequence[int]:
        assert not self.closed
        if self.read >= self._until:
            if self._fault:
                raise self._fault
            return []
        batch = range(self.read, self.read + max_events)
        self.read += max_events
        self.reads.release()
        return batch

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def numbers() -> Iterator[Numbers]:
    yield (log := Numbers())
    assert log.closed


def test_what_comes_next_is_read_while_what_came_is_written_and_no_more(numbers: Numbers) -> None:
    with closing(AheadLog(numbers)) as log:
        for batch in range(5):
            assert list(log.poll(10, 1.0)) == list(range(batch * 10, batch * 10 + 10))
            assert numbers.reads.acquire(timeout=PATIENCE_SECONDS), "the batch that was asked for"
        assert numbers.reads.acquire(timeout=PATIENCE_SECONDS), "the one ahead, though nobody has asked for it"
        assert not numbers.reads.acquire(blocking=False)


def test_an_empty_batch_is_one_too() -> None:
    with closing(AheadLog(Numbers(until=0))) as log:
        assert [log.poll(10, 0.0), log.poll(10, 0.0)] == [[], []]


def test_a_fault_comes_behind_what_was_read_before_it_and_stays() -> None:
    numbers = Numbers(until=20, fails_with=ValueError("a gap"))
    with closing(AheadLog(numbers)) as log:
        assert [*log.poll(10, 0.0), *log.poll(10, 0.0)] == list(range(20))
        for _ in range(2):
            with pytest.raises(ValueError, match="a gap"):
                log.poll(10, 0.0)
    assert numbers.closed


def test_it_reads_on_however_long_a_batch_takes_to_be_written(
    numbers: Numbers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "LONG_SECONDS", 0.0)  # every write takes longer than this
    read: list[int] = []
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    with closing(AheadLog(numbers)) as log:
        while len(read) < 100 and time.monotonic() < give_up_at:
            read += log.poll(1, 0.0)
    assert read == list(range(100))


def test_it_is_closed_while_it_reads_and_before_it_ever_did(numbers: Numbers) -> None:
    AheadLog(unread := Numbers()).close()
    assert unread.closed
    log = AheadLog(numbers)
    log.poll(10, 0.0)
    log.close()
