"""From a record of the topic of tasks to a task that runs, or to a dead letter."""

from collections.abc import Callable
from typing import Protocol

from services.ledger.messages import Task
from services.ledger.wire import TASKS, BadMessage
from services.runtime.reader import Record


class Accepting(Protocol):
    """Runs tasks; the executor does."""

    async def accept(self, task: Task, claimed: Callable[[], None]) -> None:
        """Return when the task has a slot; `claimed` is called once the ledger answered its claim."""


class Parking(Protocol):
    """Keeps what cannot be used; `services.runtime.dead_letter.DeadLetters` does."""

    async def park(self, record: Record, reason: str, detail: str = "") -> None:
        """Return when the dead letter is durable."""


class Intake:
    """Takes the records of one worker."""

    def __init__(self, executor: Accepting, dead_letters: Parking) -> None:
        self._executor = executor
        self._dead_letters = dead_letters

    async def take(self, record: Record, done: Callable[[], None]) -> None:
        """Return when the task has a slot; `done` is called once its claim is recorded or refused."""
        try:
            task: Task = TASKS.decode(record.value)
        except BadMessage as error:
            await self._dead_letters.park(record, "bad_message", str(error))
            done()
        else:
            await self._executor.accept(task, done)
