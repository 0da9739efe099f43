"""Topics are made as the ledger needs them, and a ledger that does not fit them is refused."""

import dataclasses
import threading

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType  # type: ignore[attr-defined]

from services.runtime.admin import ensure_topics, wait_for_broker
from services.runtime.errors import BrokerFault, SettingsError
from services.runtime.settings import Settings
from services.runtime.topics import all_topics, events


def test_missing_topics_are_made_with_their_partitions_and_doing_it_again_changes_nothing(settings: Settings) -> None:
    ensure_topics(settings)
    ensure_topics(settings)
    found = AdminClient({"bootstrap.servers": settings.kafka}).list_topics(timeout=10).topics
    for topic in all_topics(settings):
        assert len(found[topic.name].partitions) == topic.partitions


def test_processes_that_make_the_topics_at_once_do_not_disturb_each_other(settings: Settings) -> None:
    errors: list[Exception] = []

    def ensure() -> None:
        try:
            ensure_topics(settings)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=ensure) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_another_number_of_partitions_is_an_error_that_names_both(ledger: Settings) -> None:
    with pytest.raises(SettingsError, match=rf"{events(ledger)} has 4 partitions but the settings ask for 5"):
        ensure_topics(dataclasses.replace(ledger, partitions=5))


@pytest.mark.kafka
def test_events_are_kept_for_ever(ledger: Settings) -> None:
    client = AdminClient({"bootstrap.servers": ledger.kafka})
    resource = ConfigResource(ResourceType.TOPIC, events(ledger))
    [future] = client.describe_configs([resource]).values()
    config = future.result(10)
    assert (config["retention.ms"].value, config["cleanup.policy"].value) == ("-1", "delete")


@pytest.mark.kafka
def test_an_events_topic_that_forgets_is_refused(settings: Settings) -> None:
    client = AdminClient({"bootstrap.servers": settings.kafka})
    new = NewTopic(events(settings), num_partitions=settings.partitions, config={"retention.ms": "60000"})
    for future in client.create_topics([new]).values():
        future.result(10)
    with pytest.raises(SettingsError, match="would lose events"):
        ensure_topics(settings)


def test_waiting_for_a_broker_that_is_there_returns(settings: Settings) -> None:
    wait_for_broker(settings, 10)


def test_waiting_for_a_broker_that_is_not_there_ends_at_the_deadline_and_says_what_to_do(settings: Settings) -> None:
    with pytest.raises(BrokerFault, match=r"127.0.0.1:9 within 0.3 s.*JOBLEDGER_KAFKA"):
        wait_for_broker(dataclasses.replace(settings, kafka="127.0.0.1:9"), 0.3)
