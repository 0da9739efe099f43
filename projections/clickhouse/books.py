"""The bookkeeping of the ClickHouse projection, in Postgres: checkpoints, and the insert that is under way."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection, sql

from projections.clickhouse.migrate import migrate
from projections.clickhouse.plan import Plan, Range
from services.runtime.raw_log import Checkpoint
from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("bookkeeping.sql"))
CONNECT_SECONDS = 5


class BooksMoved(Exception):
    """Another process has gone on from the same checkpoint: nothing was written; open everything again."""


class Books:
    """One session; `lock` before the first plan; `close` gives the lock back."""

    def __init__(self, dsn: str, schema: str) -> None:
        migrate(dsn, schema)
        self._connection: Connection[Any] = psycopg.connect(
            dsn, autocommit=True, connect_timeout=CONNECT_SECONDS, application_name=f"jobledger projection {schema}"
        )
        self._connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(schema)))

    def close(self) -> None:
        """End the session."""
        self._connection.close()

    def lock(self) -> bool:
        """Try to become the only writer, until this session ends."""
        row = self._connection.execute(SQL["lock"]).fetchone()
        assert row is not None
        return bool(row[0])

    def checkpoints(self, partitions: Iterable[int]) -> dict[int, Checkpoint]:
        """Return the checkpoint of each of these partitions, beginning those that have none."""
        wanted = list(partitions)
        self._connection.execute(SQL["begin_partitions"], (wanted,))
        rows = self._connection.execute(SQL["load_checkpoints"]).fetchall()
        stored = {partition: Checkpoint(position, next_offset) for partition, position, next_offset in rows}
        return {partition: stored[partition] for partition in wanted}

    def planned(self) -> Plan | None:
        """Return the insert of which nobody knows whether it was made, or None."""
        rows = self._connection.execute(SQL["load_plan"]).fetchall()
        if not rows:
            return None
        ranges = {
            partition: Range(Checkpoint(from_position, from_offset), Checkpoint(to_position, to_offset))
            for _, partition, from_position, from_offset, to_position, to_offset in rows
        }
        return Plan(rows[0][0], ranges)

    def plan(self, plan: Plan) -> None:
        """Note an insert that is about to be made."""
        ranges = list(plan.ranges.values())
        noted = self._connection.execute(
            SQL["plan"],
            (
                plan.token,
                list(plan.ranges),
                [each.start.position for each in ranges],
                [each.end.position for each in ranges],
                [each.end.next_offset for each in ranges],
            ),
        ).rowcount
        if noted != len(ranges):
            raise BooksMoved(f"{len(ranges) - noted} of {len(ranges)} checkpoints moved under this projection")

    def done(self, plan: Plan) -> None:
        """Note that the insert was made: its checkpoints move, and the plan goes."""
        with self._connection.transaction():
            moved = self._connection.execute(SQL["move_checkpoints"], (plan.token,)).rowcount
            if moved != len(plan.ranges):
                raise BooksMoved(f"{len(plan.ranges) - moved} of {len(plan.ranges)} checkpoints moved meanwhile")
            self._connection.execute(SQL["forget_plan"], (plan.token,))
