"""Answers leave after the write, by ledger partition; a destination that is down is waited for."""

import pytest

from services.ledger.commands import SettleDeliveries
from services.ledger.tasks import Delivery
from services.runtime.health import Progress
from services.writers import settling as settling_module
from services.writers.sealed import Sealing
from services.writers.settling import Settling
from services.writers.telling import Telling
from tests.held_keys import HeldKeys
from tests.unit.workers.fakes import MemoryLedger
from tests.unit.writers.fakes import MemoryWriter, delivery


def settling(writer: MemoryWriter, ledger: MemoryLedger, progress: Progress | None = None) -> Settling:
    """Return a settling of writer-1."""
    return Settling(
        writer, Telling(ledger, "writer-1", Sealing(HeldKeys())), progress or Progress("postgres"), kind="postgres"
    )


def told(ledger: MemoryLedger) -> list[tuple[int, list[str]]]:
    """Return partition and job ids of each record."""
    settled = [command for command in ledger.told if isinstance(command, SettleDeliveries)]
    jobs = [[result.job_id for result in command.results] for command in settled]
    return sorted(zip(ledger.partitions, jobs, strict=True))


async def test_answers_go_to_the_partition_of_each_delivery() -> None:
    ledger = MemoryLedger()
    batch = [delivery(1, partition=0), delivery(2, partition=5), delivery(3, partition=0)]
    await settling(MemoryWriter(), ledger).deliver(batch)
    assert told(ledger) == [(0, ["job-1", "job-3"]), (5, ["job-2"])]


async def test_a_record_carries_a_hundred_answers_at_most() -> None:
    ledger = MemoryLedger()
    await settling(MemoryWriter(), ledger).deliver([delivery(number) for number in range(250)])
    assert [len(jobs) for _, jobs in told(ledger)] == [100, 100, 50]


async def test_a_destination_that_is_down_is_tried_again_and_turns_the_readiness_red(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settling_module, "FIRST_PAUSE_SECONDS", 0)
    ledger, progress, red = MemoryLedger(), Progress("postgres"), list[bool]()
    writer = MemoryWriter(down=3)
    write = writer.write

    async def watched(deliveries: list[Delivery]) -> object:
        red.append(not progress.state()["ready"])
        return await write(deliveries)

    progress.beat()
    monkeypatch.setattr(writer, "write", watched)
    await settling(writer, ledger, progress).deliver([delivery(1)])
    assert red == [False, True, True, True]
    assert progress.state()["ready"]
    assert told(ledger) == [(3, ["job-1"])]


async def test_nothing_is_told_of_a_batch_that_was_not_written() -> None:
    ledger, writer = MemoryLedger(), MemoryWriter()

    async def fails(_deliveries: object) -> object:
        raise ZeroDivisionError

    writer.write = fails  # type: ignore[assignment,method-assign]
    with pytest.raises(ZeroDivisionError):
        await settling(writer, ledger).deliver([delivery(1)])
    assert ledger.told == []


async def test_the_circuit_is_open_while_the_destination_is_down_and_closed_once_it_works(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(settling_module, "FIRST_PAUSE_SECONDS", 0)
    seen = list[float]()

    def level(name: str, value: float, **_labels: str) -> None:
        assert name == "circuit_open"
        seen.append(value)

    monkeypatch.setattr(settling_module, "level", level)
    await settling(MemoryWriter(down=3), MemoryLedger()).deliver([delivery(1)])
    assert seen == [1, 1, 1, 0]
    said = [record.message for record in caplog.records if "circuit" in record.message]
    assert said == ["destination down, its circuit is open", "destination works again, its circuit is closed"]
