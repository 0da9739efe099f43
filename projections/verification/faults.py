"""What verification finds, and what it was about."""

from msgspec import Struct


class Fault(Struct, frozen=True):
    """One thing that is not as the log says."""

    place: str  # a table, or `log`
    org_id: str
    job_id: str  # with what tells rows of one job apart behind it; or the partition
    field: str
    expected: str
    found: str

    def __str__(self) -> str:
        key = " ".join(part for part in (self.org_id, self.job_id) if part)
        return f"{self.place} {key}: {self.field}: expected {self.expected}, found {self.found}"


class Report(Struct, frozen=True):
    """What was compared, at which position of each partition, and what was wrong."""

    positions: dict[int, int]
    events: int
    jobs: int
    rows: dict[str, int]  # by table
    faults: list[Fault]
    strangers: int = 0  # records between the events that the decider did not write; readers leave them out
    clickhouse: str = "not compared"  # how far it has the log, or why it was not compared

    @property
    def ok(self) -> bool:
        """Whether log and read model say the same."""
        return not self.faults
