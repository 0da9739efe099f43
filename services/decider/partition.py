"""One partition of the ledger: commands in, one transaction a batch out, replies after the commit."""

from collections.abc import Callable, Sequence

from schemas.codec import Decoder
from schemas.events import PositionMarked, WorkerAlive, WriterOpened
from services.decider.batch import Batch, BatchDecider, Encodes
from services.decider.inbox import Inbox, Park
from services.decider.leases import LeaseClock
from services.decider.outgoing import reply_of, transaction_of
from services.decider.restore import restore
from services.ledger.messages import Reply
from services.ledger.policy import HOUR, Policy
from services.runtime import topics
from services.runtime.errors import BrokerFault
from services.runtime.producer import Producer
from services.runtime.settings import Settings
from services.runtime.transactions import PartitionTransactions

COMMANDS_PER_BATCH = 1000
TIMERS_PER_BATCH = 500
IDLE_WAIT_SECONDS = 0.1


class PartitionDecider:
    """Owns one partition from `open` on. Not safe for use from two threads; any error ends the process."""

    def __init__(
        self,
        settings: Settings,
        partition: int,
        *,
        policy: Policy,
        encoder: Encodes,
        decoder: Decoder,
        producer: Producer,
        park: Park,
        boot_id: str,
        clock: Callable[[], int],
    ) -> None:
        self._settings, self._partition, self._policy = settings, partition, policy
        self._encoder, self._decoder = encoder, decoder
        self._producer, self._park, self._boot_id, self._clock = producer, park, boot_id, clock
        self._transactions = PartitionTransactions(settings, partition)

    def open(self) -> None:
        """Become the only writer, read the partition back, and say so in the log."""
        self._transactions.open()
        fence = self._transactions.fence(topics.events(self._settings), self._partition)
        ledger = restore(self._settings, self._partition, self._decoder, self._policy, fence)
        self._decider = BatchDecider(ledger, self._encoder)
        self._leases = LeaseClock(self._policy, self._clock())
        self._decider.say(WriterOpened(writer_id=self._boot_id), self._clock())
        self._commit(self._decider.take())
        self._inbox = Inbox(self._settings, self._partition, ledger, self._park)

    @property
    def position(self) -> int:
        """Position of the newest committed event."""
        return self._decider.ledger.position

    @property
    def live_jobs(self) -> int:
        """How many jobs are in memory and have not ended."""
        return len(self._decider.ledger.jobs) - len(self._decider.ledger.ended)

    def step(self) -> int:
        """Decide and commit what has come in and what is due; return the number of commands."""
        decided = 0
        for offset, command in self._inbox.poll(COMMANDS_PER_BATCH, IDLE_WAIT_SECONDS):
            self._decider.command(command, offset, self._clock())
            decided += 1
        now = self._clock()
        self._decider.timers(now, TIMERS_PER_BATCH)
        self._expire_leases(now)
        self._mark_position(now)
        batch = self._decider.take()
        self._commit(batch)
        self._hear(batch)
        return decided

    def close(self) -> None:
        """Stop reading commands."""
        self._inbox.close()

    def _commit(self, batch: Batch) -> None:
        if batch.events:
            self._transactions.write(transaction_of(batch, self._settings))
        self._reply(batch.replies)

    def _reply(self, replies: Sequence[Reply]) -> None:
        for reply in replies:
            record = reply_of(reply, self._settings)
            self._producer.produce(record.topic, record.partition, record.key, record.value)

    def _hear(self, batch: Batch) -> None:
        for stored in batch.events:
            if isinstance(stored.recorded.event, WorkerAlive):
                self._leases.heard(stored.recorded.event.boot_id)

    def _expire_leases(self, now: int) -> None:
        """Declare workers lost, but never while their signs of life may wait unread in front of us."""
        self._leases.advance(now)
        silent = self._leases.silent(self._decider.ledger.workers)
        if not silent:
            return
        try:
            drained = self._inbox.drained()
        except BrokerFault:
            self._leases.restart()
            return
        if drained:
            self._decider.lost_workers(silent, now)

    def _mark_position(self, now: int) -> None:
        """Once an hour, record how far commands without events were decided."""
        ledger = self._decider.ledger
        if self._inbox.next_offset > ledger.cause + 1 and now - ledger.occurred_at > HOUR:
            self._decider.say(PositionMarked(next_command=self._inbox.next_offset), now)
