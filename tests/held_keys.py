"""Keys of jobs in memory, in place of those that Postgres keeps."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from services.runtime.errors import KeysAway
from services.runtime.shredding.codec import JobKey


@dataclass
class HeldKeys:
    """Keys, and the orgs that have erasure; `away`: where they are kept does not answer."""

    keys: dict[JobKey, bytes] = field(default_factory=dict)
    orgs: set[str] = field(default_factory=set)
    away: bool = False
    looks: int = 0  # how often it was asked

    async def of(self, jobs: Collection[JobKey]) -> dict[JobKey, bytes]:
        """Return the keys of those of these jobs that have one."""
        self._look()
        return {job: self.keys[job] for job in jobs if job in self.keys}

    async def with_erasure(self, orgs: Sequence[str]) -> set[str]:
        """Return those of these orgs that have erasure."""
        self._look()
        return self.orgs & set(orgs)

    def _look(self) -> None:
        self.looks += 1
        if self.away:
            raise KeysAway("they do not answer")
