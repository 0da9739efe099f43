"""Rebuilds the read model in ClickHouse into a database of its own while the one in use goes on, and switches.

1. Insert the log into the new database, up to where the version in use is, again until little is missing.
2. Compare the events up to a position; then keep the version in use from moving for a moment, insert the few events
   that are missing, and compare the rest, at one position.
3. Still in that moment, exchange the tables of the two databases one by one. They hold the same, so it does not matter
   who reads between two exchanges, nor whether the last ones ever happen. Views and rights are by name, and stay.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import Any

from clickhouse_connect.driver.client import Client
from msgspec.structs import replace
from psycopg import Connection

from projections.clickhouse.gathering import MOST_EVENTS, GatheringLog
from projections.clickhouse.keeping import kept_since
from projections.clickhouse.migrate import migrate_tables
from projections.clickhouse.sink import ClickHouseSink
from projections.migrate import migrate
from projections.rebuild.building import Builder, Positions, Progress
from projections.rebuild.claim import claimed
from projections.rebuild.difference import Difference
from projections.rebuild.digest import Digest, whole
from projections.rebuild.faults import AnotherRebuild, CannotCatchUp, NoSuchPosition
from projections.rebuild.house_digest import (
    AFTER,
    EVENTS,
    UP_TO,
    Table,
    difference_of,
    digest_of,
    of_events,
    of_jobs,
    tables_of,
)
from projections.rebuild.houses import BOOKS, UNTIL, Houses
from projections.rebuild.outcome import Rebuilt
from schemas.codec import Decoder
from services.runtime.clickhouse import connect, quoted
from services.runtime.raw_log import Checkpoint, RawLog
from services.runtime.settings import Settings
from services.runtime.strangers import by_checksum, noting

READER = "rebuild"
NAME = "clickhouse"
NEAR_EVENTS = 20_000  # that may be missing when the switch is tried
ROUNDS = 200  # of catching up, each of what came during the one before
TRIES = 100  # of the switch: an insert may be under way
PAUSE_SECONDS = 0.2  # between two of them
ERASE = "DELETE FROM {table} WHERE (org_id, job_id) IN (SELECT org_id, job_id FROM {used}.deleted_jobs){but}"


@dataclass(frozen=True, slots=True)
class ClickHouseRebuild:
    """Rebuilds of one ledger; each method opens its sessions and closes them again."""

    settings: Settings
    decoder: Decoder
    progress: Progress

    def rebuild(self, *, anew: bool = False, accept_differences: bool = False, drop_old: bool = False) -> Rebuilt:
        """Build a new version and switch to it, unless it differs and that is not accepted."""
        with self._alone() as (session, client, houses):
            new = self._begun(houses, anew=anew)
            with self._builder(houses, new) as builder:
                self._catch_up(builder, houses)
                tables = tables_of(client, houses.database(new))
                compared = self._compare_events(builder, houses, client, new, tables)
                if compared.difference and not accept_differences:
                    return compared
                rebuilt = self._switch(session, client, builder, houses, new, tables, compared, accept_differences)
            if drop_old and rebuilt.switched:
                self._drop(houses)
            return rebuilt

    def until(self, wanted: Positions) -> Rebuilt:
        """Build a version up to these positions, the other partitions as far as the version in use has them."""
        with self._alone() as (_, client, houses):
            held = houses.positions()
            for partition, position in wanted.items():
                if not 0 <= position <= held.get(partition, 0):
                    raise NoSuchPosition(
                        f"{partition}:{position}: the version in use has 0 to {held.get(partition, 0)}"
                    )
            houses.drop(UNTIL)
            with self._builder(houses, UNTIL) as builder:
                builder.build_up_to({**held, **wanted})
                positions = builder.positions()
            database = houses.database(UNTIL)
            for table, but in ((EVENTS, " AND event_type != 'JobDeleted'"), ("job_states", "")):
                there = f"{quoted(database)}.{table}"
                client.command(ERASE.format(table=there, used=quoted(houses.used), but=but))
            digest = digest_of(client, database, [of_jobs(each, houses.used) for each in tables_of(client, database)])
            return _rebuilt(database, positions, digest, Difference())

    def drop_old(self) -> list[str]:
        """Drop every version that was replaced, and the one to look at; return their names."""
        with self._alone() as (_, _, houses):
            return self._drop(houses)

    def _drop(self, houses: Houses) -> list[str]:
        names = houses.replaced()
        for version in [*names, UNTIL]:
            houses.drop(version)
        return [houses.database(version) for version in names]

    @contextmanager
    def _alone(self) -> Iterator[tuple[Connection[Any], Client, Houses]]:
        """Open what a rebuild needs; nobody else rebuilds at the same time."""
        migrate(self.settings.postgres)
        with ExitStack() as stack:
            session = stack.enter_context(claimed(self.settings.postgres, NAME))
            url, patience = self.settings.clickhouse, self.settings.clickhouse_migration_seconds
            client = stack.enter_context(closing(connect(url, patience)))
            if session.execute(BOOKS["has_books"]).fetchone() != (True,):
                raise NoSuchPosition(
                    "nothing was projected into ClickHouse yet: start `python -m projections.clickhouse`"
                )
            migrate_tables(self.settings)
            yield session, client, Houses(self.settings, session, client)

    def _begun(self, houses: Houses, *, anew: bool) -> str:
        """Return the version to build: the one that was left unfinished, or a new one."""
        half_built = houses.half_built()
        if half_built and not anew and houses.is_of_this_code(half_built):
            self.progress.tell(
                f"going on with {houses.database(half_built)}, which an earlier rebuild has left unfinished"
            )
            return half_built
        if half_built:
            self.progress.tell(
                f"{houses.database(half_built)}, which an earlier rebuild has left unfinished, is dropped"
            )
            houses.drop(half_built)
        return houses.next()

    @contextmanager
    def _builder(self, houses: Houses, version: str) -> Iterator[Builder]:
        partitions = range(self.settings.partitions)
        with closing(ClickHouseSink(houses.settings(version), f"clickhouse_{version}", READER)) as sink:
            if not sink.lock():
                raise AnotherRebuild(f"another process writes {houses.database(version)}")
            yield Builder(sink, self._open_log, partitions, self.progress, MOST_EVENTS)

    def _open_log(self, starts: Mapping[int, Checkpoint]) -> GatheringLog:
        return GatheringLog(RawLog(self.settings, by_checksum(self.decoder.claim), noting(READER), starts))

    def _catch_up(self, builder: Builder, houses: Houses) -> None:
        for _ in range(ROUNDS):
            targets = houses.positions()
            if builder.missing(targets) <= NEAR_EVENTS:
                return
            self.progress.tell(f"{builder.missing(targets)} events to insert up to where {houses.used} is")
            builder.build_up_to(targets)
        raise CannotCatchUp(
            f"{houses.used} moves on as fast as it can be rebuilt: try again when there is less traffic"
        )

    def _compare_events(
        self, builder: Builder, houses: Houses, client: Client, new: str, tables: list[Table]
    ) -> Rebuilt:
        """Compare the events up to where the version in use is now, while it goes on."""
        builder.build_up_to(houses.positions())
        positions, database = builder.positions(), houses.database(new)
        self.progress.tell(f"comparing {database} with {houses.used}")
        since = kept_since(self.settings)
        events = [of_events(each, houses.used, UP_TO, positions, since) for each in tables if each.name == EVENTS]
        digest, difference = difference_of(client, database, houses.used, events)
        return _rebuilt(database, positions, digest, difference)

    def _compare_rest(
        self, houses: Houses, client: Client, tables: list[Table], positions: Positions, compared: Rebuilt
    ) -> Rebuilt:
        """Compare all but the events that were compared, while the version in use stands still."""
        since = kept_since(self.settings)
        rest = [
            of_events(each, houses.used, AFTER, compared.positions, since)
            if each.name == EVENTS
            else of_jobs(each, houses.used)
            for each in tables
        ]
        digest, difference = difference_of(client, compared.version, houses.used, rest)
        both = Difference(
            compared.difference.buckets | difference.buckets, [*compared.difference.unread, *difference.unread]
        )
        events = digest_of(
            client, compared.version, [of_jobs(each, houses.used) for each in tables if each.name == EVENTS]
        )
        return _rebuilt(compared.version, positions, digest | events, both)

    def _switch(
        self,
        session: Connection[Any],
        client: Client,
        builder: Builder,
        houses: Houses,
        new: str,
        tables: list[Table],
        compared: Rebuilt,
        accept: bool,
    ) -> Rebuilt:
        for _ in range(TRIES):
            self._catch_up(builder, houses)
            with session.transaction():
                session.execute(BOOKS["hold_checkpoints"])
                targets = houses.positions()
                idle = session.execute(BOOKS["under_way"]).fetchone() == (0,)
                if idle and builder.missing(targets) <= NEAR_EVENTS:
                    builder.build_up_to(targets)
                    rebuilt = self._compare_rest(houses, client, tables, builder.positions(), compared)
                    if rebuilt.difference and not accept:
                        return rebuilt
                    houses.forget_books(new)
                    self._exchange(client, houses.used, rebuilt.version, tables)
                    session.execute(BOOKS["note_version"], (rebuilt.version,))
                    return replace(rebuilt, switched=True, replaced=rebuilt.version)
            threading.Event().wait(PAUSE_SECONDS)
        raise CannotCatchUp(
            "an insert into the version in use does not end: is `python -m projections.clickhouse` well?"
        )

    def _exchange(self, client: Client, used: str, built: str, tables: list[Table]) -> None:
        for table in tables:
            client.command(f"EXCHANGE TABLES {quoted(used)}.{table.name} AND {quoted(built)}.{table.name}")
        self.progress.tell(f"{used} has the new tables, {built} those of before")


def _rebuilt(database: str, positions: Mapping[int, int], digest: Digest, difference: Difference) -> Rebuilt:
    rows = sum(each.rows for each in digest.values())
    return Rebuilt(database, dict(positions), whole(digest, positions.items()), rows, difference)
