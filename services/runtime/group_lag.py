"""How many records a consumer group has not finished, told by the broker: whether or not a member answers."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaException, TopicPartition

from services.runtime.ends import Ends
from services.runtime.errors import BrokerFault
from services.runtime.heads import LastRecords
from services.runtime.kafka import client_config, error_of
from services.runtime.settings import Settings

REQUEST_SECONDS = 3.0


@dataclass(slots=True)
class GroupLag:
    """Where a group stands in a topic and where the topic ends; ask `renew` now and then, from an event loop.

    Its clients stay open from one question to the next: a new one costs the broker more than what it is asked.
    Offsets count the markers of transactions too, so a lag of 5 may be 3 records; 0 is exact.
    """

    settings: Settings
    topic: str
    group: str
    heads: dict[int, int] = field(default_factory=dict)  # offset behind the last record, by partition
    done: dict[int, int] = field(default_factory=dict)  # committed offset of the group, or the first there is
    _seen: dict[int, int] = field(default_factory=dict)
    _ends: Ends | None = None
    _last: LastRecords | None = None
    _consumer: Consumer | None = None

    async def renew(self, partitions: Iterable[int]) -> None:
        """Ask the broker about these partitions; BrokerFault where it does not tell."""
        wanted = list(partitions)
        self._ends = self._ends or Ends(self.settings, self.topic)
        now = await self._ends.of(wanted)
        grown = {partition: end for partition, end in now.items() if end != self._seen.get(partition, 0)}
        self._last = self._last or LastRecords(self.settings, self.topic)
        self.heads |= await asyncio.to_thread(self._last.offsets, grown)
        self._seen |= now
        told = await asyncio.to_thread(self._committed, wanted)
        fresh = [partition for partition in wanted if partition not in told]
        self.done = told | (await self._ends.firsts(fresh) if fresh else {})

    def lags(self) -> dict[int, int]:
        """Return how far the group lies behind in each partition that was asked about."""
        return {at: max(0, self.heads.get(at, 0) - offset) for at, offset in self.done.items()}

    def _committed(self, partitions: Iterable[int]) -> dict[int, int]:
        """Return where the group goes on in each partition for which it ever committed."""
        consumer = self._consumer or Consumer(client_config(self.settings, "lag") | {"group.id": self.group})
        self._consumer = None  # one that met an error keeps what it then believed
        places = [TopicPartition(self.topic, partition) for partition in partitions]
        try:
            told = consumer.committed(places, timeout=REQUEST_SECONDS)
        except KafkaException as exception:
            raise BrokerFault(
                f"Kafka at {self.settings.kafka} does not tell how far group {self.group} came: "
                f"{error_of(exception).str()}"
            ) from exception
        self._consumer = consumer
        return {place.partition: place.offset for place in told if place.offset >= 0 and place.error is None}
