"""One partition on a real broker: transactions, fences, restore, replies, dead letters."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from schemas.events import Recorded
from schemas.values import Destination
from services.decider.partition import Tools, open_partition
from services.ledger.messages import (
    AnyCommand,
    ClaimTask,
    DeliveryResult,
    Extracted,
    NewJob,
    NodeReport,
    RegisterOrg,
    Reply,
    ReportProgress,
    SettleDeliveries,
    SubmitJobs,
    Task,
)
from services.ledger.policy import Policy
from services.ledger.record import digest_of
from services.ledger.status import Status
from services.ledger.wire import COMMANDS, REPLIES, TASKS
from services.runtime import topics
from services.runtime.errors import Fenced
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

    def __init__(self, settings: Settings, clock: Callable[[], int] = now_micros) -> None:
        self.settings = settings
        self.number = topics.partition_of_org(ORG, settings.partitions)
        self.parked: list[tuple[Record, str]] = []
        self.producer = Producer(settings, "test")
        self.producer.start()
        tools = Tools(
            settings,
            Policy(),
            encoder(settings),
            decoder(settings),
            self.producer,
            park=lambda record, reason, _detail: self.parked.append((record, reason)),
            boot_id="test",
            clock=clock,
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

    def close(self) -> None:
        """Let go of the broker."""
        self.decider.close()
        self.producer.close()


@contextmanager
def opened(settings: Settings) -> Iterator[Partition]:
    """A partition that is ready to decide."""
    partition = Partition(settings)
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


def test_a_job_becomes_events_a_task_and_a_reply(ledger: Settings) -> None:
    with opened(ledger) as partition:
        partition.send(registered(), submitted("j1"))
        partition.until(lambda: partition.status("j1") is not None)
        partition.producer.flush()
        events = events_of(ledger, partition.number, 4)
        assert [e.header.event_type for e in events] == [
            "WriterOpened",
            "OrgRegistered",
            "JobSubmitted",
            "JobDispatched",
        ]
        assert [e.header.position for e in events] == [1, 2, 3, 4]
        task = TASKS.decode(read(ledger, topics.tasks(ledger, "workflow"), partition.number, 1)[0].value)
        assert isinstance(task, Task)
        assert (task.job_id, task.partition, task.private) == ("j1", partition.number, b"\0{}")
        reply = REPLIES.decode(read(ledger, topics.replies(ledger), topics.reply_partition("asker"), 1)[0].value)
        assert isinstance(reply, Reply)
        assert (reply.command_id, reply.position) == ("s-j1", 4)


def test_a_restarted_decider_has_the_same_state_and_decides_each_command_once(ledger: Settings) -> None:
    with opened(ledger) as first:
        first.send(registered(), submitted("j1"), submitted("j2"), *run_to_completion("j1"))
        first.until(lambda: first.status("j1") is Status.COMPLETED)
        before = {job_id: first.status(job_id) for job_id in ("j1", "j2")}
        position = first.decider.position
    with opened(ledger) as second:
        assert {job_id: second.status(job_id) for job_id in before} == before
        assert second.decider.position == position + 1  # its own WriterOpened
        second.send(submitted("j3"))
        second.until(lambda: second.status("j3") is not None)
        events = events_of(ledger, second.number, position + 3)
        ids = [e.header.event_id for e in events]
        assert len(set(ids)) == len(ids)
        assert [e.header.position for e in events] == list(range(1, position + 4))


def test_commands_sent_while_no_decider_runs_are_decided_later(ledger: Settings) -> None:
    with opened(ledger) as first:
        first.send(registered())
        first.until(lambda: ORG in first.decider.ledger.orgs)
        first.send(submitted("j1"))
    with opened(ledger) as second:
        second.until(lambda: second.status("j1") is not None)


@pytest.mark.kafka
def test_an_older_decider_is_fenced_and_leaves_nothing_readable(ledger: Settings) -> None:
    with opened(ledger) as older:
        older.send(registered(), submitted("j1"))
        older.until(lambda: older.status("j1") is not None)
        with opened(ledger) as newer:
            older.send(submitted("j2"))
            with pytest.raises(Fenced):
                older.until(lambda: False)
            newer.until(lambda: newer.status("j2") is not None)
            events = events_of(ledger, newer.number, newer.decider.position)
            assert [e.event.job_id for e in events].count("j2") == 2
            assert [e.header.position for e in events] == list(range(1, newer.decider.position + 1))


@pytest.mark.kafka
def test_a_decider_killed_inside_a_transaction_leaves_no_trace(ledger: Settings) -> None:
    with opened(ledger) as older:
        older.send(registered())
        older.until(lambda: ORG in older.decider.ledger.orgs)
        position = older.decider.position
        producer = older.decider._transactions._producers[0]
        producer.begin_transaction()
        producer.produce(topics.events(ledger), b"torn", b"acme", older.number)
        producer.flush(10)
        with opened(ledger) as newer:
            assert newer.decider.position == position + 1
            assert len(events_of(ledger, newer.number, position + 1)) == position + 1


def test_junk_and_foreign_commands_are_parked_and_the_partition_moves_on(ledger: Settings) -> None:
    with opened(ledger) as partition:
        partition.put(b"\xff\xff\xff")
        partition.put(COMMANDS.encode(submitted("j1")))  # an org that is not registered here
        partition.put(COMMANDS.encode(registered()), key="somebody-else")
        partition.send(registered(), submitted("j2"))
        partition.until(lambda: partition.status("j2") is not None)
        assert [(record.offset, reason) for record, reason in partition.parked] == [
            (0, "bad_message"),
            (1, "foreign_org"),
            (2, "foreign_org"),
        ]


def test_a_silent_worker_loses_its_job_after_its_lease_and_not_before(ledger: Settings) -> None:
    now = [now_micros()]
    partition = Partition(ledger, clock=lambda: now[0])
    try:
        partition.send(registered(), submitted("j1"), run_to_completion("j1")[0])
        partition.until(lambda: partition.status("j1") is Status.RUNNING)
        now[0] += 600_000_000  # ten minutes in one step: an outage, not ten minutes of silence
        partition.decider.step()
        assert partition.status("j1") is Status.RUNNING
        for _ in range(3):
            now[0] += 20_000_000
            partition.decider.step()
        assert partition.status("j1") is Status.PENDING
    finally:
        partition.close()


def test_events_of_one_org_form_a_chain_of_hashes(ledger: Settings) -> None:
    with opened(ledger) as partition:
        partition.send(registered(), submitted("j1"), *run_to_completion("j1"))
        partition.until(lambda: partition.status("j1") is Status.COMPLETED)
        log = LedgerLog(ledger, decoder(ledger), {partition.number: Checkpoint()})
        heads: dict[str, bytes] = {}
        while log.position(partition.number) < partition.decider.position:
            for entry in log.poll(1000, 0.1):
                assert entry.recorded is not None
                org = entry.recorded.event.org_id
                assert entry.recorded.header.prev_hash == heads.get(org, bytes(32))
                heads[org] = digest_of(entry.raw)
        log.close()
        assert set(heads) == {"", ORG}


def test_four_partitions_decide_side_by_side(ledger: Settings) -> None:
    orgs = {topics.partition_of_org(f"org-{i}", ledger.partitions): f"org-{i}" for i in range(50)}
    producer = Producer(ledger, "test")
    producer.start()
    tools = Tools(
        ledger, Policy(), encoder(ledger), decoder(ledger), producer, lambda *_: None, boot_id="test", clock=now_micros
    )
    failures: list[BaseException] = []

    def decide(number: int, org_id: str) -> None:
        try:
            decider = open_partition(tools, number)
            command = RegisterOrg(command_id="r", org_id=org_id, name=org_id)
            producer.produce(topics.commands(ledger), number, org_id, COMMANDS.encode(command))
            while org_id not in decider.ledger.orgs:
                decider.step()
            decider.close()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=decide, args=place) for place in orgs.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    producer.close()
    assert failures == []
    assert len(orgs) == ledger.partitions
