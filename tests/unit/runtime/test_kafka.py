"""What librdkafka cures by itself is logged; what it cannot is raised to whoever uses the client."""

import logging
import time

import pytest
from confluent_kafka import KafkaError

from services.runtime import kafka
from services.runtime.errors import BrokerFault
from services.runtime.producer import Producer
from services.runtime.settings import Settings

NOWHERE = Settings(kafka="127.0.0.1:9", postgres="", registry="", blobs="")


def test_an_error_that_passes_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        kafka._on_error(KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down"))
    [record] = caplog.records
    assert (record.__dict__["code"], record.__dict__["reason"]) == ("_ALL_BROKERS_DOWN", "1/1 brokers are down")


def test_a_fatal_error_is_raised() -> None:
    with pytest.raises(BrokerFault, match="restart the process"):
        kafka._on_error(KafkaError(KafkaError._FATAL, "sequence lost", fatal=True))


def test_what_a_callback_raises_reaches_the_user_of_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    def fatal(_error: KafkaError) -> None:
        raise BrokerFault("lost for good")

    monkeypatch.setattr(kafka, "_on_error", fatal)
    producer = Producer(NOWHERE, "test")
    with pytest.raises(BrokerFault, match="lost for good"):
        _serve(producer, time.monotonic() + 10)


def _serve(producer: Producer, deadline: float) -> None:
    """Poll until the deadline: a poll comes back after a line for the log too, before the error behind it."""
    while time.monotonic() < deadline:
        producer._kafka.poll(1)
