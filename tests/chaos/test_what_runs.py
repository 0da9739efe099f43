"""Chaos runs on what its page says: brokers that keep everything three times, and of services enough to lose one."""

from collections import Counter

from services.localstack.broker_kafka import SMALL_HEAP
from services.localstack.services import SERVICES
from services.runtime import admin
from services.runtime.settings import settings_from
from services.runtime.topics import all_topics
from tests.chaos.cluster import BROKERS, SETTINGS, every_service

GIVEN = {
    "JOBLEDGER_KAFKA": "k",
    "JOBLEDGER_POSTGRES": "host=p",
    "JOBLEDGER_REGISTRY": "r",
    "JOBLEDGER_BLOBS": "file:///b",
}
TWO = {"decider", "workers", "writers"}  # writers of one kind: Postgres


def test_two_deciders_two_workers_and_two_writers_of_one_kind_run_and_one_of_each_other_service() -> None:
    running = list(every_service())
    kinds = Counter(service.name.removesuffix("-0").removesuffix("-1") for service in running)
    assert kinds == {service.name: 1 + (service.name in TWO) for service in SERVICES}
    settings = {service.name: dict(service.settings) for service in running}
    assert [settings[f"decider-{number}"]["JOBLEDGER_INSTANCE"] for number in range(2)] == ["0", "1"]
    assert [settings[f"decider-{number}"]["JOBLEDGER_INSTANCES"] for number in range(2)] == ["2", "2"]
    assert settings["workers-0"] != settings["workers-1"], "each has a name of its own"


def test_every_topic_is_on_three_brokers_and_a_record_counts_once_two_of_them_have_it() -> None:
    settings = settings_from(GIVEN | SETTINGS)
    assert BROKERS == settings.replication == 3
    topics = all_topics(settings)
    assert len(topics) > 4
    for topic in topics:
        assert admin.topic_config(topic, settings.replication)["min.insync.replicas"] == "2"
    assert SMALL_HEAP[-1] == "-Xmx256m"
