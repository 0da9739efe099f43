"""The broker that a test runs on: Apache Kafka, and the one of the simulation."""

from collections.abc import Iterator

import pytest

from services.runtime.topics import events
from tests.contract.broker.brokers import AnyBroker, Kafka, Simulated


@pytest.fixture(params=[pytest.param("kafka", marks=pytest.mark.kafka), "simulated"])
def broker(request: pytest.FixtureRequest) -> Iterator[AnyBroker]:
    """One broker per implementation, with topics that nobody else uses."""
    if request.param == "kafka":
        made: Kafka | Simulated = Kafka(request.getfixturevalue("stack"))
    else:
        made = Simulated()
    yield made
    made.close()


@pytest.fixture
def topic(broker: AnyBroker) -> str:
    """A topic of two partitions."""
    return broker.create(events(broker.settings))
