"""Topics as they are, held against those that the settings ask for: what can be changed, and what must not be."""

from collections.abc import Iterable, Mapping
from typing import Literal

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from msgspec import Struct

from services.runtime.admin import REQUEST_SECONDS, admin_client, config_of, create, result_of, topic_config
from services.runtime.errors import BrokerFault
from services.runtime.kafka import error_of
from services.runtime.settings import Settings
from services.runtime.topics import Topic, all_topics

How = Literal["create", "alter", "refuse"]
PLACEMENT = (
    "an org's records would be looked for on another partition: the number is fixed for the life of a ledger; correct "
    "JOBLEDGER_PARTITIONS or JOBLEDGER_TASK_SPREAD, or begin a new ledger under another JOBLEDGER_TOPIC_PREFIX"
)
REPLICAS = "copies are moved by the cluster's own tools (kafka-reassign-partitions), or correct JOBLEDGER_REPLICATION"


class Found(Struct, frozen=True):
    """A topic as the broker has it; `config` is empty where the broker keeps none."""

    partitions: int
    replication: int
    config: Mapping[str, str]


class Difference(Struct, frozen=True):
    """One thing that is not as the settings ask; `advice` says what to do where it cannot be changed here."""

    topic: str
    what: str  # topic, partitions, replication, or the name of an entry of its configuration
    found: str
    wanted: str
    how: How
    advice: str = ""


def differences(wanted: Iterable[Topic], found: Mapping[str, Found], replication: int) -> list[Difference]:
    """Return what is not as it should be, topic by topic."""
    different: list[Difference] = []
    for topic in wanted:
        here = found.get(topic.name)
        if here is None:
            different.append(Difference(topic.name, "topic", "none", f"{topic.partitions} partitions", "create"))
            continue
        for what, is_now, shall, advice in (
            ("partitions", here.partitions, topic.partitions, PLACEMENT),
            ("replication", here.replication, replication, REPLICAS),
        ):
            if is_now != shall:
                different.append(Difference(topic.name, what, str(is_now), str(shall), "refuse", advice))
        for name, value in topic_config(topic, replication).items():
            if here.config and here.config.get(name) != value:
                different.append(Difference(topic.name, name, here.config.get(name, ""), value, "alter"))
    return different


def plan(settings: Settings) -> list[Difference]:
    """Ask the broker how the topics of the ledger are, and return what differs; BrokerFault where it does not tell."""
    return differences(all_topics(settings), _found(admin_client(settings), settings), settings.replication)


def apply(settings: Settings, planned: Iterable[Difference]) -> None:
    """Create and alter what a plan says can be, and leave alone what it refuses. BrokerFault where Kafka refuses."""
    client = admin_client(settings)
    todo = list(planned)
    names = {each.topic for each in todo if each.how == "create"}
    create(client, settings, [topic for topic in all_topics(settings) if topic.name in names])
    entries: dict[str, list[ConfigEntry]] = {}
    for each in todo:
        if each.how == "alter":
            entry = ConfigEntry(each.what, each.wanted, incremental_operation=AlterConfigOpType.SET)
            entries.setdefault(each.topic, []).append(entry)
    _alter(client, entries)


def _alter(client: AdminClient, entries: Mapping[str, list[ConfigEntry]]) -> None:
    if not entries:
        return
    resources = [ConfigResource(ResourceType.TOPIC, topic, incremental_configs=some) for topic, some in entries.items()]
    for resource, future in client.incremental_alter_configs(resources, request_timeout=REQUEST_SECONDS).items():
        result_of(future, f"alter topic {resource.name}")


def _found(client: AdminClient, settings: Settings) -> dict[str, Found]:
    try:
        listed = client.list_topics(timeout=REQUEST_SECONDS).topics
    except KafkaException as exception:
        raise BrokerFault(f"Kafka does not list its topics: {error_of(exception).str()}") from exception
    found = {}
    for topic in all_topics(settings):
        here = listed.get(topic.name)
        if here is None or here.error is not None:
            continue
        copies = min((len(each.replicas) for each in here.partitions.values()), default=0)
        found[topic.name] = Found(len(here.partitions), copies, _config(client, settings, topic.name))
    return found


def _config(client: AdminClient, settings: Settings, topic: str) -> dict[str, str]:
    if settings.broker == "tansu":  # it does not keep topic configuration
        return {}
    return {name: str(entry.value) for name, entry in config_of(client, topic).items()}
