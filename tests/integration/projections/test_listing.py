"""Each combination of filters is answered from an index, in the order asked, on a table that is full."""

from itertools import combinations
from typing import Any

import psycopg
import pytest
from psycopg import sql

from projections.migrate import SCHEMA
from projections.postgres import listing
from projections.postgres.read import SQL
from projections.postgres.rows import NEVER, instant
from projections.postgres.views import Cursor, Filters
from services.runtime.settings import Settings

JOBS = 20_000
MIDDLE = instant(1_750_000_000_000_000)
GIVEN: dict[str, Any] = {
    "statuses": ("failed", "timed_out"),
    "workflow_id": "w3",
    "domain": "d3.example",
    "schedule_id": "s3",
    "error_type": "timed_out",
    "submitted_after": MIDDLE,
    "submitted_before": NEVER,
}
COMBINATIONS = [names for size in range(len(GIVEN) + 1) for names in combinations(GIVEN, size)]
# One org has most jobs: reading all of them for a page is what must not happen.
FILL = """
INSERT INTO jobs (org_id, job_id, partition, status, seq, position, cause, vocabulary, workflow_id, workflow_version,
    workflow_ref, domain, priority, max_run_seconds, destinations, schedule_id, correlation_id, private, attempt,
    dispatches, submitted_at, claimed_at, extracted_at, result_ref, finished_at, finished_seq, error_type, opened_by,
    url)
SELECT CASE WHEN n %% 50 = 0 THEN 'small' ELSE 'acme' END, lpad(n::text, 36, '0'), 0, status, 1, n, 0, 'workflow',
    'w' || n %% 40, 1, 'r', 'd' || n %% 200 || '.example', 0, 60, '[]', CASE WHEN n %% 9 = 0 THEN 's' || n %% 30 END,
    '', '', 1, 1, at, at, CASE WHEN status = 'completed' THEN at END, CASE WHEN status = 'completed' THEN 'r' END,
    CASE WHEN status <> 'pending' THEN at END, CASE WHEN status <> 'pending' THEN 1 END,
    CASE WHEN status = 'failed' THEN (ARRAY['timed_out', 'providers_exhausted', 'worker_lost'])[1 + n %% 3] END,
    CASE WHEN status = 'completed' THEN ARRAY[]::uuid[] END, 'https://d.example/' || n
FROM (
    SELECT n, timestamptz '2025-06-15 15:00:00Z' + n * interval '1 second' AS at,
        (ARRAY['completed', 'completed', 'completed', 'failed', 'pending'])[1 + n %% 5] AS status
    FROM generate_series(1, %(jobs)s) AS n
) AS made
"""


@pytest.fixture
def filled(settings: Settings) -> psycopg.Connection[Any]:
    """A connection to a read model with many jobs, whose planner knows them."""
    connection = psycopg.connect(settings.postgres, autocommit=True)
    connection.execute(f"SET search_path TO {SCHEMA}")
    connection.execute(FILL, {"jobs": JOBS})
    connection.execute(
        "INSERT INTO extraction.stored_results SELECT gen_random_uuid(), org_id, job_id, 'i', 1, domain, '', '', '{}', "
        "0, '', 0, 0, 0, 0, finished_at, finished_at FROM jobs WHERE status = 'completed'"
    )
    connection.execute("ANALYZE jobs, extraction.stored_results")
    return connection


def test_no_list_reads_all_jobs_of_the_org(filled: psycopg.Connection[Any]) -> None:
    with filled:
        for oldest_first in (False, True):
            for names in COMBINATIONS:
                for after in (None, Cursor(MIDDLE, "x", oldest_first)):
                    filters = Filters(**{name: GIVEN[name] for name in names})
                    query = listing.statement(SQL, filters, oldest_first=oldest_first)
                    values = listing.arguments("acme", filters, after, 51, oldest_first=oldest_first)
                    nodes = plan(filled, query, values)
                    told = f"{names} oldest_first={oldest_first}: {nodes}"
                    assert not [node for node in nodes if node["Node Type"] == "Seq Scan"], told
                    assert rows_read(nodes) < JOBS / 10, told
                    alone = names[0] if len(names) == 1 else ""
                    if alone in ("workflow_id", "domain", "schedule_id", "error_type"):
                        assert any(alone in node.get("Index Cond", "") for node in nodes), told
                        assert not [node for node in nodes if node["Node Type"] == "Sort"], told


def test_no_list_of_extractions_reads_all_of_the_org(filled: psycopg.Connection[Any]) -> None:
    with filled:
        for domain in ("", "d2.example"):
            for url in ("", "https://d.example/202"):
                values = {"org_id": "acme", "domain": domain, "url": url, "limit": 21, "offset": 20}
                nodes = plan(filled, listing.extractions(SQL, domain=domain, url=url), values)
                assert not [node for node in nodes if node["Node Type"] == "Seq Scan" and node["Alias"] != "jobs"], (
                    nodes
                )
                assert rows_read(nodes) < JOBS / 10, nodes
                if url:
                    assert any(node.get("Index Name") == "jobs_of_url" for node in nodes), nodes


def plan(connection: psycopg.Connection[Any], query: sql.Composed, values: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a query and return the nodes of its plan, outermost first."""
    told = connection.execute(sql.SQL("EXPLAIN (ANALYZE, FORMAT JSON) ") + query, values).fetchone()
    assert told is not None
    waiting, nodes = [told[0][0]["Plan"]], []
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        waiting += node.get("Plans", [])
    return nodes


def rows_read(nodes: list[dict[str, Any]]) -> float:
    """Return how many rows of tables were looked at, those that a filter dropped included."""
    scans = [node for node in nodes if "Scan" in node["Node Type"] and "Relation Name" in node]
    looked_at = [node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in scans]
    return float(sum(rows * node["Actual Loops"] for rows, node in zip(looked_at, scans, strict=True)))
