"""Acks in the order of the log: a record is acked when it and all before it in its partition are done."""

from collections import defaultdict, deque
from collections.abc import Callable

Done = Callable[[], None]


class _Open:
    """A record that was taken and is not acked yet."""

    __slots__ = ("ack", "done")

    def __init__(self, ack: Callable[[], object]) -> None:
        self.ack = ack
        self.done = False


class AcksInOrder:
    """Turns records that get done in any order into acks in the order of each partition.

    Faust commits the offset after the newest ack, as if all before it were acked (`services.streams.consumer`), so
    the order of the acks is what keeps an unfinished record from being skipped.
    """

    def __init__(self) -> None:
        self._open: defaultdict[int, deque[_Open]] = defaultdict(deque)

    def take(self, partition: int, ack: Callable[[], object]) -> Done:
        """Note a record as taken, in the order of its partition; call what this returns when the record is done."""
        record = _Open(ack)
        waiting = self._open[partition]
        waiting.append(record)

        def done() -> None:
            record.done = True
            while waiting and waiting[0].done:
                waiting.popleft().ack()

        return done
