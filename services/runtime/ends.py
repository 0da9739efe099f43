"""Where the partitions of a topic end now, for whoever asks often: one admin client that stays open.

A fresh client per question (`reader.committed_end`) now and then waits 3 s for the leader of a partition (librdkafka
2.14: the timer of its leader query; seen in 2 of 20 calls on an idle broker). One that knows the leaders does not.
"""

import asyncio
import time
from collections.abc import Iterable

from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from services.runtime.errors import BrokerFault
from services.runtime.kafka import client_config, error_of
from services.runtime.reader import NOT_YET, RETRY_SECONDS
from services.runtime.settings import Settings

REQUEST_SECONDS = 5.0


class Ends:
    """Asks for the last stable offsets of one topic, from one event loop."""

    def __init__(self, settings: Settings, topic: str) -> None:
        self._settings = settings
        self._topic = topic
        self._client = AdminClient(client_config(settings, "ends"))

    async def of(self, partitions: Iterable[int]) -> dict[int, int]:
        """Return the offset behind the last record that a read_committed reader sees now, by partition.

        As for `reader.committed_end`: in a transactional topic the last record lies below a marker, and on Tansu the
        answer is not to be relied on. Raises BrokerFault where the broker does not tell in 5 s.
        """
        asked = list(partitions)
        deadline = time.monotonic() + REQUEST_SECONDS
        while True:
            try:
                return await self._once(asked)
            except KafkaException as exception:
                error = error_of(exception)
                if error.code() not in NOT_YET or time.monotonic() >= deadline:
                    raise BrokerFault(
                        f"Kafka at {self._settings.kafka} does not tell where {self._topic} ends: {error.str()}"
                    ) from exception
            await asyncio.sleep(RETRY_SECONDS)

    async def _once(self, partitions: list[int]) -> dict[int, int]:
        spec = OffsetSpec.latest()  # type: ignore[no-untyped-call]
        futures = self._client.list_offsets(
            {TopicPartition(self._topic, partition): spec for partition in partitions},
            isolation_level=IsolationLevel.READ_COMMITTED,
            request_timeout=REQUEST_SECONDS,
        )
        found = await asyncio.gather(*map(asyncio.wrap_future, futures.values()))
        return {place.partition: answer.offset for place, answer in zip(futures, found, strict=True)}
