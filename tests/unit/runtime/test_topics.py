"""Where records go is fixed for ever: these numbers may not change under a ledger that exists."""

from hypothesis import given
from hypothesis import strategies as st

from services.runtime.settings import Settings
from services.runtime.topics import all_topics, partition_of_org, reply_partition, spread_partition

SETTINGS = Settings(kafka="", postgres="", registry="", blobs="", partitions=12, task_spread=2)


def test_orgs_and_requesters_go_where_they_always_went() -> None:
    assert [partition_of_org(org, 12) for org in ("acme", "globex", "")] == [2, 10, 0]
    assert reply_partition("api-1") == 6


@given(st.integers(0, 63), st.text(), st.integers(1, 8))
def test_a_task_stays_within_the_partitions_of_its_ledger_partition(partition: int, job_id: str, spread: int) -> None:
    assert partition * spread <= spread_partition(partition, job_id, spread) < (partition + 1) * spread


def test_topics_have_distinct_names_under_the_prefix_and_tasks_are_spread() -> None:
    topics = {topic.name: topic for topic in all_topics(SETTINGS)}
    assert len(topics) == len(all_topics(SETTINGS))
    assert all(name.startswith("jobledger.") for name in topics)
    assert topics["jobledger.events"].partitions == 12
    assert topics["jobledger.events"].retention_ms == -1
    assert topics["jobledger.tasks.workflow"].partitions == 24
