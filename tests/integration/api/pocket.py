"""A whole ledger in the pocket: the real rules and the real projection, with lists in place of Kafka."""

import threading
from collections.abc import Sequence

import msgspec

from projections.migrate import SCHEMA
from projections.postgres.batch import batch_of
from projections.postgres.store import Store
from schemas.codec import Encoder
from schemas.events import EVENT_TYPES
from services.decider.batch import Batch, BatchDecider
from services.ledger.commands import AnnounceWorker, AnyCommand, ClaimTask, Probe, ReportProgress, SettleDeliveries
from services.ledger.job import Job
from services.ledger.policy import SECOND
from services.ledger.replies import Reply
from services.ledger.reports import DeliveryResult, Extracted, ItemsReport, NodeReport, Outcome
from services.ledger.state import Ledger
from services.runtime.commander import Unasked
from services.runtime.errors import LedgerUnavailable
from services.runtime.ids import uuid7
from services.runtime.ledger_log import Entry
from services.runtime.shredding.vault import Vault
from services.runtime.time import now_micros

ENCODER = Encoder({name: number for number, name in enumerate(EVENT_TYPES, 1)})


class PocketLedger:
    """Answers commands at once; Postgres learns of what happened only when `project` is called.

    `down`: no decider answers. Each command's events are followed by a marker, as in a real transaction.
    """

    boot_id = "pocket"

    def __init__(self, partitions: int, dsn: str, credentials_key: str = "") -> None:
        self.entries: list[Entry] = []
        self.commands: list[AnyCommand] = []
        self.down = False
        self._deciders = [BatchDecider(Ledger(partition), ENCODER) for partition in range(partitions)]
        self._ends = dict.fromkeys(range(partitions), 0)
        self._projected = 0
        self._store = Store(dsn, SCHEMA, Vault(credentials_key))
        self._moved = threading.Condition()

    def close(self) -> None:
        """Leave Postgres."""
        self._store.close()

    async def tell(self, partition: int, command: AnyCommand) -> None:
        """Decide a command whose answer nobody wants."""
        self.decide(partition, command)

    async def ask(
        self,
        partition: int,
        command: AnyCommand,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Reply:
        """Decide a command and answer."""
        if self.down:
            raise LedgerUnavailable(f"no decider within {timeout} s")
        return self.decide(partition, command)

    def on_unasked(self, callback: Unasked) -> None:
        """Nobody says anything unasked here."""

    def decide(self, partition: int, command: AnyCommand) -> Reply:
        """Decide a command, append its events to the log, and return the reply."""
        if not isinstance(command, Probe):  # they come all the time
            self.commands.append(command)
        return self._decided(partition, command)

    def pass_time(self, partition: int, seconds: float) -> None:
        """Let happen on a partition what is due so many seconds from now."""
        self._deciders[partition].timers(now_micros() + int(seconds * SECOND), 1000)
        self._append(partition)

    def _decided(self, partition: int, command: AnyCommand) -> Reply:
        self._deciders[partition].command(command, len(self.commands), now_micros())
        batch = self._append(partition)
        return next(reply for reply in batch.replies if reply.command_id == command.command_id)

    def _append(self, partition: int) -> Batch:
        batch = self._deciders[partition].take()
        with self._moved:
            for event in batch.events:
                header = event.recorded.header
                offset = self._ends[partition]
                self._ends[partition] += 1
                self.entries.append(
                    Entry(event.recorded, event.stored, header.event_type, partition, offset, header.position)
                )
            self._ends[partition] += bool(batch.events)  # the marker
            self._moved.notify_all()
        return batch

    async def events(self, partition: int, positions: Sequence[int]) -> list[Entry]:
        """Return the events of these positions."""
        held = {entry.position: entry for entry in self.entries if entry.partition == partition}
        return [held[position] for position in positions]

    def end_of(self, partition: int) -> int:
        """Where the log of a partition ends, its last marker included."""
        return self._ends[partition]

    def wait_beyond(self, count: int, timeout_seconds: float) -> None:
        """Return when the log holds more than so many events, or at the timeout."""
        with self._moved:
            self._moved.wait_for(lambda: len(self.entries) > count, timeout_seconds)

    def project(self) -> None:
        """Let Postgres catch up with everything that has happened."""
        checkpoints = self._store.checkpoints(range(len(self._deciders)))
        self._store.write(batch_of(checkpoints, self.entries[self._projected :]))
        self._projected = len(self.entries)

    def rebuild(self) -> None:
        """Let an emptied read model fold the whole log once more."""
        self._projected = 0
        self.project()

    # ---- a worker and a writer, in a call each ----

    def run(self, partition: int, org_id: str, job_id: str, *nodes: NodeReport, outcome: Outcome | None = None) -> None:
        """Claim a dispatched job, report these nodes, and end the attempt so; None: it runs on."""
        whose = {"org_id": org_id, "job_id": job_id, "requester": self.boot_id, "actor": "worker:w1"}
        job = self._deciders[partition].ledger.jobs[job_id]
        me = {"worker_id": "w1", "boot_id": "w1-boot"}
        if "w1-boot" not in self._deciders[partition].ledger.workers:
            here = AnnounceWorker(
                command_id="here",
                requester=self.boot_id,
                worker_id="w1",
                boot_id="w1-boot",
                kind="workflow",
                slots=1000,
                free_slots=1000,
            )
            self._decided(partition, here)
        self.decide(partition, ClaimTask(command_id=uuid7(), dispatch=job.dispatch, **whose, **me))
        report = ReportProgress(
            command_id=uuid7(), attempt=job.attempt + 1, nodes=nodes, outcome=outcome, items=(), **whose, **me
        )
        self.decide(partition, report)

    def job(self, partition: int, job_id: str) -> Job:
        """Return a job as the ledger has it."""
        return self._deciders[partition].ledger.jobs[job_id]

    def finish(self, partition: int, org_id: str, job_id: str, outcome: Outcome) -> None:
        """End the attempt of a job that was run and runs on."""
        self.report(partition, org_id, job_id, outcome=outcome)

    def report(
        self,
        partition: int,
        org_id: str,
        job_id: str,
        *nodes: NodeReport,
        outcome: Outcome | None = None,
        items: tuple[ItemsReport, ...] = (),
    ) -> None:
        """Report more nodes, or planned items, of a job that was run and runs on."""
        attempt = self._deciders[partition].ledger.jobs[job_id].attempt
        report = ReportProgress(
            command_id=uuid7(),
            org_id=org_id,
            job_id=job_id,
            requester=self.boot_id,
            actor="worker:w1",
            attempt=attempt,
            worker_id="w1",
            boot_id="w1-boot",
            nodes=nodes,
            outcome=outcome,
            items=items,
        )
        self.decide(partition, report)

    def extract(self, partition: int, org_id: str, job_id: str, extracted: Extracted) -> None:
        """Let a job be run up to extraction_done."""
        visit = NodeReport(
            step=0,
            node_id="fetch",
            node_kind="service",
            provider="direct",
            status_code=200,
            edge="success",
            next_node_id="done",
            latency_ms=12,
            private=b"\0" + msgspec.json.encode({"finalUrl": "https://shop.example/1"}),
        )
        self.run(partition, org_id, job_id, visit, outcome=extracted)

    def ack(
        self,
        partition: int,
        org_id: str,
        job_id: str,
        destination_id: str = "internal-postgres",
        generation: int = 1,
    ) -> None:
        """Let a destination acknowledge."""
        result = DeliveryResult(
            org_id=org_id, job_id=job_id, destination_id=destination_id, generation=generation, rows=1
        )
        self.decide(
            partition,
            SettleDeliveries(command_id=uuid7(), requester=self.boot_id, actor="writer:p1", results=(result,)),
        )


class PocketFeed:
    """What one API instance reads of it; `paused` keeps it from seeing anything new."""

    def __init__(self, ledger: PocketLedger) -> None:
        self._ledger = ledger
        self._next = 0
        self.paused = False

    def poll(self, max_events: int, timeout_seconds: float) -> Sequence[Entry]:
        """Return the next events."""
        self._ledger.wait_beyond(len(self._ledger.entries) if self.paused else self._next, timeout_seconds)
        if self.paused:
            return []
        entries = self._ledger.entries[self._next : self._next + max_events]
        self._next += len(entries)
        return entries

    def next_offsets(self) -> dict[int, int]:
        """Return where reading goes on."""
        return {entry.partition: entry.next_offset for entry in self._ledger.entries[: self._next]}

    def close(self) -> None:
        """Nothing to let go of."""
