"""What every Kafka client of ours has in common: where the broker is, and what becomes of its errors."""

import logging
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from services.runtime.errors import BrokerFault
from services.runtime.settings import Settings

log = logging.getLogger(__name__)
Config = dict[str, Any]


def client_config(settings: Settings, name: str) -> Config:
    """Return the configuration that producers, consumers and admin clients share; `name` shows up on the broker."""
    return {
        **settings.connection().librdkafka(),
        "client.id": f"jobledger.{name}",
        "error_cb": _on_error,
        "logger": log,
        "reconnect.backoff.max.ms": 1000,  # the default of 10 s makes every restart of a broker longer than it is
        "topic.metadata.refresh.interval.ms": 60_000,
    }


def _on_error(error: KafkaError) -> None:
    """Log what librdkafka cures by itself; raise what it cannot out of the poll() that served this callback."""
    if error.fatal():
        raise BrokerFault(f"Kafka client failed for good: {error.name()}: {error.str()}; restart the process")
    log.warning("Kafka client reports an error", extra={"code": error.name(), "reason": error.str()})


def error_of(exception: KafkaException) -> KafkaError:
    """Return the KafkaError inside a KafkaException."""
    error: KafkaError = exception.args[0]
    return error
