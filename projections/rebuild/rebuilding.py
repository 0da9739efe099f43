"""Which rebuild there is for which read model."""

from typing import Protocol

from projections.rebuild.building import Positions, Progress
from projections.rebuild.clickhouse import ClickHouseRebuild
from projections.rebuild.outcome import Rebuilt
from projections.rebuild.postgres import PostgresRebuild
from services.runtime.errors import SettingsError
from services.runtime.registry import decoder
from services.runtime.settings import Settings


class Rebuild(Protocol):
    """Rebuilds of one read model; only one is under way at a time."""

    def rebuild(self, *, anew: bool = False, accept_differences: bool = False, drop_old: bool = False) -> Rebuilt:
        """Build a new version and switch to it, unless it differs and that is not accepted."""

    def until(self, wanted: Positions) -> Rebuilt:
        """Build a version as of these positions, to look at."""

    def drop_old(self) -> list[str]:
        """Drop what rebuilds have replaced; return the names."""


def rebuild_of(settings: Settings, progress: Progress) -> Rebuild:
    """Return the rebuild of the read model that the progress is about."""
    if progress.read_model == "postgres":
        return PostgresRebuild(settings, decoder(settings), progress)
    if not settings.clickhouse:
        raise SettingsError("JOBLEDGER_CLICKHOUSE not set: there is no read model in ClickHouse to rebuild")
    return ClickHouseRebuild(settings, decoder(settings), progress)
