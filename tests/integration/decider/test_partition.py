"""One partition on a real broker: transactions, fences, restore, replies, dead letters."""

import threading

import pytest
from msgspec.structs import replace

from schemas.values import Destination, Vocabulary
from services.decider.partition import Tools, open_partition
from services.ledger.commands import NewJob, RegisterOrg
from services.ledger.policy import Policy
from services.ledger.record import digest_of
from services.ledger.replies import Refused, Reply
from services.ledger.status import Status
from services.ledger.tasks import Task
from services.ledger.wire import COMMANDS, REPLIES, TASKS
from services.runtime import topics
from services.runtime.ends import Ends
from services.runtime.errors import DeadLetterLimit, Fenced
from services.runtime.ledger_log import Checkpoint, LedgerLog
from services.runtime.producer import Producer
from services.runtime.registry import decoder, encoder
from services.runtime.settings import Settings
from services.runtime.time import now_micros
from tests.integration.decider.partitions import (
    ORG,
    Partition,
    events_of,
    opened,
    read,
    registered,
    run_to_completion,
    submitted,
)


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
        events = events_of(ledger, second.number, position + 2)  # one slot in the fleet: j3 waits behind j2
        ids = [e.header.event_id for e in events]
        assert len(set(ids)) == len(ids)
        assert [e.header.position for e in events] == list(range(1, position + 3))


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


def test_commands_whose_events_could_not_be_written_are_parked_and_the_partition_moves_on(ledger: Settings) -> None:
    one = submitted("j1")
    unusable = (
        replace(one, max_run_seconds=2**63),
        replace(one, priority=-(2**63)),
        replace(one, jobs=(NewJob(job_id="j1", private=b"\0" * 950_000),)),
        replace(one, jobs=one.jobs * 2),
        replace(one, jobs=(NewJob(job_id=""),)),
        replace(one, jobs=(NewJob(job_id="j\0"),)),
        replace(one, vocabulary=Vocabulary.UNKNOWN),
        replace(one, destinations=(Destination(destination_id="d", kind="carrier-pigeon"),)),
    )
    with opened(ledger) as partition:
        partition.send(registered(), *unusable, submitted("j2"))
        partition.until(lambda: partition.status("j2") is not None)
        assert partition.status("j1") is None
        reasons = [reason for _, reason in partition.parked]
        assert reasons == ["bad_message"] * 2 + ["unusable_command"] * 6


def test_a_claim_that_is_parked_is_refused_so_that_the_worker_does_not_ask_for_ever(ledger: Settings) -> None:
    with opened(ledger) as partition:
        partition.send(replace(run_to_completion("j1")[0], requester="asker", org_id="nobody"))
        partition.until(lambda: partition.parked != [])
        partition.producer.flush()
        reply = REPLIES.decode(read(ledger, topics.replies(ledger), topics.reply_partition("asker"), 1)[0].value)
        assert isinstance(reply.body, Refused)
        assert (reply.command_id, reply.body.code) == ("c-j1", "foreign_org")


def test_what_was_parked_is_not_parked_again_by_the_next_run(ledger: Settings) -> None:
    with opened(ledger) as first:
        first.put(b"junk")
        first.until(lambda: first.parked != [])
    with opened(ledger) as second:
        second.send(registered())
        second.until(lambda: ORG in second.decider.ledger.orgs)
        assert second.parked == []


def test_a_limit_of_dead_letters_in_the_middle_of_a_batch_forgets_none_of_those_before_it(ledger: Settings) -> None:
    with opened(ledger) as first:
        first.parks = 2
        first.put(b"junk 1")
        first.put(b"junk 2")
        first.put(b"junk 3")
        with pytest.raises(DeadLetterLimit):
            first.until(lambda: False)
        assert [record.value for record, _ in first.parked] == [b"junk 1", b"junk 2"]
    with opened(ledger) as second:
        second.until(lambda: second.parked != [])
        assert [record.value for record, _ in second.parked] == [b"junk 3"]


def test_a_silent_worker_loses_its_job_after_its_lease_and_not_before(ledger: Settings) -> None:
    now = [now_micros()]
    partition = Partition(ledger, clock=lambda: now[0])
    try:
        partition.send(registered(), submitted("j1"), run_to_completion("j1")[0])
        partition.until(lambda: partition.status("j1") is Status.RUNNING)
        now[0] += 600_000_000  # ten minutes in one step: an outage, not ten minutes of silence
        partition.decider.step()
        assert partition.status("j1") is Status.RUNNING
        for _ in range(10):
            now[0] += 2_500_000
            partition.decider.step()
        assert partition.status("j1") is Status.RUNNING  # 5 s of the outage, and 25 s since
        for _ in range(3):
            now[0] += 2_500_000
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
        ledger,
        Policy(),
        encoder(ledger),
        decoder(ledger),
        producer,
        lambda *_: None,
        Ends(ledger, topics.commands(ledger)),
        boot_id="test",
        clock=now_micros,
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
