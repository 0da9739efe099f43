"""What a job costs a decider, by how many are pending and of how many orgs: `python -m bench.queue`.

Each depth and each number of orgs has a ledger of its own, filled before the clock runs. Then jobs are submitted,
dispatched, claimed, extracted and acknowledged one after the other, through the rules and the stored bytes, without
Kafka. The figures are CPU time of this process, and what was counted: events, their bytes, and what was sent.
"""

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bench.live_jobs import NUMBERS, PLACES, START
from bench.machine import machine_facts
from schemas.codec import Encoder
from services.decider.batch import BatchDecider
from services.ledger.commands import (
    AnnounceWorker,
    AnyCommand,
    ClaimTask,
    NewJob,
    RegisterOrg,
    ReportProgress,
    SettleDeliveries,
    SubmitJobs,
)
from services.ledger.policy import SECOND, Policy
from services.ledger.reports import DeliveryResult, Extracted, NodeReport
from services.ledger.state import Ledger
from services.ledger.tasks import Task

RESULTS = Path(__file__).parent / "results" / "queue.json"
DEPTHS = (1_000, 10_000, 100_000, 1_000_000)
ORGS = 1_000  # at every depth
MANY_ORGS = (10, 100, 1_000, 10_000)
PENDING = 100_000  # of every number of orgs
SLOTS = 100
JOBS_IN_COMMAND = 500
SPEC = b'\0{"url":"https://shop.example/"}'


class Depth(msgspec.Struct, frozen=True):
    """One depth: medians over the rounds."""

    pending: int
    orgs: int
    cpu_us_per_job: float
    ratio: float  # to the first in the same round
    events_per_job: float
    bytes_per_job: float  # of events, as they are stored
    sent_per_job: float  # tasks, deliveries and replies


class Figures(msgspec.Struct, frozen=True):
    """One run."""

    command: str
    machine: dict[str, str | int | float]
    jobs_per_round: int
    rounds: int
    depths: list[Depth]
    orgs: list[Depth]


class Partition:
    """A decider of one partition with a fleet; everything that is dispatched is run at once."""

    def __init__(self, pending: int, orgs: int = ORGS) -> None:
        self.orgs, self.filled = orgs, pending
        self.events = self.stored = self.sent = 0
        self.now, self._offset, self._number = START, 0, 0
        self.tasks: list[Task] = []
        self._decider = BatchDecider(Ledger(0, Policy(ended_kept=1_000, ended_kept_for=0)), Encoder(NUMBERS))
        for org in range(orgs):
            self._tell(RegisterOrg(command_id="r", org_id=_org(org), name="org", max_in_flight=5))
        self._tell(
            AnnounceWorker(command_id="a", worker_id="w", boot_id="b", kind="workflow", slots=SLOTS, free_slots=SLOTS)
        )
        each = max(1, pending // orgs)
        for org in range(min(orgs, pending)):
            for first in range(0, each, JOBS_IN_COMMAND):
                self.submit(org, min(JOBS_IN_COMMAND, each - first))

    def submit(self, org: int, count: int = 1) -> None:
        """Submit jobs of an org."""
        names = [f"job-{self._number + number:012d}" for number in range(count)]
        self._number += count
        jobs = tuple(
            NewJob(job_id=name, domain="shop.example", private=b'\0{"url":"https://shop.example/"}') for name in names
        )
        self._tell(
            SubmitJobs(command_id="s", org_id=_org(org), jobs=jobs, workflow_id="products", destinations=PLACES[:1])
        )

    def cycle(self, org: int) -> None:
        """Submit a job, and run one that is dispatched to its end."""
        self.submit(org)
        task = self.tasks.pop(0)
        named = {"org_id": task.org_id, "job_id": task.job_id}
        worker = {"worker_id": "w", "boot_id": "b"}
        self._tell(ClaimTask(command_id="c", dispatch=task.dispatch, **named, **worker))
        self.now += SECOND
        report = ReportProgress(
            command_id="p",
            attempt=1,
            nodes=(NodeReport(step=0, node_id="n", node_kind="service", edge="success", next_node_id="m"),),
            outcome=Extracted(result_ref="r"),
            org_id=task.org_id,
            job_id=task.job_id,
            worker_id="w",
            boot_id="b",
        )
        self._tell(report)
        done = DeliveryResult(
            org_id=task.org_id, job_id=task.job_id, destination_id=PLACES[0].destination_id, generation=1, rows=1
        )
        self._tell(SettleDeliveries(command_id="d", results=(done,)))

    def costs(self, jobs: int) -> float:
        """Return what a job costs now, in microseconds of CPU."""
        self.events = self.stored = self.sent = 0
        began = time.process_time()
        for number in range(jobs):
            self.cycle(number % self.orgs)
        return (time.process_time() - began) / jobs * 1e6

    @property
    def pending(self) -> int:
        """How many jobs are pending."""
        return sum(org.pending for org in self._decider.ledger.orgs.values())

    def _tell(self, command: AnyCommand) -> None:
        self._decider.command(command, self._offset, self.now)
        self._offset += 1
        batch = self._decider.take()
        self.tasks += batch.tasks
        self.events += len(batch.events)
        self.stored += sum(len(event.stored) for event in batch.events)
        self.sent += len(batch.tasks) + len(batch.deliveries) + len(batch.replies)


def main() -> int:
    """Measure, print, and write the figures down where that is asked for."""
    options = _options()
    depths = _measured([Partition(pending) for pending in options.depths], options)
    orgs = _measured([Partition(max(options.pending, orgs), orgs) for orgs in options.orgs], options)
    if options.write:
        figures = Figures("python -m bench.queue --write", machine_facts(), options.jobs, options.rounds, depths, orgs)
        RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=2) + b"\n")
    return 0


def _measured(partitions: Sequence[Partition], options: argparse.Namespace) -> list[Depth]:
    gc.collect()
    gc.freeze()  # as a decider does that has read its log
    for partition in partitions:
        partition.costs(options.jobs)  # what is done once is done
    # Round by round through all of them: whatever else the machine does meets them alike.
    rounds = [[partition.costs(options.jobs) for partition in partitions] for _ in range(options.rounds)]
    found = []
    for number, partition in enumerate(partitions):
        cost = statistics.median(costs[number] for costs in rounds)
        ratio = statistics.median(costs[number] / costs[0] for costs in rounds)
        counted = [round(count / options.jobs, 2) for count in (partition.events, partition.stored, partition.sent)]
        found.append(Depth(partition.filled, partition.orgs, round(cost, 1), round(ratio, 3), *counted))
        where = f"{partition.filled:>9,} pending of {partition.orgs:>6,} orgs"
        what = "{:g} events, {:g} bytes, {:g} sent".format(*counted)
        print(f"{where}: {cost:7.1f} us of CPU a job, ratio {ratio:.3f}; {what}")
        if abs(partition.pending - partition.filled) > partition.filled // 10 + SLOTS:
            raise AssertionError(f"{partition.pending} are pending at the end, not {partition.filled}")
    gc.unfreeze()
    return found


def _org(number: int) -> str:
    return f"org-{number:05d}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.queue", description=__doc__)
    parser.add_argument("--depths", type=int, nargs="+", default=DEPTHS)
    parser.add_argument("--orgs", type=int, nargs="+", default=MANY_ORGS)
    parser.add_argument("--pending", type=int, default=PENDING, help="of every number of orgs")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--jobs", type=int, default=1_000, help="of one round")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
