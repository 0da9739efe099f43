"""The process on the real log: killed and started again, it ends in the same read model, and verify says so."""

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from projections.lag import head_positions
from projections.verification.bodies import BLOBS
from projections.verification.faults import Fault
from projections.verification.stores import PostgresResults
from projections.verify import verify
from services.localstack.ports import port_for
from services.runtime import topics
from services.runtime.ends import committed_end
from services.runtime.producer import Producer
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from tests.integration.projections.conftest import Connection
from tests.integration.projections.following import Partition, numbers, process, ready

DEADLINE_SECONDS = 60.0


def faults(settings: Settings) -> list[Fault]:
    """What verification finds, apart from the rows of a writer, and bodies of workers, that do not run here."""
    return [fault for fault in verify(settings).faults if fault.place not in (PostgresResults.place, BLOBS)]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        threading.Event().wait(0.05)


@pytest.fixture
def port(tmp_path: Path) -> int:
    """A free port of the process."""
    return port_for(tmp_path / "ports.json", "projections")


def test_killed_at_any_moment_it_ends_in_the_same_read_model(
    ledger: Settings, producer: Producer, database: Connection, port: int
) -> None:
    partitions = [Partition(ledger, number) for number in range(2)]

    def folded() -> dict[int, int]:
        return dict(database.execute("SELECT partition, position FROM checkpoints").fetchall())  # type: ignore[arg-type]

    for seed in range(3):
        before = folded().get(0, 0)
        with process(ledger, port) as child:
            for partition in partitions:
                partition.say(numbers(seed, 400), producer)
            until(lambda before=before: folded().get(0, 0) > before)  # type: ignore[misc]
            child.send_signal(signal.SIGKILL)
            child.wait()
        assert faults(ledger) == []
    with process(ledger, port) as child:
        heads = {partition.stream.partition: len(partition.stream.events) for partition in partitions}
        until(lambda: {number: folded().get(number, 0) for number in heads} == heads)
        until(lambda: bool(ready(port)["ready"]))
        child.send_signal(signal.SIGTERM)
        assert child.wait(DEADLINE_SECONDS) == 0
    assert faults(ledger) == []
    assert verify(ledger).events == sum(heads.values())


def test_verify_holds_while_traffic_goes_on(
    ledger: Settings, producer: Producer, database: Connection, port: int
) -> None:
    partition = Partition(ledger, 1)
    with process(ledger, port):
        until(lambda: bool(ready(port)["ready"]))
        for seed in range(5):
            partition.say(numbers(seed, 200), producer)
            assert faults(ledger) == []
        until(lambda: verify(ledger).positions[1] == len(partition.stream.events))
    database.execute("DELETE FROM job_transitions WHERE ctid = (SELECT min(ctid) FROM job_transitions)")
    [fault] = faults(ledger)
    assert (fault.place, fault.field, fault.found) == ("job_transitions", "row", "none")


def test_the_head_of_each_partition_is_read_from_its_end(ledger: Settings, producer: Producer) -> None:
    partition = Partition(ledger, 2)
    partition.say(numbers(1, 50), producer)
    ends = committed_end(ledger, topics.events(ledger), [2])
    assert head_positions(ledger, decoder(ledger), ends) == {2: len(partition.stream.events)}
    assert head_positions(ledger, decoder(ledger), {}) == {}
