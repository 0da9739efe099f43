"""Rebuilds the read model in Postgres into a new version while the one in use goes on, and switches to it.

1. Fold the log into a new schema, up to where the version in use is, again until little is missing.
2. Hold a snapshot of the version in use, fold up to exactly its positions, and compare the digests of both.
3. Keep the version in use from moving for a moment, fold the few events that are missing, and switch in one
   transaction: its schema loses its name, so that nobody reads or writes it any more, and every reader looks anew.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace
from psycopg import Connection, sql

from projections.migrate import MIGRATIONS, migrate
from projections.postgres.fold import Changes
from projections.postgres.positions import SWITCHED
from projections.postgres.sink import PostgresSink
from projections.postgres.store import Store
from projections.rebuild.building import Builder, Positions, Progress
from projections.rebuild.claim import claimed, snapshot
from projections.rebuild.difference import Side, compare_versions, deleted_meanwhile
from projections.rebuild.digest import digest_of, in_both, shapes_of, whole
from projections.rebuild.faults import AnotherRebuild, CannotCatchUp, NoSuchPosition
from projections.rebuild.outcome import Rebuilt
from projections.rebuild.versions import RETIRED, SQL, UNTIL, Versions, of_schema
from schemas.codec import Decoder
from services.runtime.ledger_log import LedgerLog
from services.runtime.migrations import apply
from services.runtime.raw_log import Checkpoint
from services.runtime.settings import Settings
from services.runtime.shredding.vault import Vault
from services.runtime.strangers import noting

READER = "rebuild"
NAME = "postgres"
BATCH_EVENTS = 2000
NEAR_EVENTS = 2000  # that may be missing when versions are compared, or when the switch is tried
ROUNDS = 200  # of catching up, each of what came during the one before
TRIES = 20  # of the switch: traffic may have gone on for too long before it held


class VersionStore(Store):
    """Writes to a version alone: what lies beside it has been changed when the version in use folded the same."""

    def _change_beside(self, changes: Changes) -> None:
        pass


@dataclass(frozen=True, slots=True)
class PostgresRebuild:
    """Rebuilds of one ledger; each method opens its sessions and closes them again."""

    settings: Settings
    decoder: Decoder
    progress: Progress

    def rebuild(self, *, anew: bool = False, accept_differences: bool = False, drop_old: bool = False) -> Rebuilt:
        """Build a new version and switch to it, unless it differs and that is not accepted."""
        migrate(self.settings.postgres)
        with claimed(self.settings.postgres, NAME) as session:
            versions = Versions(session)
            old, new = versions.active(), self._begun(versions, anew=anew)
            versions.give_rights(old, new)
            with self._builder(new) as builder:
                self._catch_up(builder, versions, old)
                rebuilt = self._compared(builder, versions, old, new)
                if rebuilt.difference and not accept_differences:
                    return rebuilt
                analyze(session, new)
                self._switch(session, builder, versions, old, new)
            if drop_old:
                self._drop(versions)
            return replace(rebuilt, switched=True, replaced=old + RETIRED)

    def until(self, wanted: Positions) -> Rebuilt:
        """Build a version up to these positions, the other partitions as far as the version in use has them."""
        migrate(self.settings.postgres)
        with claimed(self.settings.postgres, NAME) as session:
            versions = Versions(session)
            active = versions.active()
            held = versions.positions(active)
            for partition, position in wanted.items():
                if not 0 <= position <= held.get(partition, 0):
                    raise NoSuchPosition(
                        f"{partition}:{position}: the version in use has 0 to {held.get(partition, 0)}"
                    )
            versions.drop(UNTIL)
            apply(self.settings.postgres, UNTIL, MIGRATIONS)
            with self._builder(UNTIL) as builder:
                builder.build_up_to({**held, **wanted})
                positions = builder.positions()
            for (table,) in session.execute(SQL["job_tables"], (UNTIL,)).fetchall():
                session.execute(of_schema("erase_deleted", UNTIL, table=table, active=active))
            digest = digest_of(session, UNTIL, shapes_of(session, UNTIL))
            rows = sum(each.rows for each in digest.values())
            return Rebuilt(UNTIL, positions, whole(digest, positions.items()), rows)

    def drop_old(self) -> list[str]:
        """Drop every version that was replaced, and the one to look at; return their names."""
        migrate(self.settings.postgres)
        with claimed(self.settings.postgres, NAME) as session:
            return self._drop(Versions(session))

    def _drop(self, versions: Versions) -> list[str]:
        names = [*versions.replaced(), UNTIL]
        for name in names:
            versions.drop(name)
        return names[:-1]

    def _begun(self, versions: Versions, *, anew: bool) -> str:
        """Return the version to build: the one that was left unfinished, or a new one."""
        half_built = versions.half_built()
        if half_built and not anew and versions.is_of_this_code(half_built):
            self.progress.tell(f"going on with {half_built}, which an earlier rebuild has left unfinished")
        elif half_built:
            self.progress.tell(f"{half_built}, which an earlier rebuild has left unfinished, is dropped")
            versions.drop(half_built)
        new = versions.half_built() or versions.next()
        apply(self.settings.postgres, new, MIGRATIONS)
        return new

    @contextmanager
    def _builder(self, schema: str) -> Iterator[Builder]:
        partitions = range(self.settings.partitions)
        store = VersionStore(self.settings.postgres, schema, Vault(self.settings.credentials_key))
        with closing(PostgresSink(store, READER)) as sink:
            if not sink.lock():
                raise AnotherRebuild(f"another process writes {schema}")
            yield Builder(sink, self._open_log, partitions, self.progress, BATCH_EVENTS)

    def _open_log(self, starts: Mapping[int, Checkpoint]) -> LedgerLog:
        return LedgerLog(self.settings, self.decoder, starts, noted=noting(READER))

    def _catch_up(self, builder: Builder, versions: Versions, old: str) -> None:
        for _ in range(ROUNDS):
            targets = versions.positions(old)
            if builder.missing(targets) <= NEAR_EVENTS:
                return
            self.progress.tell(f"{builder.missing(targets)} events to fold up to where {old} is")
            builder.build_up_to(targets)
        raise CannotCatchUp(f"{old} moves on as fast as it can be rebuilt: try again when there is less traffic")

    def _compared(self, builder: Builder, versions: Versions, old: str, new: str) -> Rebuilt:
        """Fold up to exactly where the version in use is in a snapshot, and compare the two."""
        with snapshot(self.settings.postgres) as before, snapshot(self.settings.postgres) as after:
            targets = Versions(before).positions(old)
            builder.build_up_to(targets)
            positions = builder.positions()
            self.progress.tell(f"comparing {new} with {old}")
            shapes = in_both(shapes_of(after, new), shapes_of(before, old))
            digest, difference = compare_versions(Side(after, new), Side(before, old), shapes)
        with snapshot(self.settings.postgres) as now:
            gone = deleted_meanwhile(now, old, difference.faults)
        rows = sum(each.rows for each in digest.values())
        return Rebuilt(new, positions, whole(digest, positions.items()), rows, difference.without(gone))

    def _switch(self, session: Connection[Any], builder: Builder, versions: Versions, old: str, new: str) -> None:
        for _ in range(TRIES):
            self._catch_up(builder, versions, old)
            with session.transaction():
                session.execute(of_schema("hold_checkpoints", old))
                targets = versions.positions(old)
                if builder.missing(targets) > NEAR_EVENTS:
                    continue
                builder.build_up_to(targets)
                if session.execute(SQL["switch"], (new, old)).rowcount != 1:
                    raise AnotherRebuild(f"readers do not follow {old} any more: begin again")
                session.execute(of_schema("retire", old, retired=old + RETIRED))
                session.execute(SQL["tell_readers"], (f"{old}_positions", SWITCHED))
            self.progress.tell(f"readers follow {new}")
            return
        raise CannotCatchUp(f"{old} moves on too fast to be replaced: try again when there is less traffic")


def analyze(session: Connection[Any], schema: str) -> None:
    """Let Postgres learn what is in the new tables before readers ask them."""
    for table in shapes_of(session, schema):
        session.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(schema, table)))
