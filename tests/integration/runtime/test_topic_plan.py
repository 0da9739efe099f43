"""`plan` sees what drifted on a real broker, `apply` puts it back, and partitions stay as they are."""

import dataclasses

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from services.runtime.settings import Settings
from services.runtime.topic_plan import apply, plan
from services.runtime.topics import all_topics, commands, events
from tests.eventually import eventually


def test_applying_a_plan_leaves_nothing_to_plan(settings: Settings) -> None:
    missing = plan(settings)
    assert {each.topic for each in missing} == {topic.name for topic in all_topics(settings)}
    apply(settings, missing)
    assert plan(settings) == []


@pytest.mark.kafka
async def test_what_drifted_is_seen_and_put_back(ledger: Settings) -> None:
    drifted = {"cleanup.policy": "compact", "retention.ms": "1000"}
    entries = [ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET) for name, value in drifted.items()]
    resource = ConfigResource(ResourceType.TOPIC, events(ledger), incremental_configs=entries)
    client = AdminClient({"bootstrap.servers": ledger.kafka})
    for future in client.incremental_alter_configs([resource]).values():
        future.result(10)
    wanted = {(events(ledger), name, value) for name, value in drifted.items()}
    await eventually(lambda: _told(ledger) == wanted)  # a broker describes what it has heard of by then
    apply(ledger, plan(ledger))
    await eventually(lambda: plan(ledger) == [])


def _told(settings: Settings) -> set[tuple[str, str, str]]:
    return {(each.topic, each.what, each.found) for each in plan(settings)}


def test_partitions_are_refused_and_stay(ledger: Settings) -> None:
    other = dataclasses.replace(ledger, partitions=ledger.partitions + 1)
    told = plan(other)
    assert {each.how for each in told} == {"refuse"}
    assert {events(ledger), commands(ledger)} <= {each.topic for each in told}
    apply(other, told)
    assert plan(ledger) == []
