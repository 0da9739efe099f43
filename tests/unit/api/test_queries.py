"""All SQL that reads or writes what belongs to an org names the org, and no SQL stands anywhere else."""

import ast
import re
from pathlib import Path

import pytest

import api
import projections.postgres.read as read
import projections.postgres.spider_reading as spider_reading
from api.config import store
from services.runtime.sql import blocks

API = Path(api.__file__).parent
# What is not of one org, and why that is right.
WITHOUT_ORG = {
    "active_schema": "which version of the read model readers follow",
    "checkpoints": "how far the projection is, by partition",
    "brief_input": "part of `spider_jobs`, whose jobs are of the org",
    "clear_webhook_secrets": "whoever they are of, none stays in clear",
    "detail": "its parts are of the job beside them, which `detail_of_one` or `detail_of_many` finds by its org",
    "due_schedules": "the scheduler fires those of all orgs; no call reaches it",
    "next_schedule_number": "a number that nobody has",
    "now": "what time it is in Postgres",
    "hold_archive": "a lock: the key of the archive begins with the org",
    "overdue_schedules": "how many schedules of all orgs are due, for the scheduler",
    "position": "how far the projection of a partition is",
    "org_of_spider_job": "which of the orgs that the operator sees has a job is what it asks",
    "of_domain": "part of `extractions`, which names the org",
    "page_by_status": "its parts are `page`, which names the org",
    "past_of_domain": "part of `past_retention`, which names the org",
    "past_of_url": "part of `past_retention`, which names the org",
    "org_of_destination": "the operator names a number alone; a key of an org asks for its own",
    "org_of_schedule": "the operator names a number alone; a key of an org asks for its own",
    "orgs": "the operator's list of all orgs",
    "grant_of_key": "which org a key belongs to is what it asks",
    "forget_replays": "what is forgotten is old, whosever it was",
    "reseal_secret": "sealing all of them again is the operator's command",
    "sealed_credentials": "sealing all of them again is the operator's command",
    "sealed_schedules": "sealing all of them again is the operator's command",
    "sealed_projects": "sealing all of them again is the operator's command",
    "sealed_destinations": "sealing all of them again is the operator's command",
    "spider_jobs": "its parts are the queries of jobs, which name the org",
    "task_out": "part of `spider_jobs`, whose jobs are of the org",
    "whole_input": "part of `spider_jobs`, whose jobs are of the org",
    "webhook_secrets": "sealing all of them again is the operator's command",
}
# A query for jobs of several callers names the org of each: org and job go together there.
OF_ORG = re.compile(r"\borg_id = (%\(org_id\)s|%s|w\.org\b|ANY\(%\(org_ids\)s\))")
# What writes a new row, or only takes a lock, has nothing to look for: it names the org among its values.
NEW = re.compile(r"INSERT INTO |SELECT pg_advisory_xact_lock")
# Where SQL may be executed: the layer itself, what looks after a store as a whole, and an operator's command.
LAYER = {"config/store.py", "config/reseal.py", "watch.py"}
EXECUTES = {"execute", "executemany", "copy", "cursor", "stream"}


def queries() -> list[tuple[str, str]]:
    """Return every named query that the API runs."""
    return [*read.SQL.items(), *spider_reading.SQL.items(), *blocks(store.QUERIES).items()]


@pytest.mark.parametrize(("name", "text"), queries(), ids=[name for name, _ in queries()])
def test_every_query_names_its_org_or_has_a_reason_not_to(name: str, text: str) -> None:
    named = "%(org_id)s" in text if NEW.match(text) else bool(OF_ORG.search(text))
    assert named != (name in WITHOUT_ORG), text


@pytest.mark.parametrize(("name", "text"), queries(), ids=[name for name, _ in queries()])
def test_every_query_names_its_columns_so_that_a_newer_version_may_add_some(name: str, text: str) -> None:
    inner = (
        "page_by_status",
        "deliveries_to",
        "spider_jobs",
        "page_of_spider_jobs",
        "one_spider_job",
        "spider_jobs_of",
    )
    own = "" if name in inner else r"\w\.\*|"  # of a query within or around it, which names them
    assert not re.search(rf"{own}(SELECT|RETURNING) \*", text)


def test_no_reason_is_given_for_a_query_that_is_gone() -> None:
    assert set(WITHOUT_ORG) <= {name for name, _ in queries()}
    named = [name for name, _ in queries()]
    assert len(named) == len(set(named)), "two queries of one name: one could hide behind the reason of the other"


def test_no_other_module_of_the_api_executes_sql() -> None:
    sql_files = {str(path.relative_to(API)) for path in API.rglob("*.sql") if "migrations" not in path.parts}
    assert sql_files == {"config/queries.sql"}
    for path in API.rglob("*.py"):
        name = str(path.relative_to(API))
        calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        found = [func.attr for func in calls if isinstance(func, ast.Attribute) and func.attr in EXECUTES]
        assert not found or name in LAYER, (
            f"{name} calls {found}: let it ask through api/config/store.py or the read model"
        )
