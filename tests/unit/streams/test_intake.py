"""From a record to a message that is used, or to a dead letter."""

import pytest

from services.ledger.tasks import Task
from services.ledger.wire import TASKS
from services.runtime.errors import DeadLetterLimit
from services.runtime.reader import Record
from services.runtime.settings import Settings
from services.streams.acks import Done
from services.streams.intake import Intake, misplaced
from tests.unit.workers.fakes import task

SETTINGS = Settings(kafka="", postgres="", registry="", blobs="", partitions=4)


class Surroundings:
    """Remembers what was used, parked and done."""

    def __init__(self) -> None:
        self.used: list[Task] = []
        self.parked: list[tuple[int, str]] = []
        self.done = 0
        self.full = False

    async def use(self, message: Task, done: Done) -> None:
        """Use a message."""
        self.used.append(message)

    async def park(self, record: Record, reason: str, detail: str = "") -> None:
        """Keep a dead letter."""
        if self.full:
            raise DeadLetterLimit("too many")
        self.parked.append((record.offset, reason))

    async def take(self, value: bytes, key: str = "org-1", partition: int = 3) -> None:
        """Take a record."""
        record = Record("tasks", partition, 7, key, value, [], 0)

        def fault(task: Task, record: Record) -> str | None:
            return misplaced(record, SETTINGS, task.org_id, [(task.partition, task.job_id)])

        await Intake(TASKS, self.use, self, fault).take(record, self._count)

    def _count(self) -> None:
        self.done += 1


async def test_a_message_is_used_and_not_done_yet() -> None:
    it = Surroundings()
    await it.take(TASKS.encode(task()))
    assert (it.used, it.parked, it.done) == ([task()], [], 0)


async def test_a_record_that_is_no_message_becomes_a_dead_letter_and_is_done() -> None:
    it = Surroundings()
    await it.take(b"\x01\xc1")
    assert (it.used, it.parked, it.done) == ([], [(7, "bad_message")], 1)


@pytest.mark.parametrize("partition", [-1, 4, 2**40])
async def test_a_message_of_a_partition_that_is_none_becomes_a_dead_letter_and_is_done(partition: int) -> None:
    it = Surroundings()
    await it.take(TASKS.encode(task(partition=partition)))
    assert (it.used, it.parked, it.done) == ([], [(7, "foreign_org")], 1)


@pytest.mark.parametrize(("key", "partition"), [("org-2", 3), ("org-1", 2)])
async def test_a_message_that_lies_where_no_decider_puts_it_becomes_a_dead_letter(key: str, partition: int) -> None:
    it = Surroundings()
    await it.take(TASKS.encode(task()), key, partition)
    assert (it.used, it.parked, it.done) == ([], [(7, "foreign_org")], 1)


async def test_a_dead_letter_that_is_not_kept_is_an_error_and_not_done() -> None:
    it = Surroundings()
    it.full = True
    with pytest.raises(DeadLetterLimit):
        await it.take(b"junk")
    assert it.done == 0
