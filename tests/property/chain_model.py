"""A small model of jobs with planned items that go on from one another, written from docs/modules.md: what each has."""

from dataclasses import dataclass, field

LIVE = ("pending", "running")
FOLLOW_UP_JOBS = 5  # pending or running, from which on no job follows by itself
PLANNED = 12


@dataclass
class Link:
    """One job. `outcomes` tells of each item from the first on whether it succeeded, adopted ones too."""

    source: str = ""
    number: int = 1
    outcomes: list[bool] = field(default_factory=list)
    status: str = "pending"
    planned: bool = False
    boot: str = ""
    attempt: int = 0
    limit_at: int = 0  # when its run time is over; 0: nobody has claimed it
    begins: int = field(init=False)
    chunks: int = 0

    def __post_init__(self) -> None:
        self.begins = len(self.outcomes)

    @property
    def resume_at(self) -> int:
        """The item behind the last that succeeded."""
        return max((at + 1 for at, succeeded in enumerate(self.outcomes) if succeeded), default=0)

    @property
    def live(self) -> bool:
        """Whether it is pending or running."""
        return self.status in LIVE


class Chains:
    """All module jobs of an org, and how many others it has that have not ended."""

    def __init__(self) -> None:
        self.links: dict[str, Link] = {}
        self.others: set[str] = set()  # jobs of workflows that have not ended

    def live(self) -> int:
        """How many jobs are pending or running, of whatever vocabulary."""
        return sum(link.live for link in self.links.values()) + len(self.others)

    def resume(self, job_id: str, new_id: str) -> str:
        """Let a job go on from another; returns why not, or nothing."""
        link = self.links[job_id]
        if link.live:
            return "not_terminal"
        if any(other.live for other in self.links.values() if other.source == job_id):
            return "resume_pending"
        self.go_on(job_id, new_id)
        return ""

    def go_on(self, job_id: str, new_id: str) -> None:
        """A job begins where another has stopped."""
        link = self.links[job_id]
        new = Link(job_id, 1 + self._newest(job_id), link.outcomes[: link.resume_at])
        new.planned = link.planned
        self.links[new_id] = new

    def time_out(self, job_id: str) -> bool:
        """Let the run time of a job be over; returns whether another one follows by itself."""
        link = self.links[job_id]
        link.status = "failed"
        progressed = any(link.outcomes[link.begins :])
        return progressed and self.live() < FOLLOW_UP_JOBS and link.resume_at < PLANNED

    def record(self, job_id: str, boot: str, attempt: int, outcomes: list[bool]) -> bool:
        """Take a chunk; returns whether it counts: only the newest claim of a running job records."""
        link = self.links[job_id]
        if link.status != "running" or (link.boot, link.attempt) != (boot, attempt):
            return False
        link.planned = True
        if outcomes:
            link.outcomes += outcomes
            link.chunks += 1
        return True

    def first_of(self, job_id: str) -> str:
        """Return the first job of a chain."""
        while self.links[job_id].source:
            job_id = self.links[job_id].source
        return job_id

    def _newest(self, job_id: str) -> int:
        first = self.first_of(job_id)
        return max(link.number for name, link in self.links.items() if self.first_of(name) == first)
