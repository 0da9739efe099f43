"""The runner: takes over, waits for Postgres, skips nothing, stops at what no waiting cures."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import psycopg
import pytest

from projections.postgres.sink import postgres_runner
from projections.runner import Runner
from schemas.events import JobDeleted
from services.runtime.errors import LogGap
from services.runtime.health import Progress
from services.runtime.ledger_log import Checkpoint, Entry, LedgerLog
from services.runtime.reader import Record
from services.runtime.settings import Settings
from services.runtime.shredding.vault import Vault
from tests.event_streams import Stream, records_of
from tests.integration.projections.conftest import Connection
from tests.unit.projections.test_log_check import decoder

DEADLINE_SECONDS = 30.0


class PacedRecords:
    """Gives out records from an offset on and waits for more, as a reader of a topic does."""

    def __init__(self, records: list[Record], starts: Mapping[int, int], more: threading.Condition) -> None:
        self._records, self._more = records, more
        self._offsets = dict(starts)

    def poll(self, max_records: int, timeout_seconds: float) -> list[Record]:
        with self._more:
            if not self._next():
                self._more.wait(timeout_seconds)
            found = self._next()[:max_records]
        for record in found:
            self._offsets[record.partition] = record.offset + 1
        return found

    def next_offsets(self) -> dict[int, int]:
        return dict(self._offsets)

    def at_end(self) -> bool:
        return not self._next()

    def close(self) -> None:
        pass

    def _next(self) -> list[Record]:
        return [record for record in self._records if record.offset >= self._offsets[record.partition]]


class Topic:
    """The events of partition 0; more may be said at any time."""

    def __init__(self, settings: Settings) -> None:
        self.stream = Stream().open()
        self.records = records_of(self.stream)
        self._more = threading.Condition()
        self._settings = settings

    def say(self, numbers: range) -> int:
        """Let things happen; return the position they lead to."""
        self.stream.play(numbers)
        with self._more:
            self.records[:] = records_of(self.stream)
            self._more.notify_all()
        return len(self.stream.events)

    def open(self, starts: Mapping[int, Checkpoint]) -> LedgerLog:
        offsets = {partition: start.next_offset for partition, start in starts.items()}
        return LedgerLog(self._settings, decoder(), starts, PacedRecords(self.records, offsets, self._more))


@pytest.fixture
def topic(settings: Settings) -> Topic:
    return Topic(settings)


@contextmanager
def running(settings: Settings, topic: Topic) -> Iterator[Runner[Entry]]:
    runner = postgres_runner(settings.postgres, range(settings.partitions), topic.open, Vault(""), Progress("postgres"))
    thread = threading.Thread(target=runner.run)
    thread.start()
    try:
        yield runner
    finally:
        runner.stop()
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        threading.Event().wait(0.01)


def transitions(database: Connection) -> object:
    return database.execute("SELECT count(*), count(DISTINCT position) FROM job_transitions").fetchone()


def end_sessions(connection: Connection, database: str) -> None:
    connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE %s AND datname = %s",
        ("jobledger projection%", database),
    )


def told(stream: Stream) -> tuple[int, int]:
    deleted = {each.event.job_id for each in stream.events if isinstance(each.event, JobDeleted)}
    number = sum(1 for each in stream.events if each.event.job_id and each.event.job_id not in deleted)
    return number, number


def test_it_follows_the_log_and_tells_how_far_it_is(settings: Settings, topic: Topic, database: Connection) -> None:
    with running(settings, topic) as runner:
        for numbers in (range(50), range(50, 300)):
            position = topic.say(numbers)
            until(lambda position=position: runner.positions.get(0) == position)  # type: ignore[misc]
        state = runner.progress.state()
        assert (state["ready"], state["role"], state["lag"]) == (True, "active", 0)
        assert state["positions"]["0"] == position
    assert transitions(database) == told(topic.stream)


def test_it_goes_on_where_another_one_stopped(settings: Settings, topic: Topic, database: Connection) -> None:
    for numbers in (range(100), range(100, 200)):
        with running(settings, topic) as runner:
            position = topic.say(numbers)
            until(lambda position=position: runner.positions.get(0) == position)  # type: ignore[misc]
    assert transitions(database) == told(topic.stream)


def test_a_lost_session_is_opened_again_and_nothing_is_skipped(
    settings: Settings, topic: Topic, database: Connection
) -> None:
    with running(settings, topic) as runner:
        for round_number in range(5):
            position = topic.say(range(round_number * 40, round_number * 40 + 40))
            end_sessions(database, settings.postgres.rpartition("/")[2])
            until(lambda position=position: runner.positions.get(0) == position)  # type: ignore[misc]
    assert transitions(database) == told(topic.stream)


def test_while_postgres_refuses_it_is_not_ready_and_then_it_is(
    settings: Settings, topic: Topic, database: Connection
) -> None:
    server, _, name = settings.postgres.rpartition("/")
    with psycopg.connect(f"{server}/postgres", autocommit=True) as operator, running(settings, topic) as runner:
        until(lambda: runner.progress.state()["ready"])
        operator.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'.encode())
        end_sessions(operator, name)
        position = topic.say(range(60))
        until(lambda: not runner.progress.state()["ready"])
        assert "Postgres" in str(runner.progress.state()["reason"])
        operator.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true'.encode())
        until(lambda: runner.positions.get(0) == position)
        until(lambda: runner.progress.state()["ready"])
    assert transitions(database) == told(topic.stream)


def test_a_postgres_that_takes_no_writes_for_a_while_is_waited_for(
    settings: Settings, topic: Topic, database: Connection
) -> None:
    name = settings.postgres.rpartition("/")[2]
    with running(settings, topic) as runner:
        until(lambda: runner.progress.state()["ready"])
        database.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'.encode())
        end_sessions(database, name)
        position = topic.say(range(60))
        until(lambda: "ReadOnlySqlTransaction 25006" in str(runner.progress.state().get("reason")))
        database.execute(b"SET default_transaction_read_only = off")
        database.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only'.encode())
        until(lambda: runner.positions.get(0) == position)
    assert transitions(database) == told(topic.stream)


def test_two_at_once_write_every_row_once_and_the_second_takes_over(
    settings: Settings, topic: Topic, database: Connection
) -> None:
    with running(settings, topic) as first:
        until(lambda: first.positions.get(0) == 3)
        with running(settings, topic) as second:
            until(lambda: second.progress.state().get("role") == "standby")
            position = topic.say(range(100))
            until(lambda: first.positions.get(0) == position)
            assert second.positions == {}
            first.stop()
            position = topic.say(range(100, 200))
            until(lambda: second.positions.get(0) == position)
    assert transitions(database) == told(topic.stream)


def test_a_gap_in_the_log_stops_it(settings: Settings, topic: Topic) -> None:
    topic.say(range(20))
    del topic.records[5]
    runner = postgres_runner(settings.postgres, range(settings.partitions), topic.open, Vault(""), Progress("postgres"))
    with pytest.raises(LogGap, match="position 7 follows 5"):
        runner.run()
