"""A topic that one broker of a cluster has made and another does not know yet."""

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from services.runtime import admin
from services.runtime.errors import BrokerFault

KEPT = {"retention.ms": "-1", "retention.bytes": "-1", "cleanup.policy": "delete"}


class SlowCluster:
    """Answers descriptions as a broker does that hears of a topic late."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals

    def describe_configs(self, resources: list[Any], **_options: float) -> dict[Any, "Future[Any]"]:
        """Refuse some times, then answer."""
        future: Future[Any] = Future()
        if self.refusals:
            self.refusals -= 1
            future.set_exception(KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)))
        else:
            future.set_result({name: SimpleNamespace(value=value) for name, value in KEPT.items()})
        return {resources[0]: future}


def test_a_broker_that_hears_of_a_topic_late_is_asked_again() -> None:
    cluster = SlowCluster(refusals=2)
    admin._check_events_are_kept(cluster, "events")  # type: ignore[arg-type]
    assert cluster.refusals == 0


def test_a_topic_that_stays_away_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "REQUEST_SECONDS", 0.0)
    with pytest.raises(BrokerFault, match="describe topic events"):
        admin._check_events_are_kept(SlowCluster(refusals=1), "events")  # type: ignore[arg-type]
