"""Each query of the API on the read model is answered from an index, on tables that are full."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from projections.postgres.views import Filters
from services.runtime.settings import Settings
from tests.read_plans import GIVEN, ORG, cases, explained, fill, unasked

JOBS = 20_000
# Small here, and read whole because of it.
SMALL_HERE = {"deleted_jobs"}
INDEX_OF = {
    "workflow_id": "jobs_of_workflow",
    "domain": "jobs_of_domain",
    "schedule_id": "jobs_of_schedule",
    "error_type": "jobs_by_error",
}


@pytest.fixture
def filled(settings: Settings) -> Iterator[psycopg.Connection[Any]]:
    """A connection to a read model with many jobs, whose planner knows them."""
    with psycopg.connect(settings.postgres, autocommit=True) as connection:
        fill(connection, JOBS)
        yield connection


async def test_no_query_reads_all_jobs_of_the_org(filled: psycopg.Connection[Any], settings: Settings) -> None:
    ids = [row[0] for row in filled.execute("SELECT job_id FROM jobs WHERE org_id = %s LIMIT 50", (ORG,))]
    found = await explained(settings.postgres, cases(ids[0], ids))
    assert unasked({asked.case for asked in found}) == set()
    for asked in found:
        told = (asked.case, asked.query, asked.nodes)
        assert not set(asked.whole_tables) - SMALL_HERE, told
        assert asked.rows < JOBS / 10, told
    for name, index in INDEX_OF.items():
        names = [f"page by {name}{way}{place}" for way in ("", ", oldest first") for place in ("", ", behind a cursor")]
        alone = [asked for asked in found if asked.case in names]
        assert len(alone) == 4
        for asked in alone:
            assert asked.indexes == [index], asked.nodes
            assert not [node for node in asked.nodes if node["Node Type"] == "Sort"], asked.nodes


async def test_a_query_without_its_index_is_seen(filled: psycopg.Connection[Any], settings: Settings) -> None:
    filled.execute("DROP INDEX jobs_of_domain, deliveries_by_destination")
    asked = await explained(
        settings.postgres,
        (case for case in cases("x", ["x"]) if case[0] in ("deliveries_to", "page by domain", "page by workflow_id")),
    )
    assert {each.case for each in asked if each.rows >= JOBS / 10} == {"deliveries_to", "page by domain"}


def test_a_query_that_nobody_asks_is_named() -> None:
    assert {"usage", "fires"} <= unasked({"job", "page by domain"})


def test_every_filter_of_a_list_is_asked_alone_and_with_every_other() -> None:
    assert set(GIVEN) == set(Filters.__struct_fields__)
