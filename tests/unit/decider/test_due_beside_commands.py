"""Waits end on time however many commands pour in: what is due is looked at with every batch of them."""

from collections.abc import Iterator, Sequence
from typing import Any

from schemas.codec import Decoder
from schemas.events import RetryScheduled
from services.decider.inbox import Accepted
from services.decider.partition import PartitionDecider, Tools
from services.ledger.commands import Probe
from services.ledger.policy import SECOND
from services.ledger.replies import Reply
from services.ledger.reports import RetryLater
from services.ledger.wire import TASKS
from services.runtime import topics
from services.runtime.settings import Settings
from services.runtime.transactions import Outgoing
from tests.unit.ledger.world import START, PlainEncoder, World, failed_node

SETTINGS = Settings(kafka="", postgres="", registry="", blobs="")
COMMAND_MICROS = SECOND // 5000  # that each takes here: a fifth of a second for a full batch
PROMISED = 1 * SECOND
STEPS_AT_MOST = 60


class Flood:
    """Stands for inbox and broker: there is always another full batch of commands, and each of them takes time."""

    def __init__(self) -> None:
        self.now = START
        self.sent: dict[str, int] = {}  # job -> when its task was first committed
        self.next_offset = self.parked = 0

    def wait(self, _most: int, _timeout_seconds: float) -> None:
        """There are always some."""

    def poll(self, most: int) -> Iterator[Accepted]:
        """Yield a full batch."""
        for offset in range(self.next_offset, self.next_offset + most):
            self.now += COMMAND_MICROS
            self.next_offset = offset + 1
            yield offset, Probe(command_id="p")

    def end(self) -> int:
        """There is more behind what was read, ever."""
        return self.next_offset + 1

    def take_refused(self) -> list[Reply]:
        """None of them is parked."""
        return []

    def write(self, records: Sequence[Outgoing]) -> None:
        """Commit a batch."""
        for record in records:
            if record.topic == topics.tasks(SETTINGS, "workflow"):
                self.sent.setdefault(TASKS.decode(record.value).job_id, self.now)


def lateness(delays_ms: Sequence[int]) -> list[int]:
    """Let a job wait for each delay while commands pour in; return how late each was sent out again."""
    world = World().org(cap=100_000)
    world.announce(slots=100_000)
    world.submit(*(jobs := [f"j{number}" for number in range(len(delays_ms))]), destinations=())
    for job_id, delay_ms in zip(jobs, delays_ms, strict=True):
        world.claim(job_id)
        world.report(RetryLater(node_id="a", try_number=2, delay_ms=delay_ms), failed_node(0), job_id=job_id)
    flood: Any = Flood()
    no_ends: Any = None  # only the inbox would ask for them
    no_decoder = Decoder(lambda _number: {})

    def now() -> int:
        return int(flood.now)

    tools = Tools(SETTINGS, world.policy, PlainEncoder(), no_decoder, flood, print, no_ends, "boot", now)
    partition = PartitionDecider(tools, flood, world.decider, flood)
    for _ in range(STEPS_AT_MOST):
        if len(flood.sent) == len(jobs):
            break
        partition.step()
    due = {r.event.job_id: r.event.due_at for r in world.seen if isinstance(r.event, RetryScheduled)}
    return [flood.sent[job_id] - due[job_id] for job_id in jobs]


def test_no_wait_ends_a_second_late_while_every_batch_of_commands_is_full() -> None:
    late = lateness(range(2000, 8000, 50))
    assert min(late) >= 0
    assert max(late) < PROMISED
