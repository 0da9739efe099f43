"""A decided batch as Kafka records: which topic, partition, key, bytes and headers."""

from functools import cache
from itertools import groupby

from schemas.checksum import CHECKSUM_HEADER, checksum_of
from schemas.recorded import Recorded
from services.decider.batch import Batch, StoredEvent
from services.ledger.replies import Reply
from services.ledger.tasks import Delivery, DeliveryBatch, Task
from services.ledger.wire import DELIVERIES, REPLIES, TASKS
from services.runtime import topics
from services.runtime.settings import Settings
from services.runtime.transactions import Outgoing

DELIVERIES_PER_RECORD = 100
Header = tuple[str, bytes]
VERSION: Header = ("ce_specversion", b"1.0")
CONTENT: Header = ("content-type", b"application/avro")


def transaction_of(batch: Batch, settings: Settings) -> list[Outgoing]:
    """Return the records that have to be written together."""
    return [
        *(_event(stored, settings) for stored in batch.events),
        *(_task(task, settings) for task in batch.tasks),
        *_deliveries(batch.deliveries, settings),
    ]


def reply_of(reply: Reply, settings: Settings) -> Outgoing:
    """Return the record of a reply, to be sent after the commit."""
    return Outgoing(
        topics.replies(settings), topics.reply_partition(reply.requester), reply.requester, REPLIES.encode(reply)
    )


def event_headers(recorded: Recorded, stored: bytes) -> list[Header]:
    """CloudEvents attributes (binary mode) and the position, so that readers can skip without decoding; the checksum.

    Readers that go by the checksum rely on this order (`schemas/checked.py`).
    """
    header, org_id = recorded.header, recorded.event.org_id.encode()
    type_, source = _shared_headers(header.event_type, header.partition)
    return [
        VERSION,
        type_,
        ("ce_id", header.event_id.hex().encode()),
        source,
        CONTENT,
        ("ledger-position", b"%d" % header.position),
        (CHECKSUM_HEADER, checksum_of(header.partition, header.position, type_[1], org_id, stored)),
    ]


@cache
def _shared_headers(event_type: str, partition: int) -> tuple[Header, Header]:
    return ("ce_type", f"jobledger.{event_type}".encode()), ("ce_source", b"/jobledger/%d" % partition)


def _event(stored: StoredEvent, settings: Settings) -> Outgoing:
    recorded = stored.recorded
    return Outgoing(
        topics.events(settings),
        recorded.header.partition,
        recorded.event.org_id,
        stored.stored,
        event_headers(recorded, stored.stored),
    )


def _task(task: Task, settings: Settings) -> Outgoing:
    partition = topics.spread_partition(task.partition, task.job_id, settings.task_spread)
    return Outgoing(topics.tasks(settings, task.vocabulary), partition, task.org_id, TASKS.encode(task))


def _deliveries(deliveries: list[Delivery], settings: Settings) -> list[Outgoing]:
    def place(delivery: Delivery) -> tuple[str, int]:
        return delivery.kind, topics.spread_partition(delivery.partition, delivery.job_id, settings.task_spread)

    records = []
    for (kind, partition), group in groupby(sorted(deliveries, key=place), key=place):
        members = list(group)
        for start in range(0, len(members), DELIVERIES_PER_RECORD):
            chunk = tuple(members[start : start + DELIVERIES_PER_RECORD])
            value = DELIVERIES.encode(DeliveryBatch(deliveries=chunk))
            records.append(Outgoing(topics.deliveries(settings, kind), partition, chunk[0].org_id, value))
    return records
