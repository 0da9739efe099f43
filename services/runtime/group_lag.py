"""How many records a consumer group has not finished, told by the broker: whether or not a member answers."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaException, TopicPartition

from services.runtime.ends import Ends, first_offsets
from services.runtime.errors import BrokerFault
from services.runtime.heads import last_offsets
from services.runtime.kafka import client_config, error_of
from services.runtime.settings import Settings

REQUEST_SECONDS = 3.0


@dataclass(slots=True)
class GroupLag:
    """Where a group stands in a topic and where the topic ends; ask `renew` now and then, from an event loop.

    Offsets count the markers of transactions too, so a lag of 5 may be 3 records; 0 is exact.
    """

    settings: Settings
    topic: str
    group: str
    heads: dict[int, int] = field(default_factory=dict)  # offset behind the last record, by partition
    done: dict[int, int] = field(default_factory=dict)  # committed offset of the group, by partition
    _seen: dict[int, int] = field(default_factory=dict)
    _ends: Ends | None = None

    async def renew(self, partitions: Iterable[int]) -> None:
        """Ask the broker about these partitions; BrokerFault where it does not tell."""
        wanted = list(partitions)
        self._ends = self._ends or Ends(self.settings, self.topic)
        now = await self._ends.of(wanted)
        grown = {partition: end for partition, end in now.items() if end != self._seen.get(partition, 0)}
        self.heads |= await asyncio.to_thread(last_offsets, self.settings, self.topic, grown)
        self._seen |= now
        self.done = await asyncio.to_thread(committed, self.settings, self.topic, self.group, wanted)

    def lags(self) -> dict[int, int]:
        """Return how far the group lies behind in each partition that was asked about."""
        return {at: max(0, self.heads.get(at, 0) - offset) for at, offset in self.done.items()}


def committed(settings: Settings, topic: str, group: str, partitions: Iterable[int]) -> dict[int, int]:
    """Return where a group goes on in each partition; where it never committed, the first offset."""
    consumer = Consumer(client_config(settings, "lag") | {"group.id": group})
    places = [TopicPartition(topic, partition) for partition in partitions]
    try:
        told = consumer.committed(places, timeout=REQUEST_SECONDS)
    except KafkaException as exception:
        raise BrokerFault(
            f"Kafka at {settings.kafka} does not tell how far group {group} came: {error_of(exception).str()}"
        ) from exception
    finally:
        consumer.close()
    found = {place.partition: place.offset for place in told if place.offset >= 0 and place.error is None}
    fresh = [place.partition for place in told if place.partition not in found]
    return found | (first_offsets(settings, topic, fresh) if fresh else {})
