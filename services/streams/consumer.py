"""The one correction of Faust's consumer: what it reads, how long a fetch waits, and what an ack commits.

Pinned to faust-streaming 0.15.3 and aiokafka 0.14, whose insides it overrides; `tests/integration/streams` shows
with a planted aborted record and with transaction markers that it takes effect.
"""

from typing import Any

import aiokafka
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer, Transport, server_list
from faust.types import TP

FETCH_WAIT_MS = 500  # Kafka answers as soon as there is data
TANSU_FETCH_WAIT_MS = 20  # Tansu answers when the time is up
MAX_POLL_INTERVAL_MS = 24 * 3_600_000  # records wait as long as every slot is taken; leases tell a dead worker


class CommittedReads(AIOKafkaConsumerThread):
    """Reads committed records only; at_least_once would read aborted ones too."""

    fetch_wait_ms = FETCH_WAIT_MS

    def _create_worker_consumer(self, transport: Transport) -> aiokafka.AIOKafkaConsumer:
        conf = self.app.conf
        self._assignor = RoundRobinPartitionAssignor
        return aiokafka.AIOKafkaConsumer(
            client_id=conf.broker_client_id,
            group_id=conf.id,
            bootstrap_servers=server_list(transport.url, transport.default_port),
            partition_assignment_strategy=[RoundRobinPartitionAssignor],
            isolation_level="read_committed",
            fetch_max_wait_ms=self.fetch_wait_ms,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_poll_records=conf.broker_max_poll_records,
            max_poll_interval_ms=MAX_POLL_INTERVAL_MS,
            request_timeout_ms=int(conf.broker_request_timeout * 1000),
            session_timeout_ms=int(conf.broker_session_timeout * 1000),
            rebalance_timeout_ms=int(conf.broker_rebalance_timeout * 1000),
            heartbeat_interval_ms=int(conf.broker_heartbeat_interval * 1000),
            **self.app.connecting,  # type: ignore[attr-defined]  # of a StreamApp
        )


class PromptReads(CommittedReads):
    """The same for Tansu, which does not wake a waiting fetch."""

    fetch_wait_ms = TANSU_FETCH_WAIT_MS


class OrderlyConsumer(Consumer):
    """Commits the offset after the newest ack; our acks come in the order of each partition.

    Faust's own bookkeeping counts the record after a transaction marker and the first one after the committed offset
    as acked, and moves one marker forward a commit, however many transactions there were.
    """

    thread_type = CommittedReads

    def _new_consumer_thread(self) -> AIOKafkaConsumerThread:
        return self.thread_type(self, loop=self.loop, beacon=self.beacon)

    def ack(self, message: Any) -> bool:
        """Note an ack, unless a rebalance is on or came between: the record is read again, here or elsewhere.

        Faust acks what it throws out of its buffers then.
        """
        if message.generation_id != self.app.consumer_generation_id or not self.app.flow_control.is_active():
            message.acked = True
            return False
        return bool(super().ack(message))

    async def _add_gap(self, tp: TP, offset_from: int, offset_to: int) -> None:
        """Gaps mean nothing to a commit after the newest ack."""

    def _new_offset(self, tp: TP) -> int | None:
        acked = self._acked[tp]
        if not acked:
            return None
        newest: int = max(acked)
        acked.clear()
        self._acked_index[tp].clear()
        return newest + 1


class PromptConsumer(OrderlyConsumer):
    """The same for Tansu."""

    thread_type = PromptReads


class KafkaTransport(Transport):
    """Kafka through the corrected consumer."""

    Consumer = OrderlyConsumer


class TansuTransport(Transport):
    """Tansu through the corrected consumer."""

    Consumer = PromptConsumer
