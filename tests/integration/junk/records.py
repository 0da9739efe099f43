"""What is planted on topics, and what became of it."""

import asyncio
import hashlib
import uuid
from collections.abc import Iterable
from dataclasses import dataclass

import confluent_kafka
import msgspec
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from services.ledger.commands import NewJob, RegisterOrg, SubmitJobs
from services.ledger.tasks import DeliveryBatch
from services.ledger.wire import COMMANDS, DELIVERIES, TASKS
from services.runtime import topics
from services.runtime.kafka import client_config
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings
from tests.unit.workers import fakes as workers
from tests.unit.writers import fakes as writers

PARTITION = 3
ORG = "org-1"  # of every good record
FULL_BYTES = 1_048_400  # of a value: with what is around it, all that the topics take (1,048,588 bytes a batch)


@dataclass(frozen=True, slots=True)
class Planted:
    """A record, and the reason for which it has to be dead-lettered; "": it is good."""

    value: bytes
    reason: str = ""
    key: str = ORG


def task(number: int, partition: int = PARTITION) -> bytes:
    """Return a task for job `job-<number>`."""
    return TASKS.encode(msgspec.structs.replace(workers.task(f"job-{number}"), partition=partition))


def deliveries(kind: str, *numbers: int, partition: int = PARTITION) -> bytes:
    """Return a record of deliveries of jobs without an extraction."""
    made = (writers.delivery(number, kind=kind, partition=partition, extraction_ref="") for number in numbers)
    return DELIVERIES.encode(DeliveryBatch(deliveries=tuple(made)))


def submission(number: int, org_id: str = ORG) -> bytes:
    """Return the command that submits job `job-<number>`."""
    job = NewJob(job_id=f"job-{number}", private=b"\0{}")
    return COMMANDS.encode(SubmitJobs(command_id=uuid.uuid4().hex, org_id=org_id, jobs=(job,)))


def registration(org_id: str = ORG) -> bytes:
    """Return the command that registers an org."""
    return COMMANDS.encode(RegisterOrg(command_id="r", org_id=org_id, name="Org"))


def junk(good: bytes) -> tuple[Planted, ...]:
    """Return what is no message at all, or not of this kind, made of one that is good."""
    return (
        Planted(b"", "bad_message"),
        Planted(b"\xff\x00\xfe", "bad_message"),
        Planted(b"\x02" + good[1:], "bad_message"),  # of a version that nobody knows
        Planted(b"\x00\x00\x00\x00\x63event", "bad_message"),  # of a schema that nobody knows
        Planted(good[:-1], "bad_message"),
        Planted(good + b"\0", "bad_message"),
        Planted(b"\x01" + b"\xc1" * (FULL_BYTES - 1), "bad_message"),
    )


def plant(settings: Settings, topic: str, partition: int, records: Iterable[Planted]) -> None:
    """Put records on a partition as anybody can who may write there."""
    config = client_config(settings, "somebody") | {"message.max.bytes": 2_000_000}
    producer = confluent_kafka.Producer(config)
    for record in records:
        producer.produce(topic, record.value, record.key.encode(), partition)
        assert producer.flush(30) == 0  # each in a batch of its own, or the largest does not fit


class Letters:
    """Everything on the topic of dead letters."""

    def __init__(self, settings: Settings) -> None:
        self._reader = LogReader(settings, topics.dead_letters(settings), {0: 0})
        self.all: list[Record] = []

    async def read(self) -> int:
        """Read what is new and return how many there are."""
        self.all += await asyncio.to_thread(self._reader.poll, 100, 0.05)
        return len(self.all)

    def close(self) -> None:
        """Leave the broker."""
        self._reader.close()


def said_of(letter: Record) -> dict[str, str]:
    """Return the headers of a dead letter by which its origin is found, and why it was parked."""
    said = {name: value.decode() for name, value in letter.headers}
    return {name: said[f"origin-{name}"] for name in ("topic", "partition", "offset", "bytes")} | {
        name: said[name] for name in ("reason", "sha256")
    }


def to_be_said(topic: str, partition: int, offset: int, planted: Planted) -> dict[str, str]:
    """Return what the dead letter of a planted record has to say."""
    return {
        "topic": topic,
        "partition": str(partition),
        "offset": str(offset),
        "bytes": str(len(planted.value)),
        "reason": planted.reason,
        "sha256": hashlib.sha256(planted.value).hexdigest(),
    }


def limit_records(settings: Settings, topic: str, largest_bytes: int) -> None:
    """Have a topic refuse records over a size."""
    entry = ConfigEntry("max.message.bytes", str(largest_bytes), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    client = AdminClient(client_config(settings, "operator"))
    for answer in client.incremental_alter_configs([resource]).values():
        answer.result(30)
