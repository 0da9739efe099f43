"""Names and partitions of every topic, and which partition a record goes to."""

import zlib
from dataclasses import dataclass

from schemas.placement import partition_of_org as partition_of_org
from services.ledger.warehouses import WAREHOUSES
from services.runtime.settings import Settings

TASK_KINDS = ("workflow", "module", "spider")
DELIVERY_KINDS = ("postgres", "webhook", "clickhouse", *WAREHOUSES)
REPLY_PARTITIONS = 8
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic: its full name, number of partitions and retention in milliseconds (-1: for ever)."""

    name: str
    partitions: int
    retention_ms: int


def commands(settings: Settings) -> str:
    """Topic of commands; partition = the org's partition."""
    return f"{settings.topic_prefix}.commands"


def events(settings: Settings) -> str:
    """Topic of events: the ledger itself."""
    return f"{settings.topic_prefix}.events"


def replies(settings: Settings) -> str:
    """Topic of replies; each requester listens to one partition of it."""
    return f"{settings.topic_prefix}.replies"


def dead_letters(settings: Settings) -> str:
    """Topic of records that could not be used."""
    return f"{settings.topic_prefix}.dead-letters"


def tasks(settings: Settings, kind: str) -> str:
    """Topic of tasks for workers of one kind."""
    return f"{settings.topic_prefix}.tasks.{kind}"


def deliveries(settings: Settings, kind: str) -> str:
    """Topic of deliveries for the bulk-writer of one destination kind."""
    return f"{settings.topic_prefix}.deliveries.{kind}"


def workers_group(settings: Settings, kind: str) -> str:
    """Consumer group of the workers of one kind."""
    return f"{settings.topic_prefix}.workers-{kind}.v1"


def writers_group(settings: Settings, kind: str) -> str:
    """Consumer group of the bulk-writers of one destination kind."""
    return f"{settings.topic_prefix}.writers-{kind}.v1"


def reader_group(settings: Settings) -> str:
    """Group in whose name partitions are read: librdkafka wants one, and asks who coordinates it; nobody joins it."""
    return f"{settings.topic_prefix}.reader"


def ends_group(settings: Settings) -> str:
    """The same for asking where topics end."""
    return f"{settings.topic_prefix}.ends"


def transactional_id(settings: Settings, name: str) -> str:
    """Name of one of the decider's transactional producers."""
    return f"{settings.topic_prefix}.{name}"


def all_topics(settings: Settings) -> tuple[Topic, ...]:
    """Every topic that a ledger needs."""
    spread = settings.partitions * settings.task_spread
    return (
        Topic(events(settings), settings.partitions, -1),
        Topic(commands(settings), settings.partitions, 7 * DAY_MS),
        Topic(replies(settings), REPLY_PARTITIONS, HOUR_MS),
        Topic(dead_letters(settings), 1, -1),
        *(Topic(tasks(settings, kind), spread, 7 * DAY_MS) for kind in TASK_KINDS),
        *(Topic(deliveries(settings, kind), spread, 7 * DAY_MS) for kind in DELIVERY_KINDS),
    )


def spread_partition(partition: int, job_id: str, spread: int) -> int:
    """The partition of a task or delivery topic for a job of a ledger partition."""
    return partition * spread + zlib.crc32(job_id.encode()) % spread


def reply_partition(requester: str) -> int:
    """The partition of the replies topic on which a requester listens."""
    return zlib.crc32(requester.encode()) % REPLY_PARTITIONS
