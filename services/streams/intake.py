"""From a record to a message that is used, or to a dead letter."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Generic, Protocol, TypeVar

from services.ledger.wire import BadMessage, Codec
from services.runtime.reader import Record
from services.runtime.settings import Settings
from services.runtime.topics import spread_partition
from services.streams.acks import Done

T = TypeVar("T")


class Parking(Protocol):
    """Keeps what cannot be used; `services.runtime.dead_letter.DeadLetters` does."""

    async def park(self, record: Record, reason: str, detail: str = "") -> None:
        """Return when the dead letter is durable."""


class Intake(Generic[T]):
    """Takes the records of one topic; `use` gets each message, and what to call once the message is taken care of.

    `fault` says why a message, although it is one, does not belong where it lies.
    """

    def __init__(
        self,
        codec: Codec[T],
        use: Callable[[T, Done], Awaitable[None]],
        dead_letters: Parking,
        fault: Callable[[T, Record], str | None],
    ) -> None:
        self._codec = codec
        self._use = use
        self._dead_letters = dead_letters
        self._fault = fault

    async def take(self, record: Record, done: Done) -> None:
        """Return when there is room for the next record."""
        try:
            message = self._codec.decode(record.value)
        except BadMessage as error:
            await self._park(record, "bad_message", str(error), done)
            return
        fault = self._fault(message, record)
        if fault is None:
            await self._use(message, done)
        else:
            await self._park(record, "foreign_org", fault, done)

    async def _park(self, record: Record, reason: str, detail: str, done: Done) -> None:
        await self._dead_letters.park(record, reason, detail)
        done()


def misplaced(record: Record, settings: Settings, org_id: str, jobs: Iterable[tuple[int, str]]) -> str | None:
    """Say why a record is not where the decider of its org would have put it; `jobs`: ledger partition and id of each.

    What came of it could not be told, or would be told to a decider that has no such org.
    """
    if record.key != org_id:
        return f"of org {org_id}, under the key of another"
    for partition, job_id in jobs:
        if not 0 <= partition < settings.partitions:
            return f"partition {partition} of {settings.partitions}"
        if spread_partition(partition, job_id, settings.task_spread) != record.partition:
            return f"job {job_id} of partition {partition} does not belong here"
    return None
