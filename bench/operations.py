"""What a job makes processes do, counted: records, transactions, calls, batches. Counts do not depend on load.

They are the metrics that the processes export, the ends of the topics, and Postgres' own statistics. What Kafka's
clients ask the broker for in between (fetches above all) is not counted anywhere that can be read without JMX.
"""

import re
import urllib.request
from collections import Counter
from collections.abc import Mapping, Sequence

import psycopg

from services.runtime.ends import committed_end
from services.runtime.settings import Settings
from services.runtime.topics import all_topics

METRICS_SECONDS = 10.0
SAMPLE = re.compile(r"^jobledger_(\w+?)(\{[^}]*\})? (\S+)$", re.MULTILINE)
COUNTED = {  # by the metric that counts it
    "events_recorded_total": "events",
    "commands_decided_total": "commands decided",
    "transaction_seconds_count": "Kafka transactions",
    "reply_seconds_count": "commands waited for",
    "http_request_seconds_count": "calls of the API",
    "node_seconds_count": "visits of nodes",
    "projection_batch_seconds_count": "batches of projections",
    "delivery_batch_seconds_count": "batches of writers",
}
POSTGRES = """
    SELECT sum(xact_commit + xact_rollback)::float8, sum(tup_inserted)::float8, sum(tup_updated)::float8
    FROM pg_stat_database
"""
POSTGRES_NAMES = ("Postgres transactions", "Postgres rows inserted", "Postgres rows updated")


def operations(settings: Settings, endpoints: Sequence[str]) -> Counter[str]:
    """Return what has been done so far by all processes that export metrics, and in the stores."""
    done: Counter[str] = Counter()
    for endpoint in endpoints:
        done.update(_exported(endpoint))
    for topic in all_topics(settings):
        ends = committed_end(settings, topic.name, range(topic.partitions))
        done[f"records of {topic.name.removeprefix(settings.topic_prefix + '.')}, markers included"] = sum(
            ends.values()
        )
    with psycopg.connect(settings.postgres, autocommit=True) as connection:
        row = connection.execute(POSTGRES).fetchone()
        done.update(dict(zip(POSTGRES_NAMES, row or (), strict=False)))
    return done


def per_job(before: Counter[str], after: Counter[str], jobs: int) -> dict[str, float]:
    """Return what was done between two looks, by job, the most first; without what was not done at all."""
    done = {name: round((count - before[name]) / jobs, 3) for name, count in after.items() if count > before[name]}
    return dict(sorted(done.items(), key=lambda each: -each[1]))


def counted(exposition: str) -> Mapping[str, float]:
    """Return the counts that matter here out of the metrics of a process, whatever their labels."""
    found: Counter[str] = Counter()
    for name, _, value in SAMPLE.findall(exposition):
        if name in COUNTED:
            found[COUNTED[name]] += float(value)  # type: ignore[assignment]  # a Counter adds floats as well
    return found


def _exported(endpoint: str) -> Mapping[str, float]:
    with urllib.request.urlopen(f"{endpoint}/metrics", timeout=METRICS_SECONDS) as answer:
        return counted(answer.read().decode())
