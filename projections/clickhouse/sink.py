"""Puts events into ClickHouse, each exactly once.

What an insert takes is noted in Postgres before it is made. Whoever finds such a note makes exactly that insert again,
under the same token, before anything else: if it had been made, ClickHouse drops it.
"""

import time
import uuid
from collections.abc import Mapping, Sequence

from clickhouse_connect.driver.client import Client

from projections.clickhouse.books import Books
from projections.clickhouse.erasure import erase
from projections.clickhouse.gathering import worth_an_insert
from projections.clickhouse.insertion import Insertion
from projections.clickhouse.keeping import keep
from projections.clickhouse.migrate import SCHEMA, migrate_tables
from projections.clickhouse.plan import Plan, plan_of, split
from services.runtime.clickhouse import connect
from services.runtime.errors import RuntimeFault
from services.runtime.metrics import count
from services.runtime.raw_log import Checkpoint, RawEntry
from services.runtime.settings import Settings
from services.runtime.topics import events

READER = "clickhouse"
# A process that was stopped for longer between plan and insert may have lost its lock meanwhile: it opens everything
# again. ClickHouse remembers tokens far longer (10,000 inserts).
PLAN_SECONDS = 20.0
FOLDED = "SELECT partition, max(position) FROM job_events GROUP BY partition"
# States are asked for as well: an update may find positions of stages nowhere, their events being long forgotten.
EVER_INSERTED = "SELECT (SELECT count() FROM stage_positions) + (SELECT count() FROM job_states) > 0"


class NotTheSame(RuntimeFault):
    """ClickHouse and the bookkeeping tell of different logs or different positions."""


class PlanTooOld(Exception):
    """Too much time passed between plan and insert: open everything again."""


class ClickHouseSink:
    """The projection's hold on ClickHouse and its bookkeeping, the schema of a version. `lock` before anything else."""

    def __init__(self, settings: Settings, schema: str = SCHEMA, reader: str = READER) -> None:
        self._reader = reader
        self._books = Books(settings.postgres, schema)
        try:
            migrate_tables(settings)
            self._client: Client = connect(settings.clickhouse)
            keep(self._client, settings.clickhouse_keep_days)
        except BaseException:
            self._books.close()
            raise
        self._forgets = settings.clickhouse_keep_days > 0
        self._insertion = Insertion(self._client, settings.registry, events(settings))
        self._checkpoints: dict[int, Checkpoint] = {}
        self._plan: Plan | None = None
        self._waiting: list[RawEntry] = []
        self._waits_since = 0.0

    def lock(self) -> bool:
        """Try to become the only writer."""
        return self._books.lock()

    def checkpoints(self, partitions: range) -> dict[int, Checkpoint]:
        """Return where to go on in each partition; from there on comes what may have been inserted already."""
        self._checkpoints = self._books.checkpoints(partitions)
        self._plan = self._books.planned()
        self._compare()
        return dict(self._checkpoints)

    def write(self, entries: Sequence[RawEntry]) -> Mapping[int, Checkpoint]:
        """Insert what came; return the checkpoints that moved, none while a planned insert is not complete yet.

        Signs of life alone wait a little for more: an insert of one costs as much as one of many.
        """
        if not self._waiting:
            self._waits_since = time.monotonic()
        self._waiting += entries
        if self._plan is None and not worth_an_insert(self._waiting, time.monotonic() - self._waits_since):
            return {}
        moved: dict[int, Checkpoint] = {}
        while self._waiting:
            planned = time.monotonic()
            plan = self._plan or self._noted(plan_of(uuid.uuid4().hex, self._checkpoints, self._waiting))
            taken, others = split(plan, self._waiting)
            if len(taken) < plan.size:
                break
            if time.monotonic() - planned > PLAN_SECONDS:
                raise PlanTooOld(f"this process stood still for more than {PLAN_SECONDS:g} s")
            self._insertion.insert(taken, plan.token)
            erase(self._client, taken)
            self._books.done(plan)
            self._plan, self._waiting = None, others
            moved |= {partition: each.end for partition, each in plan.ranges.items()}
            self._checkpoints |= moved
            count("events_folded", len(taken), reader=self._reader, event_type="all")
        return moved

    def close(self) -> None:
        """Let go of both."""
        self._client.close()
        self._books.close()

    def _noted(self, plan: Plan) -> Plan:
        self._books.plan(plan)
        self._plan = plan
        return plan

    def _compare(self) -> None:
        """Stop where ClickHouse lacks what the bookkeeping says it has, or holds what nobody planned."""
        held = dict(map(tuple, self._client.query(FOLDED).result_rows))
        forgotten = self._forgets and bool(self._client.command(EVER_INSERTED))
        for partition, checkpoint in self._checkpoints.items():
            planned = self._plan.ranges.get(partition) if self._plan else None
            found, last = held.get(partition, 0), planned.end.position if planned else checkpoint.position
            least = 0 if forgotten else checkpoint.position
            if not least <= found <= last:
                raise NotTheSame(
                    f"partition {partition}: ClickHouse holds events up to position {found}, the bookkeeping says "
                    f"{checkpoint.position}: docs/clickhouse.md says how to begin anew"
                )
