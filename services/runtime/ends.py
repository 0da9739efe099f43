"""Where the partitions of a topic end now, for whoever asks often: clients that stay open.

`reader.committed_end` makes an admin client a question. In librdkafka 2.14 its leader query now and then sleeps for 3 s
(1 of 10 fresh clients, and at times a used one), and a question that timed out is answered with the offset -1001 and no
error. The watermark query of a consumer does neither: 0.4 ms, no stall in 3,500 calls.

A commit returns before its marker is written (seen on Apache Kafka 4.4): for some milliseconds the last stable offset
lies before records whose writer was told that they are committed. `settled` waits for that.
"""

import asyncio
import time
from collections.abc import Iterable
from typing import Literal

from confluent_kafka import Consumer, KafkaException, TopicPartition

from services.runtime.errors import BrokerFault
from services.runtime.kafka import client_config, error_of
from services.runtime.reader import NOT_YET, RETRY_SECONDS
from services.runtime.settings import Settings

REQUEST_SECONDS = 3.0
SETTLE_SECONDS = 0.005  # between two looks at whether the marker is there
Isolation = Literal["read_committed", "read_uncommitted"]


class Ends:
    """Asks for the ends of one topic, from one event loop; the asking itself is done in threads.

    On Tansu no answer is to be relied on.
    """

    def __init__(self, settings: Settings, topic: str) -> None:
        self._settings = settings
        self._topic = topic
        self._consumers: dict[Isolation, Consumer] = {}

    async def of(self, partitions: Iterable[int]) -> dict[int, int]:
        """Return the offset behind the last record that a read_committed reader sees now, by partition.

        Raises BrokerFault where the broker does not tell within 3 s.
        """
        return await self._told("read_committed", list(partitions))

    async def settled(self, partition: int) -> int:
        """Return an offset behind everything that was written before the call, once all of that is decided.

        Just below it is the marker of a transaction. Waits as long as a transaction from before the call is open:
        set a timeout. Raises BrokerFault where the broker does not tell within 3 s.
        """
        written = (await self._told("read_uncommitted", [partition]))[partition]
        while (end := (await self.of([partition]))[partition]) < written:  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(SETTLE_SECONDS)
        return end

    async def _told(self, isolation: Isolation, partitions: list[int]) -> dict[int, int]:
        """Ask, and again for a while where the broker says that it cannot tell yet (a new topic, a new leader)."""
        deadline = time.monotonic() + REQUEST_SECONDS
        while True:
            consumer = self._consumers.get(isolation) or Consumer(_config(self._settings, isolation))
            self._consumers[isolation] = consumer
            try:
                return await asyncio.to_thread(self._ask, consumer, partitions)
            except KafkaException as exception:
                if self._consumers.get(isolation) is consumer:
                    del self._consumers[isolation]  # one that slept through an election keeps to its old leaders
                error = error_of(exception)
                if error.code() not in NOT_YET or time.monotonic() >= deadline:
                    raise BrokerFault(
                        f"Kafka at {self._settings.kafka} does not tell where {self._topic} ends: {error.str()}"
                    ) from exception
            await asyncio.sleep(RETRY_SECONDS)

    def _ask(self, consumer: Consumer, partitions: list[int]) -> dict[int, int]:
        return {partition: self._end(consumer, partition) for partition in partitions}

    def _end(self, consumer: Consumer, partition: int) -> int:
        _, end = consumer.get_watermark_offsets(TopicPartition(self._topic, partition), timeout=REQUEST_SECONDS)
        return int(end)


def _config(settings: Settings, isolation: Isolation) -> dict[str, object]:
    return client_config(settings, "ends") | {
        "group.id": f"{settings.topic_prefix}.ends",  # librdkafka wants one; it is never joined
        "isolation.level": isolation,
    }
