"""How long after it was put on the topic an event is in each read model, at a steady pace."""

import statistics
import threading
import time
from collections.abc import Callable
from itertools import islice

import msgspec
import psycopg
from psycopg import sql

from bench.read_models_log import dealing, send
from projections.clickhouse.migrate import SCHEMA as BOOKS
from projections.migrate import SCHEMA
from services.runtime.producer import Producer
from services.runtime.settings import Settings

WARM_SECONDS = 2  # at the beginning, whose events are not counted: they find schemas unread and statements unplanned
LOOK_SECONDS = 0.005  # between two looks at a checkpoint: that much may be too much in a lag
PATIENCE_SECONDS = 60.0
Place = tuple[int, int]  # partition, position


class Lag(msgspec.Struct, frozen=True):
    """Milliseconds from the hand of the producer until the store had committed, of all events that are counted."""

    events: int
    p50_ms: float
    p99_ms: float
    most_ms: float


class Watch:
    """Looks at the checkpoints of one read model, which move with its rows or right behind them."""

    def __init__(self, settings: Settings, schema: str) -> None:
        self._dsn, self._schema = settings.postgres, schema
        self.seen: list[tuple[float, dict[int, int]]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name=schema)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._over.set()
        self._thread.join()

    def has(self, ends: dict[int, int]) -> bool:
        """Whether all of these positions were seen."""
        return bool(self.seen) and all(self.seen[-1][1].get(partition, 0) >= end for partition, end in ends.items())

    def lag(self, sent: dict[Place, float]) -> Lag:
        """Return how long after it was sent each event was first seen."""
        found, known = [], dict[int, int]()
        for at, positions in self.seen:
            for partition, position in positions.items():
                behind = known.get(partition, 0)
                places = [(partition, each) for each in range(behind + 1, position + 1)]
                found += [at - sent[place] for place in places if place in sent]
                known[partition] = max(behind, position)
        found.sort()
        p99 = found[len(found) * 99 // 100]
        in_ms = [round(value * 1000, 1) for value in (statistics.median(found), p99, found[-1])]
        return Lag(len(found), *in_ms)

    def _look(self) -> None:
        table = sql.Identifier(self._schema, "checkpoints")
        query = sql.SQL("SELECT partition, position FROM {}").format(table)
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            while not self._over.wait(LOOK_SECONDS):
                rows = connection.execute(query).fetchall()
                self.seen.append((time.monotonic(), dict(rows)))


def lags(settings: Settings, pace: int, seconds: int) -> tuple[dict[str, Lag], dict[int, int]]:
    """Put events on the topic at a pace; return the lag of both read models and how many events each partition has."""
    logs = [dealing(settings, partition) for partition in range(settings.partitions)]
    warm, each = (pace * n // settings.partitions for n in (WARM_SECONDS, WARM_SECONDS + seconds))
    dealt = [list(islice(log, each)) for log in logs]  # before the clock runs
    watches = {"postgres": Watch(settings, SCHEMA), "clickhouse": Watch(settings, BOOKS)}
    sent: dict[Place, float] = {}
    producer = Producer(settings, "bench-lag")
    producer.start()
    for watch in watches.values():
        watch.start()
    ends = dict.fromkeys(range(settings.partitions), each)
    try:
        began = time.monotonic()
        for number in range(each):
            for partition in range(settings.partitions):
                due = began + (number * settings.partitions + partition) / pace
                if (early := due - time.monotonic()) > 0:
                    time.sleep(early)
                if number >= warm:
                    sent[partition, number + 1] = time.monotonic()
                send(producer, settings, dealt[partition][number])
        producer.flush()
        _wait_until(lambda: all(watch.has(ends) for watch in watches.values()))
    finally:
        for watch in watches.values():
            watch.stop()
        producer.close()
    return {name: watch.lag(sent) for name, watch in watches.items()}, ends


def _wait_until(over: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not over():
        if time.monotonic() > deadline:
            raise TimeoutError("the read models did not get to the end of what was sent")
        time.sleep(LOOK_SECONDS)
