"""The clients of the simulated broker, with the part of confluent_kafka's interface that the runtime uses."""

from typing import Any

from tests.simulation.consumer import Consumer
from tests.simulation.producers import PlainProducer, TransactionalProducer
from tests.simulation.wire import Wire


class Clients(Wire):
    """Makes clients of one broker; `Producer` and `Consumer` stand for the classes of confluent_kafka."""

    def producer(self, config: dict[str, Any]) -> PlainProducer | TransactionalProducer:
        """Stand for `confluent_kafka.Producer`."""
        return TransactionalProducer(self, config) if "transactional.id" in config else PlainProducer(self, config)

    def consumer(self, config: dict[str, Any]) -> Consumer:
        """Stand for `confluent_kafka.Consumer`."""
        return Consumer(self, config)
