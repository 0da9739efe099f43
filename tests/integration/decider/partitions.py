"""A decider of one partition on a real broker, what is sent to it, and what it writes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from schemas.recorded import Recorded
from schemas.values import Destination
from services.decider.archive import Archive, NoArchive
from services.decider.partition import Tools, open_partition
from services.ledger.commands import (
    AnyCommand,
    ClaimTask,
    NewJob,
    RegisterOrg,
    ReportProgress,
    SettleDeliveries,
    SubmitJobs,
)
from services.ledger.policy import Policy
from services.ledger.reports import DeliveryResult, Extracted, NodeReport
from services.ledger.status import Status
from services.ledger.wire import COMMANDS
from services.runtime import topics
from services.runtime.ends import Ends
from services.runtime.errors import DeadLetterLimit
from services.runtime.ledger_log import Checkpoint, LedgerLog
from services.runtime.producer import Producer
from services.runtime.reader import LogReader, Record
from services.runtime.registry import decoder, encoder
from services.runtime.settings import Settings
from services.runtime.time import now_micros

ORG = "acme"
STEPS = 200  # an upper bound for "until"; each step waits at most 0.1 s


class Partition:
    """A decider of one partition, with its producer and everything that it parked."""

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], int] = now_micros,
        policy: Policy | None = None,
        archive: Callable[[int], Archive] = lambda _: NoArchive(),
    ) -> None:
        self.settings = settings
        self.number = topics.partition_of_org(ORG, settings.partitions)
        self.parked: list[tuple[Record, str]] = []
        self.parks = 1000  # how many it parks before it says that these are too many
        self.producer = Producer(settings, "test")
        self.producer.start()
        tools = Tools(
            settings,
            policy or Policy(),
            encoder(settings),
            decoder(settings),
            self.producer,
            park=self._park,
            ends=Ends(settings, topics.commands(settings)),
            boot_id="test",
            clock=clock,
            archive=archive,
        )
        self.decider = open_partition(tools, self.number)

    def send(self, *commands: AnyCommand) -> None:
        """Put commands on the topic."""
        for command in commands:
            self.put(COMMANDS.encode(command), command.org_id)

    def put(self, value: bytes, key: str = ORG) -> None:
        """Put bytes on the topic of commands."""
        self.producer.produce(topics.commands(self.settings), self.number, key, value)
        self.producer.flush()

    def until(self, true: Callable[[], bool]) -> None:
        """Let the decider work until something is true."""
        for _ in range(STEPS):
            if true():
                return
            self.decider.step()
        raise AssertionError(f"it did not become true; parked: {self.parked}")

    def status(self, job_id: str) -> Status | None:
        """Status of a job in the decider's memory."""
        job = self.decider.ledger.jobs.get(job_id)
        return job.status if job else None

    def _park(self, record: Record, reason: str, _detail: str) -> None:
        if len(self.parked) == self.parks:
            raise DeadLetterLimit("too many")
        self.parked.append((record, reason))

    def close(self) -> None:
        """Let go of the broker."""
        self.decider.close()
        self.producer.close()


@contextmanager
def opened(settings: Settings, clock: Callable[[], int] = now_micros) -> Iterator[Partition]:
    """A partition that is ready to decide."""
    partition = Partition(settings, clock)
    try:
        yield partition
    finally:
        partition.close()


def registered() -> RegisterOrg:
    """The org of these tests."""
    return RegisterOrg(command_id="r", org_id=ORG, name="Acme", max_in_flight=100)


def submitted(job_id: str) -> SubmitJobs:
    """A submission with one gating destination."""
    destination = Destination(destination_id="internal-postgres", kind="postgres")
    return SubmitJobs(
        command_id=f"s-{job_id}",
        org_id=ORG,
        requester="asker",
        jobs=(NewJob(job_id=job_id, private=b"\0{}"),),
        destinations=(destination,),
    )


def run_to_completion(job_id: str) -> list[AnyCommand]:
    """Everything that a worker and a writer say about a job."""
    return [
        ClaimTask(command_id=f"c-{job_id}", org_id=ORG, job_id=job_id, dispatch=1, worker_id="w", boot_id="b"),
        ReportProgress(
            command_id=f"p-{job_id}",
            org_id=ORG,
            job_id=job_id,
            attempt=1,
            worker_id="w",
            boot_id="b",
            nodes=(NodeReport(step=0, node_id="n", node_kind="service", edge="success", next_node_id="m"),),
            outcome=Extracted(result_ref="r"),
        ),
        SettleDeliveries(
            command_id=f"d-{job_id}",
            results=(
                DeliveryResult(org_id=ORG, job_id=job_id, destination_id="internal-postgres", generation=1, rows=1),
            ),
        ),
    ]


def read(settings: Settings, topic: str, partition: int, count: int) -> list[Record]:
    """Read the first records of a partition."""
    reader = LogReader(settings, topic, {partition: 0})
    records: list[Record] = []
    for _ in range(STEPS):
        records += reader.poll(1000, 0.1)
        if len(records) >= count:
            break
    reader.close()
    return records


def events_of(settings: Settings, partition: int, count: int) -> list[Recorded]:
    """Read the first events of a partition, by the rule of positions."""
    log = LedgerLog(settings, decoder(settings), {partition: Checkpoint()})
    found: list[Recorded] = []
    for _ in range(STEPS):
        found += [entry.recorded for entry in log.poll(1000, 0.1) if entry.recorded]
        if len(found) >= count:
            break
    log.close()
    return found
