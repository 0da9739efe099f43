"""Where jobs are that left memory, as the decider of one partition sees it.

ArchiveAway  the archive does not answer, or does not have everything yet
"""

from typing import Protocol

from services.ledger.job import Job


class ArchiveAway(Exception):
    """Whether there is such a job, and how it ended, cannot be told now."""


class Archive(Protocol):
    """Keeps the jobs of one partition; the read model in Postgres is one."""

    def position(self) -> int:
        """Return up to which position it has the log, as last heard; 0: not heard yet. Asks nobody, never waits."""

    def load(self, org_id: str, job_id: str, position: int) -> Job | None:
        """Return a job as of this position or later, or None where the org has none; raise ArchiveAway in doubt."""


class NoArchive:
    """Has nothing, so that nothing leaves memory."""

    def position(self) -> int:
        """Return 0."""
        return 0

    def load(self, org_id: str, job_id: str, position: int) -> Job | None:
        """Find nothing: every job is in memory."""
        return None
