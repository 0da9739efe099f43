"""The figures of a bench run, as they are printed and kept in bench/results/latest.json."""

import msgspec

from bench.floor import Floor
from bench.processes import Memory
from services.cli.spans import percentile


class Spread(msgspec.Struct, frozen=True):
    """How durations are spread, in milliseconds."""

    count: int
    p50: float
    p99: float


class Cost(msgspec.Struct, frozen=True):
    """What one process of the stack costs."""

    cpu_ms_per_job: float  # in the burst
    idle_percent: float  # of one core
    memory: Memory  # after the runs


class Figures(msgspec.Struct, frozen=True):
    """One run of the bench."""

    machine: dict[str, str | int | float]
    broker: str
    orgs: int
    worker_slots: int
    jobs: int
    jobs_per_second: float  # in the burst
    one_at_a_time: Spread  # by the ledger's times, from submitted to completed
    one_at_a_time_seen: Spread  # by the caller's clock, from before the POST until it saw `completed`
    burst: Spread  # by the ledger's times; most of it is waiting in the queue
    paced_jobs_per_second: float
    paced: Spread
    records_per_job: float  # of all topics, markers of transactions included
    operations_per_job: dict[str, float]  # in the burst
    processes: dict[str, Cost]
    floor: Floor

    @property
    def cpu_ms_per_job(self) -> float:
        """CPU time of the whole stack for one job."""
        return sum(cost.cpu_ms_per_job for cost in self.processes.values())

    @property
    def events_per_job(self) -> float:
        """Events in the log for one job."""
        return self.operations_per_job.get("events", 0.0)

    @property
    def idle_percent(self) -> float:
        """CPU of the whole idle stack, in percent of one core."""
        return sum(cost.idle_percent for cost in self.processes.values())

    @property
    def memory_mib(self) -> float:
        """Memory of the whole stack, shared pages counted once."""
        return sum(cost.memory.proportional for cost in self.processes.values())

    @property
    def times_floor(self) -> float:
        """How many times the CPU of a bare Kafka loop over as many records a job costs."""
        return self.cpu_ms_per_job * self.jobs / self.floor.cpu_ms


def spread(milliseconds: list[float]) -> Spread:
    """Return the spread of durations."""
    return Spread(len(milliseconds), round(percentile(milliseconds, 0.5), 1), round(percentile(milliseconds, 0.99), 1))
