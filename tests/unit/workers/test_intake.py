"""From a record to a task or a dead letter."""

from services.ledger.wire import TASKS
from services.runtime.reader import Record
from services.workers.intake import Intake
from tests.unit.workers.fakes import task


class Accepted:
    """An executor that remembers what it accepted."""

    def __init__(self) -> None:
        self.tasks: list[object] = []

    async def accept(self, of: object, claimed: object) -> None:
        """Remember a task."""
        self.tasks.append(of)


class Parked:
    """Dead letters in a list."""

    def __init__(self) -> None:
        self.letters: list[tuple[Record, str]] = []

    async def park(self, record: Record, reason: str, detail: str = "") -> None:
        """Remember a letter."""
        self.letters.append((record, reason))


def record(value: bytes) -> Record:
    """Return a record of the topic of tasks."""
    return Record("tasks", 0, 7, "org-1", value, [], 0)


async def test_a_task_goes_to_the_executor_and_is_not_done_yet() -> None:
    accepted, parked, done = Accepted(), Parked(), list[str]()
    await Intake(accepted, parked).take(record(TASKS.encode(task())), lambda: done.append("done"))
    assert accepted.tasks == [task()]
    assert done == []
    assert parked.letters == []


async def test_a_record_that_is_no_task_becomes_a_dead_letter_and_is_done() -> None:
    accepted, parked, done = Accepted(), Parked(), list[str]()
    await Intake(accepted, parked).take(record(b"\x01\xc1"), lambda: done.append("done"))
    assert accepted.tasks == []
    assert [(letter.offset, reason) for letter, reason in parked.letters] == [(7, "bad_message")]
    assert done == ["done"]
