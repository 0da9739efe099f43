"""A topic of events with orgs, jobs that end, junk, aborted transactions and fences in it."""

from collections.abc import Mapping
from dataclasses import dataclass

import confluent_kafka

from schemas.events import EVENT_TYPES
from services.decider.outgoing import event_headers
from services.runtime.kafka import client_config
from services.runtime.registry import encoder
from services.runtime.settings import Settings
from services.runtime.topics import events
from services.runtime.transactions import Outgoing, PartitionTransactions
from tests.event_streams import Stream
from tests.fakes.strangers import junk_for

ENDED = ("JobCompleted", "JobFailed", "JobCancelled")


@dataclass
class Topic:
    """Writes streams to their partitions, and knows what a consumer has to see."""

    settings: Settings
    streams: list[Stream]

    @property
    def name(self) -> str:
        """Name of the topic."""
        return events(self.settings)

    @property
    def environ(self) -> Mapping[str, str]:
        """What the programs of the page are told."""
        of = self.settings
        return {"KAFKA": of.kafka, "REGISTRY": of.registry, "TOPIC": self.name}

    def places(self, *names: str) -> set[tuple[int, int]]:
        """Return partition and position of every event of these types, or of all."""
        wanted = names or tuple(EVENT_TYPES)
        headers = [each.header for stream in self.streams for each in stream.events]
        return {(header.partition, header.position) for header in headers if header.event_type in wanted}

    def write(self) -> None:
        """Write all of it: in small transactions, one of which is written and aborted first, behind junk and fences."""
        for stream in self.streams:
            transactions = PartitionTransactions(self.settings, stream.partition)
            transactions.open()
            records = self._records(stream)
            self._write_aborted(records[:3])
            self._write_junk(stream.partition)
            for start in range(0, len(records), 7):
                transactions.write(records[start : start + 7])
                if start % 3 == 0:
                    transactions.fence(self.name, stream.partition)
            transactions.close()

    def _records(self, stream: Stream) -> list[Outgoing]:
        return [
            Outgoing(self.name, stream.partition, recorded.event.org_id, raw, event_headers(recorded, raw))
            for recorded, raw in zip(stream.events, stream.raws, strict=True)
        ]

    def _write_aborted(self, records: list[Outgoing]) -> None:
        config = client_config(self.settings, "aborting") | {"transactional.id": f"{self.name}.aborting"}
        producer = confluent_kafka.Producer(config)
        producer.init_transactions()
        producer.begin_transaction()
        for each in records:
            producer.produce(each.topic, each.value, each.key, each.partition, headers=list(each.headers))
        producer.flush(30)
        producer.abort_transaction()

    def _write_junk(self, partition: int) -> None:
        producer = confluent_kafka.Producer(client_config(self.settings, "somebody") | {"message.max.bytes": 2_000_000})
        for junk in junk_for(1).values():
            if len(junk.value) < 1_000:
                producer.produce(self.name, junk.value, junk.key, partition, headers=list(junk.headers))
        assert producer.flush(30) == 0


def played(settings: Settings, partitions: int, moves: int) -> Topic:
    """Return a topic, not written yet, in which jobs of some partitions live and end."""
    writer = encoder(settings)
    numbers = [number * 7 % 256 for number in range(moves)]
    streams = [Stream(each, (f"acme-{each}",), writer).open() for each in range(partitions)]
    for stream in streams:
        stream.play([0, *numbers])
        stream.end_early(stream.submit(), 2)
    return Topic(settings, streams)
