"""One partition of the ledger: commands in, one transaction a batch out, replies after the commit."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from schemas.codec import Decoder
from schemas.events import AnyEvent, JobsArchived, PositionMarked, WorkerAlive, WriterOpened
from services.decider.alarms import raise_alarms
from services.decider.archive import Archive, ArchiveAway, NoArchive
from services.decider.batch import Batch, BatchDecider, Encodes
from services.decider.gate_ages import GateAges
from services.decider.inbox import Inbox
from services.decider.leases import Hearing, LeaseClock
from services.decider.outgoing import reply_of, transaction_of
from services.decider.permits import Permits
from services.decider.restore import restore
from services.decider.spans import tell_decided
from services.ledger.archive import absent, archivable
from services.ledger.commands import AnyCommand
from services.ledger.job import Job
from services.ledger.policy import HOUR, Policy
from services.ledger.replies import Refused, Reply
from services.runtime import topics, tracing
from services.runtime.dead_letter import Park
from services.runtime.ends import Ends
from services.runtime.errors import BrokerFault, DeadLetterLimit
from services.runtime.metrics import count, timed
from services.runtime.producer import Producer
from services.runtime.settings import Settings
from services.runtime.transactions import PartitionTransactions

log = logging.getLogger(__name__)
COMMANDS_PER_BATCH = 1000
TIMERS_PER_BATCH = 2000  # more than commands lead to, so that a crowd of waits that end together is soon through
IDLE_WAIT_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Tools:
    """What every partition of a decider process shares."""

    settings: Settings
    policy: Policy
    encoder: Encodes
    decoder: Decoder
    producer: Producer  # of replies
    park: Park
    ends: Ends  # of the topic of commands
    boot_id: str
    clock: Callable[[], int]  # microseconds UTC
    permits: Permits = field(default_factory=Permits)
    archive: Callable[[int], Archive] = field(default=lambda _partition: NoArchive())  # of a partition


def open_partition(tools: Tools, partition: int) -> "PartitionDecider":
    """Become the only writer of a partition, read it back, and say so in the log."""
    settings = tools.settings
    transactions = PartitionTransactions(settings, partition)
    transactions.open()
    fence = transactions.fence(topics.events(settings), partition)
    ledger = restore(settings, partition, tools.decoder, tools.policy, fence)
    inbox = Inbox(settings, partition, ledger, tools.park, tools.ends)
    decider = PartitionDecider(tools, transactions, BatchDecider(ledger, tools.encoder), inbox)
    decider.say(WriterOpened(writer_id=tools.boot_id))
    return decider


class PartitionDecider:
    """Decides one partition. Not safe for use from two threads; after any error the process has to end."""

    def __init__(self, tools: Tools, transactions: PartitionTransactions, decider: BatchDecider, inbox: Inbox) -> None:
        self.ledger = decider.ledger
        self._settings, self._producer, self._clock = tools.settings, tools.producer, tools.clock
        self._transactions, self._decider, self._inbox = transactions, decider, inbox
        # A ledger that another machine's clock left in the future goes on from there: waits are counted from its time.
        self._ahead = max(0, self.ledger.occurred_at - self._clock())
        self._permits = tools.permits
        self._leases = LeaseClock(tools.policy, self._now())
        self._archive = tools.archive(decider.ledger.partition)
        self._gate = GateAges(self.ledger.jobs.values())
        self._hearing = Hearing(tools.policy, inbox.end, lambda: inbox.next_offset)

    @property
    def position(self) -> int:
        """Position of the newest committed event."""
        return self.ledger.position

    @property
    def next_command(self) -> int:
        """Offset of the next command to decide."""
        return self._inbox.next_offset

    @property
    def live_jobs(self) -> int:
        """How many jobs are in memory and have not ended."""
        return len(self.ledger.jobs) - len(self.ledger.ended)

    @property
    def gate_age(self) -> float:
        """For how many seconds the job that waits longest at its gate has waited; 0 where none does."""
        return self._gate.oldest_seconds(self._now())

    def step(self) -> int:
        """Wait for commands, decide and commit what has come in and what is due; return the number of commands."""
        self._inbox.wait(COMMANDS_PER_BATCH, IDLE_WAIT_SECONDS)
        with self._permits.taken():
            return self._decide_all()

    def _decide_all(self) -> int:
        decided = 0
        try:
            for offset, command in self._inbox.poll(COMMANDS_PER_BATCH):
                self._decide(command, offset)
                decided += 1
        except DeadLetterLimit:
            self._mark_position(self._now())  # what was parked is not parked again by the next run
            self._commit(self._decider.take())
            raise
        now = self._now()
        self._decider.timers(now, TIMERS_PER_BATCH)
        self._expire_leases(now)
        self._mark_position(now)
        self._archive_ended(now)
        self._commit(self._decider.take())
        self._reply(self._inbox.take_refused())
        return decided

    def _tell_refused(self, command: AnyCommand, offset: int, refused: Refused) -> None:
        log.info(
            "command refused",
            extra={
                "command": type(command).__name__,
                "code": refused.code,
                "org_id": command.org_id,
                "job_id": command.job_id,
                "request_id": command.correlation_id,
                "actor": command.actor,
                "partition": self.ledger.partition,
                "position": self.ledger.position,
                "offset": offset,
            },
        )

    def say(self, event: AnyEvent) -> None:
        """Record an event of the decider itself."""
        self._decider.say(event, self._now())
        self._commit(self._decider.take())

    def close(self) -> None:
        """Let go of the partition; what is committed stays, and there is nothing else."""
        self._inbox.close()
        self._transactions.close()

    def _now(self) -> int:
        return self._clock() + self._ahead

    def _decide(self, command: AnyCommand, offset: int) -> None:
        """Decide a command; one about a job that left memory and cannot be looked up now is turned away."""
        try:
            archived = self._archived(command)
        except ArchiveAway as away:
            reason = "archive_unavailable"
            if command.requester:
                self._decider.refuse(command, Refused(code=reason, message=f"{away}; ask again later"))
            else:
                self._inbox.turn_away(reason, str(away))
        else:
            refused = self._decider.command(command, offset, self._now(), archived)
            if refused:
                self._tell_refused(command, offset, refused)

    def _archived(self, command: AnyCommand) -> list[Job]:
        known_up_to = self.ledger.archived_up_to
        loaded = (self._archive.load(org_id, job_id, known_up_to) for org_id, job_id in absent(self.ledger, command))
        return [job for job in loaded if job is not None]

    def _archive_ended(self, now: int) -> None:
        up_to = archivable(self.ledger, self._archive.position())
        if up_to:
            self._decider.say(JobsArchived(up_to=up_to), now)

    def _commit(self, batch: Batch) -> None:
        if batch.events:
            began, started = tracing.clock(), time.monotonic()
            self._transactions.write(transaction_of(batch, self._settings))
            timed("transaction_seconds", time.monotonic() - started, partition=str(self.ledger.partition))
            count("events_recorded", len(batch.events), partition=str(self.ledger.partition))
            committed = [stored.recorded for stored in batch.events]
            raise_alarms(committed)
            self._gate.committed(committed)
            if tracing.on():
                tell_decided(self.ledger.jobs, committed, began)
        self._reply(batch.replies)

    def _reply(self, replies: Sequence[Reply]) -> None:
        for reply in replies:
            record = reply_of(reply, self._settings)
            self._producer.produce(record.topic, record.partition, record.key, record.value)

    def _expire_leases(self, now: int) -> None:
        """Declare workers lost that were silent although they could be heard: up to and with what was just read."""
        if not self.ledger.workers:
            return
        try:
            self._leases.advance(self._hearing.until(now))
        except BrokerFault:
            self._leases.restart(now)
            return
        for event in self._decider.decided():
            if isinstance(event, WorkerAlive):
                self._leases.heard(event.boot_id)
        self._decider.lost_workers(self._leases.silent(self.ledger.workers), now)

    def _mark_position(self, now: int) -> None:
        """Record how far commands without events were decided: once an hour, and when some were parked."""
        moved = self._inbox.next_offset > self.ledger.cause + 1
        if moved and (self._inbox.parked or now - self.ledger.occurred_at > HOUR):
            self._decider.say(PositionMarked(next_command=self._inbox.next_offset), now)
        self._inbox.parked = 0
