"""The figures of a run against the peers, and the arithmetic of rounds."""

import statistics
from collections.abc import Iterable, Mapping, Sequence

import msgspec


class Spread(msgspec.Struct, frozen=True):
    """The middle of some rounds and how far they lie apart."""

    median: float
    least: float
    most: float


class Measure(msgspec.Struct, frozen=True):
    """One system in one round."""

    jobs_per_second: float
    cpu_ms_per_job: dict[str, float]  # by process; who only submits and counts is left out
    counted: dict[str, float] = {}  # what was done for a job, of the ledger alone (`bench/operations.py`)

    @property
    def cpu(self) -> float:
        """CPU time of the whole system for one job."""
        return sum(self.cpu_ms_per_job.values())


class Speed(msgspec.Struct, frozen=True):
    """One system over all rounds."""

    jobs_per_second: Spread
    cpu_ms_per_job: Spread
    by_process: dict[str, float]  # medians, CPU-ms a job
    rounds: list[Measure]
    counted: dict[str, float] = {}  # medians, by job


class Ratio(msgspec.Struct, frozen=True):
    """The ledger against a peer; each round is compared in itself."""

    ours: str  # what of ours does the same work
    speed: Spread  # jobs a second, ours by theirs
    cpu: Spread  # CPU of a job, theirs by ours


class Compared(msgspec.Struct, frozen=True):
    """A peer and what came of it; where it could not be measured, `away` says why."""

    name: str
    versions: dict[str, str]
    steps: int
    configured: str
    durability: str
    lacks: str
    target: float | None  # at least so many times its jobs a second
    speed: Speed | None = None
    ratios: list[Ratio] = []
    away: str = ""


class Figures(msgspec.Struct, frozen=True):
    """One run."""

    command: str
    machine: dict[str, str | int | float]
    load_before: float  # of the machine, by its own figure for the last minute: 0 is quiet
    broker: str
    in_flight: int
    worker_processes: int
    rounds: int
    seconds: float
    durability: str  # of the ledger as it was measured
    ours: dict[str, Speed]  # by kind of work
    full: Speed | None
    peers: list[Compared]


def spread(values: Iterable[float], digits: int = 3) -> Spread:
    """Return the middle and the ends."""
    found = list(values)
    return Spread(round(statistics.median(found), digits), round(min(found), digits), round(max(found), digits))


def speed_of(rounds: Sequence[Measure]) -> Speed:
    """Return the middle of some rounds of one system."""
    return Speed(
        spread((each.jobs_per_second for each in rounds), 1),
        spread(each.cpu for each in rounds),
        _medians([each.cpu_ms_per_job for each in rounds]),
        list(rounds),
        _medians([each.counted for each in rounds]),
    )


def _medians(rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for each in rounds for name in each)
    return {name: round(statistics.median(each.get(name, 0.0) for each in rounds), 3) for name in names}


def ratio_of(name: str, ours: Sequence[Measure], theirs: Sequence[Measure]) -> Ratio:
    """Compare round by round, so that what the machine does meanwhile meets both."""
    pairs = list(zip(ours, theirs, strict=True))
    return Ratio(
        name,
        spread((mine.jobs_per_second / other.jobs_per_second for mine, other in pairs), 2),
        spread((other.cpu / mine.cpu for mine, other in pairs), 2),
    )
