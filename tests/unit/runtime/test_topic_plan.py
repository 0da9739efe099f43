"""What differs between topics and settings is told; what would break the placement of records is refused."""

from services.runtime.admin import topic_config
from services.runtime.topic_plan import Difference, Found, differences
from services.runtime.topics import Topic

EVENTS = Topic("jobledger.events", 12, -1)
GOOD = Found(12, 3, topic_config(EVENTS, 3))


def found(**changed: object) -> dict[str, Found]:
    values = {"partitions": GOOD.partitions, "replication": GOOD.replication, "config": GOOD.config} | changed
    return {EVENTS.name: Found(**values)}  # type: ignore[arg-type]


def test_a_topic_as_it_should_be_is_no_difference() -> None:
    assert differences([EVENTS], found(), 3) == []


def test_a_missing_topic_is_created() -> None:
    assert differences([EVENTS], {}, 3) == [Difference(EVENTS.name, "topic", "none", "12 partitions", "create")]


def test_entries_that_drifted_are_altered() -> None:
    drifted = {"retention.ms": "604800000", "cleanup.policy": "compact", "min.insync.replicas": "1"}
    told = differences([EVENTS], found(config={**GOOD.config, **drifted}), 3)
    assert {(each.what, each.found, each.wanted, each.how) for each in told} == {
        ("retention.ms", "604800000", "-1", "alter"),
        ("cleanup.policy", "compact", "delete", "alter"),
        ("min.insync.replicas", "1", "2", "alter"),
    }


def test_more_partitions_and_fewer_are_refused_and_the_reason_is_told() -> None:
    for partitions in (6, 24):
        [told] = differences([EVENTS], found(partitions=partitions), 3)
        assert (told.what, told.how) == ("partitions", "refuse")
        assert "JOBLEDGER_PARTITIONS" in told.advice


def test_copies_are_moved_by_the_clusters_own_tools() -> None:
    [told] = differences([EVENTS], found(replication=1), 3)
    assert (told.what, told.found, told.wanted, told.how) == ("replication", "1", "3", "refuse")
    assert "kafka-reassign-partitions" in told.advice


def test_a_broker_that_keeps_no_configuration_is_not_asked_for_it() -> None:
    assert differences([EVENTS], found(config={}), 3) == []
