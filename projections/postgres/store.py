"""Writes batches into the read model: rows and checkpoints in one transaction.

The keys of jobs that were deleted are destroyed in it too, so that none is forgotten, and none destroyed too early;
and endpoints that the ledger has disabled are disabled in the configuration.

StoreError
├── CheckpointMoved  another process has folded further from the same checkpoint
├── RowsMoved        a row is not what this batch was folded onto
└── VersionReplaced  a rebuild has made another version, which readers follow
"""

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import psycopg
from msgspec import Struct
from psycopg import Connection, sql
from psycopg.errors import UndefinedTable
from psycopg.rows import args_row
from psycopg.types.json import set_json_dumps

from projections.postgres.batch import Batch
from projections.postgres.endpoints import disable
from projections.postgres.fold import Changes, Current, begun, fold, job_keys, sealed_jobs
from projections.postgres.item_rows import Chunk, Lines, Stats
from projections.postgres.rows import Checkpoint, Deleted, Delivery, Fire, Job, JobKey, JobState, Transition, Visit
from projections.postgres.table import Table
from projections.postgres.usage import Transaction, Usage, orgs_of
from projections.private import opener
from services.runtime.shredding.rows import destroy, keys_of
from services.runtime.shredding.vault import Vault
from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("store.sql"))
CONNECT_SECONDS = 5


class StoreError(Exception):
    """Root of the refusals of the store; nothing of the batch was written."""


class CheckpointMoved(StoreError):
    """The stored checkpoint is not the one the batch starts from."""


class RowsMoved(StoreError):
    """A row changed between load and write."""


class VersionReplaced(StoreError):
    """This version is not the one that readers follow any more."""


