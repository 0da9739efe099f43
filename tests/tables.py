"""The read model's tables in memory: what the store does with the changes of a batch."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from projections.postgres.batch import batch_of
from projections.postgres.fold import Current, fold
from projections.postgres.item_rows import Chunk, Lines, Stats
from projections.postgres.rows import Checkpoint, Deleted, Delivery, DeliveryKey, Job, JobKey, Transition, Visit, micros
from projections.postgres.usage import Transaction, Usage
from projections.verification.expected import exact_json
from services.runtime.ledger_log import Entry

JSON = ("destinations", "input", "metadata", "progress", "lines", "stats")


@dataclass
class Tables:
    """Every table by its key; a key that is there already refuses a second row."""

    jobs: dict[JobKey, Job] = field(default_factory=dict)
    transitions: dict[tuple[str, str, int], Transition] = field(default_factory=dict)
    visits: dict[tuple[str, str, int], Visit] = field(default_factory=dict)
    deliveries: dict[DeliveryKey, Delivery] = field(default_factory=dict)
    deleted: dict[JobKey, Deleted] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    transactions: dict[tuple[str, int], Transaction] = field(default_factory=dict)
    chunks: dict[tuple[str, str, int], Chunk] = field(default_factory=dict)
    lines: dict[tuple[str, str, int], Lines] = field(default_factory=dict)
    stats: dict[JobKey, Stats] = field(default_factory=dict)
    checkpoints: dict[int, Checkpoint] = field(default_factory=dict)

    def write(self, entries: list[Entry]) -> None:
        """Fold entries onto the tables from their checkpoints."""
        checkpoints = {entry.partition: Checkpoint(entry.partition) for entry in entries} | self.checkpoints
        batch = batch_of(checkpoints, entries)
        changes = fold(Current(self.jobs, self.deliveries, self.deleted, self.usage), batch.events)
        for key in changes.erased:
            self._erase(key)
        self.deleted |= changes.deleted
        for key, row in changes.jobs.items():
            if isinstance(row, Job):
                self.jobs[key] = row
            else:
                state = {name: getattr(row, name) for name in row.__struct_fields__}
                self.jobs[key] = msgspec.structs.replace(self.jobs[key], **state)
        for transition in changes.transitions:
            _insert(self.transitions, (transition.org_id, transition.job_id, transition.seq), transition)
        for visit in changes.visits:
            _insert(self.visits, (visit.org_id, visit.job_id, visit.seq), visit)
        self.deliveries |= changes.deliveries
        self.usage |= changes.usage
        for moved in changes.transactions:
            _insert(self.transactions, (moved.org_id, moved.position), moved)
        for chunk in changes.chunks:
            _insert(self.chunks, (chunk.org_id, chunk.job_id, chunk.chunk), chunk)
        for line in changes.lines:
            _insert(self.lines, (line.org_id, line.job_id, line.seq), line)
        self.stats |= changes.stats
        for key in changes.expired:
            if self.jobs[key].vocabulary == "spider":
                self._forget_said(key)
        kept = {(job.org_id, job.chain_id) for job in self.jobs.values() if job.expired_at is None}
        gone = changes.left - kept
        self.chunks = {key: row for key, row in self.chunks.items() if (row.org_id, row.chain_id) not in gone}
        self.checkpoints |= batch.after

    def _erase(self, job: JobKey) -> None:
        self.jobs.pop(job, None)
        self.transitions = {key: row for key, row in self.transitions.items() if key[:2] != job}
        self.visits = {key: row for key, row in self.visits.items() if key[:2] != job}
        self.deliveries = {key: row for key, row in self.deliveries.items() if key[:2] != job}
        self._forget_said(job)

    def _forget_said(self, job: JobKey) -> None:
        self.lines = {key: row for key, row in self.lines.items() if key[:2] != job}
        self.stats.pop(job, None)

    def found(self, table: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table as verification reads them from Postgres."""
        named: dict[str, dict[Any, Any]] = {
            "jobs": self.jobs,
            "job_transitions": self.transitions,
            "job_trace": self.visits,
            "extraction_deliveries": self.deliveries,
            "deleted_jobs": self.deleted,
            "item_chunks": self.chunks,
            "job_logs": self.lines,
            "job_stats": self.stats,
            "org_usage": self.usage,
            "credit_transactions": self.transactions,
        }
        for row in named[table].values():
            columns = {name: getattr(row, name) for name in row.__struct_fields__}
            columns |= {name: exact_json(columns[name]) for name in JSON if name in columns}
            yield {name: micros(value) if isinstance(value, datetime) else value for name, value in columns.items()}


def _insert(rows: dict[Any, Any], key: Any, row: Any) -> None:
    assert key not in rows, f"{key} is there already"
    rows[key] = row
