"""What several packages of integration tests ask for."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from services.runtime.producer import Producer
from services.runtime.settings import Settings


@pytest.fixture
def producer(ledger: Settings) -> Iterator[Producer]:
    """A producer that has been started, to the topics of this test's ledger."""
    producer = Producer(ledger, "test")
    producer.start()
    with closing(producer):
        yield producer