class Store:
    """One session on one version of the read model. `lock` before the first batch; `close` gives the lock back."""

    def __init__(self, dsn: str, schema: str, vault: Vault) -> None:
        self._vault = vault
        self._connection: Connection[Any] = psycopg.connect(
            dsn, autocommit=True, connect_timeout=CONNECT_SECONDS, application_name=f"jobledger projection {schema}"
        )
        try:
            self._prepare(schema)
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self, schema: str) -> None:
        connection = self._connection
        connection.execute(sql.SQL("SET search_path TO {}, pg_temp").format(sql.Identifier(schema)))
        connection.execute("SET TimeZone TO 'UTC'")
        # Every statement looks rows up by key: staging tables have no statistics, and without these two lines the
        # planner may read all of `jobs` to join a hundred rows of theirs.
        connection.execute("SET enable_hashjoin TO off")
        connection.execute("SET enable_mergejoin TO off")
        set_json_dumps(msgspec.json.encode, connection)
        connection.execute(SQL["make_staging"])
        self._new_jobs = Table(connection, "jobs", Job)
        self._changed_jobs = Table(connection, "incoming_jobs", JobState)
        self._transitions = Table(connection, "job_transitions", Transition)
        self._visits = Table(connection, "job_trace", Visit)
        self._fires = Table(connection, "schedule_fires", Fire)
        self._chunks = Table(connection, "item_chunks", Chunk)
        self._lines = Table(connection, "job_logs", Lines)
        self._stats = Table(connection, "job_stats", Stats)
        self._transactions = Table(connection, "credit_transactions", Transaction)
        self._deliveries = Table(connection, "incoming_deliveries", Delivery)

    def close(self) -> None:
        """End the session."""
        self._connection.close()

    def lock(self) -> bool:
        """Try to become the only writer of this version, until this session ends."""
        row = self._connection.execute(SQL["lock"]).fetchone()
        assert row is not None
        return bool(row[0])

    def check_active(self) -> None:
        """Raise VersionReplaced where readers follow another version."""
        if self._connection.execute(SQL["is_active"]).fetchone() != (True,):
            raise VersionReplaced("readers follow another version: open everything again")

    def checkpoints(self, partitions: Iterable[int]) -> dict[int, Checkpoint]:
        """Return the checkpoint of each of these partitions, beginning those that have none."""
        wanted = list(partitions)
        self._connection.execute(SQL["begin_partitions"], (wanted,))
        with self._connection.cursor(binary=True, row_factory=args_row(Checkpoint)) as cursor:
            stored = {checkpoint.partition: checkpoint for checkpoint in cursor.execute(SQL["load_checkpoints"])}
        return {partition: stored[partition] for partition in wanted}

    def write(self, batch: Batch) -> None:
        """Fold a batch onto its rows and move the checkpoints, all or nothing."""
        if not batch.after:
            return
        try:
            self._write_batch(batch)
        except UndefinedTable as error:  # the schema has another name now
            self.check_active()
            raise VersionReplaced("the tables of this version are gone") from error

    def _write_batch(self, batch: Batch) -> None:
        with self._connection.transaction():
            current = replace(
                self._load(job_keys(batch.events), begun(batch.events)), usage=self._load_usage(orgs_of(batch.events))
            )
            keys = keys_of(self._connection, self._vault, sealed_jobs(batch.events))
            changes = fold(current, batch.events, opener(keys))
            self._save(changes)
            self._move(batch)

    def _load(self, keys: set[JobKey], new: set[JobKey]) -> Current:
        """Load the rows of jobs; of those that have none and are not new, what stayed when they were deleted."""
        if not keys:
            return Current()
        arguments = _columns(keys)
        with closing(self._connection.cursor(binary=True, row_factory=args_row(JobState))) as cursor:
            jobs = {(job.org_id, job.job_id): job for job in cursor.execute(SQL["load_jobs"], arguments)}
        deleted = self._load_deleted(keys - jobs.keys() - new)
        if not jobs:
            return Current(deleted=deleted)
        with closing(self._connection.cursor(binary=True, row_factory=args_row(Delivery))) as cursor:
            deliveries = {
                (delivery.org_id, delivery.job_id, delivery.destination_id, delivery.generation): delivery
                for delivery in cursor.execute(SQL["load_deliveries"], arguments)
            }
        return Current(jobs, deliveries, deleted)

    def _load_deleted(self, keys: set[JobKey]) -> dict[JobKey, Deleted]:
        if not keys:
            return {}
        with closing(self._connection.cursor(binary=True, row_factory=args_row(Deleted))) as cursor:
            return {(row.org_id, row.job_id): row for row in cursor.execute(SQL["load_deleted"], _columns(keys))}

    def _load_usage(self, orgs: set[str]) -> dict[str, Usage]:
        if not orgs:
            return {}
        with closing(self._connection.cursor(binary=True, row_factory=args_row(Usage))) as cursor:
            return {row.org_id: row for row in cursor.execute(SQL["load_usage"], (list(orgs),))}

    def _save(self, changes: Changes) -> None:
        new = [job for job in changes.jobs.values() if isinstance(job, Job)]
        changed = [job for job in changes.jobs.values() if not isinstance(job, Job)]
        deliveries = list(changes.deliveries.values())
        if changes.erased:
            self._connection.execute(SQL["erase_jobs"], _columns(changes.erased))
        self._change_beside(changes)
        self._upsert("upsert_deleted", Deleted, [changes.deleted[key] for key in sorted(changes.deleted)])
        self._upsert("upsert_usage", Usage, [changes.usage[org_id] for org_id in sorted(changes.usage)])
        # What is written once goes straight to its table: checkpoint and seq have kept out every repetition, and a
        # row that is there all the same was not written by us, so the key's refusal is the right answer.
        self._new_jobs.append(new)
        self._transitions.append(changes.transitions)
        self._visits.append(changes.visits)
        self._fires.append(list(changes.fires.values()))
        self._transactions.append(changes.transactions)
        self._chunks.append(changes.chunks)
        self._lines.append(changes.lines)
        if changes.stats:  # the newest take the place of those before
            self._connection.execute(SQL["leave_stats"], _columns(changes.stats))
        self._stats.append(list(changes.stats.values()))
        self._changed_jobs.append(changed)
        self._deliveries.append(deliveries)
        self._write("update_jobs", len(changed))
        self._write("upsert_deliveries", len(deliveries))
        if changes.left:  # last, when every row of the batch is there
            self._connection.execute(SQL["leave_chains"], _columns(changes.left))
        if changes.expired:
            self._connection.execute(SQL["expire_spiders"], _columns(changes.expired))

    def _change_beside(self, changes: Changes) -> None:
        """Change what belongs to no version: the keys of erased jobs, endpoints that the ledger has disabled."""
        if changes.erased:
            destroy(self._connection, changes.erased)
        if changes.disabled:
            disable(self._connection, changes.disabled)

    def _upsert(self, name: str, of: type[Struct], rows: Sequence[Struct]) -> None:
        """Write sorted rows by one statement that takes columns: every process locks rows in one order."""
        columns = {column: [getattr(row, column) for row in rows] for column in of.__struct_fields__}
        self._write(name, len(rows), columns)

    def _write(self, name: str, rows: int, columns: dict[str, list[Any]] | None = None) -> None:
        """Write rows, those of a staging table or these columns, by one statement."""
        if rows and (written := self._connection.execute(SQL[name], columns).rowcount) != rows:
            raise RowsMoved(f"{name} wrote {written} of {rows} rows: somebody else changes the read model")

    def _move(self, batch: Batch) -> None:
        before, after = batch.before, list(batch.after.values())
        moved = self._connection.execute(
            SQL["move_checkpoints"],
            (
                [checkpoint.partition for checkpoint in after],
                [before[checkpoint.partition].position for checkpoint in after],
                [checkpoint.position for checkpoint in after],
                [checkpoint.next_offset for checkpoint in after],
                [checkpoint.occurred_at for checkpoint in after],
                [checkpoint.cause for checkpoint in after],
            ),
        ).rowcount
        if moved != len(after):
            raise CheckpointMoved(f"{len(after) - moved} of {len(after)} checkpoints moved under this projection")
        news = " ".join(f"{checkpoint.partition}:{checkpoint.position}" for checkpoint in after)
        self._connection.execute(SQL["tell_readers"], (news,))


def _columns(keys: Iterable[JobKey]) -> tuple[list[str], list[str]]:
    """Return keys as two arrays, sorted: whoever locks rows by them locks them in the same order as anybody else."""
    listed = sorted(keys)
    return [org for org, _ in listed], [job for _, job in listed]
