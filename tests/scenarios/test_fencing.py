"""Scenario 19: a writer that is stopped inside a transaction while another takes its partition over, and goes on.

Each round stops the decider at a point of a transaction, lets another process take over and decide the same command,
and lets the old one go on: it has to leave by itself, fast, and nothing of its transaction may ever be read.
`make test` plays a few rounds, `make fencing` fifty for each of begin and commit.
"""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from schemas.events import JobDispatched, JobSubmitted, WriterOpened
from services.ledger.commands import AnyCommand
from services.ledger.record import digest_of
from services.ledger.wire import COMMANDS, TASKS
from services.runtime import topics
from services.runtime.ledger_log import Checkpoint, Entry, LedgerLog
from services.runtime.process import CLEAN
from services.runtime.producer import Producer
from services.runtime.reader import LogReader
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from tests.environ import environ_of
from tests.integration.decider.partitions import ORG, registered, submitted
from tests.scenarios.paused_decider import Point

pytestmark = [pytest.mark.kafka, pytest.mark.stack]
ROUNDS = int(os.environ.get("JOBLEDGER_TEST_FENCING_ROUNDS", "2"))  # of each point behind begin; as many before commit
PATIENCE_SECONDS = 120.0  # for what other processes do on a busy machine
LEAVES_WITHIN_SECONDS = 20.0  # from SIGCONT on; a few seconds where the machine has nothing else to do
POINTS: tuple[Point, ...] = ("begin", "sent", "begin", "queued")


class Deciders:
    """The processes of one partition, the newest last."""

    def __init__(self, settings: Settings, directory: Path) -> None:
        self.number = topics.partition_of_org(ORG, settings.partitions)
        self._settings, self._directory = settings, directory
        self._environ = _environ(settings) | {
            "JOBLEDGER_INSTANCES": str(settings.partitions),
            "JOBLEDGER_INSTANCE": str(self.number),
            "JOBLEDGER_PORT": "0",
        }
        self.running: list[subprocess.Popen[bytes]] = []
        self._orders: list[Path] = []
        self._log = LedgerLog(settings, decoder(settings), {self.number: Checkpoint()})
        self.entries: list[Entry] = []  # every event that a reader of committed records got, in order
        self._producer = Producer(settings, "test")
        self._producer.start()

    def start(self) -> None:
        """Start another process, and wait until it has taken the partition over."""
        opened = self.count(WriterOpened)
        order = self._directory / f"order-{len(self._orders)}"
        self._orders.append(order)
        with (self._directory / "deciders.log").open("ab") as log:
            command = (sys.executable, "-m", "tests.scenarios.paused_decider", str(order))
            process = subprocess.Popen(command, env=self._environ, stdout=log, stderr=log)
        self.running.append(process)
        self.until(lambda: self.count(WriterOpened) > opened, "taken over")

    def stop_newest_at(self, point: Point, command: AnyCommand) -> subprocess.Popen[bytes]:
        """Send a command whose transaction stops the newest process there."""
        order = self._orders[-1]
        order.with_suffix(".new").write_text(point)
        order.with_suffix(".new").rename(order)
        self.send(command)
        process = self.running[-1]
        self.until(lambda: _state(process.pid) == "T", f"stopped at {point}")
        return process

    def send(self, command: AnyCommand) -> None:
        """Put a command on the topic."""
        self._producer.produce(topics.commands(self._settings), self.number, ORG, COMMANDS.encode(command))
        self._producer.flush()

    def count(self, of: type) -> int:
        """How many events of a type were read."""
        return sum(isinstance(entry.recorded.event, of) for entry in self.entries if entry.recorded)

    def submitted(self, job_id: str) -> bool:
        """Whether the submission of a job was read."""
        events = (entry.recorded.event for entry in self.entries if entry.recorded)
        return any(isinstance(event, JobSubmitted) and event.job_id == job_id for event in events)

    def until(self, true: Callable[[], bool], what: str) -> None:
        """Read on until something is true."""
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while not true():
            self.entries += self._log.poll(1000, 0.05)
            assert time.monotonic() < give_up_at, (
                f"not {what}: {(self._directory / 'deciders.log').read_text()[-3000:]}"
            )

    def close(self) -> None:
        """Kill what is left, and let go of the broker."""
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.wait()
        self._log.close()
        self._producer.close()


def _environ(settings: Settings) -> dict[str, str]:
    return dict(os.environ) | environ_of(settings)


def _state(pid: int) -> str:
    """State of a process as the kernel names it: T is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]


@contextmanager
def deciders_of(settings: Settings, directory: Path) -> Iterator[Deciders]:
    """Processes that do not outlive the test."""
    deciders = Deciders(settings, directory)
    try:
        yield deciders
    finally:
        deciders.close()


def test_19_a_stopped_writer_writes_nothing_readable_and_leaves_by_itself(ledger: Settings, tmp_path: Path) -> None:
    took: list[float] = []
    with deciders_of(ledger, tmp_path) as deciders:
        deciders.start()
        deciders.send(registered())
        points = [point for _ in range(-(-ROUNDS // 2)) for point in POINTS][: 2 * ROUNDS]
        for number, point in enumerate(points):
            job_id = f"j{number}"
            old = deciders.stop_newest_at(point, submitted(job_id))
            assert not deciders.submitted(job_id)
            deciders.start()
            deciders.until(lambda job_id=job_id: deciders.submitted(job_id), "decided by the new one")  # type: ignore[misc]
            began = time.monotonic()
            old.send_signal(signal.SIGCONT)
            assert old.wait(LEAVES_WITHIN_SECONDS) != CLEAN, point
            took.append(time.monotonic() - began)
        deciders.send(submitted("last"))
        deciders.until(lambda: deciders.submitted("last"), "still deciding")
        _check(ledger, deciders, len(points))
    took.sort()
    print(f"\n{len(took)} rounds; left after {took[len(took) // 2]:.2f} s (median), {took[-1]:.2f} s at most")  # noqa: T201


def _check(settings: Settings, deciders: Deciders, rounds: int) -> None:
    """One history, whatever the stopped ones had in hand: the reader of the log has checked the positions already."""
    assert deciders.count(WriterOpened) == rounds + 1
    events = [entry.recorded for entry in deciders.entries if entry.recorded]
    jobs = Counter(recorded.event.job_id for recorded in events if isinstance(recorded.event, JobSubmitted))
    assert jobs == dict.fromkeys([*(f"j{number}" for number in range(rounds)), "last"], 1)
    heads: dict[str, bytes] = {}
    for entry, recorded in zip(deciders.entries, events, strict=True):
        assert recorded.header.prev_hash == heads.get(recorded.event.org_id, bytes(32))
        heads[recorded.event.org_id] = digest_of(entry.raw)
    dispatched = Counter(recorded.event.job_id for recorded in events if isinstance(recorded.event, JobDispatched))
    assert _tasks(settings, deciders.number, dispatched.total()) == dispatched


def _tasks(settings: Settings, partition: int, at_least: int) -> Counter[str]:
    """How many tasks of each job are readable."""
    place = topics.spread_partition(partition, "", settings.task_spread)
    assert settings.task_spread == 1
    reader = LogReader(settings, topics.tasks(settings, "workflow"), {place: 0})
    found: Counter[str] = Counter()
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while (found.total() < at_least or not reader.at_end()) and time.monotonic() < give_up_at:
        found.update(TASKS.decode(record.value).job_id for record in reader.poll(1000, 0.1))
    reader.close()
    return found
