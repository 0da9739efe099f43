"""What views and queries of ClickHouse read, by their text: one of the tables exchanged, and none unnamed to orgs."""

import re
from collections import Counter
from pathlib import Path

import pytest

from projections.clickhouse.migrate import TABLES
from projections.clickhouse.queries import queries
from services.writers.clickhouse import writer
from tests.integration.clickhouse.views.test_duplicates import VIEWS

PAGE = Path(__file__).parents[3] / "docs" / "bi.md"
WRITERS = Path(writer.__file__).with_name("migrations")
TABLE = re.compile(r"^CREATE TABLE IF NOT EXISTS (\w+) \((.*?)^\)", re.MULTILINE | re.DOTALL)
DROPPED = re.compile(r"^DROP TABLE IF EXISTS (\w+)", re.MULTILINE)
VIEW = re.compile(r"^CREATE (?:OR REPLACE )?VIEW (?:IF NOT EXISTS )?(\w+) AS\n(.*?);$", re.MULTILINE | re.DOTALL)
READ = re.compile(r"\b(?:FROM|(?<!ARRAY )JOIN)\s+(\w+)")
HIDING = "deleted_jobs"  # takes jobs out of what other tables say
NO_FIGURES = {"gate_parts", "gate_violations"}  # what verification asks


def tables(directory: Path) -> dict[str, str]:
    """Return the columns of every table that the migrations of a directory leave."""
    text = "".join(path.read_text() for path in sorted(directory.glob("*.sql")))
    return {name: columns for name, columns in TABLE.findall(text) if name not in DROPPED.findall(text)}


def views() -> dict[str, str]:
    """Return what each view asks, as the last migration has it."""
    return {name: sql for path in sorted(TABLES.glob("*.sql")) for name, sql in VIEW.findall(path.read_text())}


ASKED = views() | {name: query.sql for name, query in queries().items()}


def read(sql: str) -> Counter[str]:
    """Return how often a statement reads each table, through all views."""
    found: Counter[str] = Counter()
    for name in READ.findall(sql):
        found += read(views()[name]) if name in views() else Counter([name])
    return found


@pytest.mark.parametrize("name", sorted(ASKED))
def test_a_query_reads_one_table_that_a_rebuild_exchanges_and_no_mix_of_two_versions(name: str) -> None:
    """ClickHouse exchanges the names of two tables at once, not of all: whoever joins two may meet both versions."""
    found = read(ASKED[name])
    assert found.keys() <= tables(TABLES).keys()
    [(table, times)] = [each for each in found.items() if each[0] != HIDING]
    assert times == 1 or name == "gate_violations", table


def test_no_view_that_has_figures_is_left_out_where_events_are_doubled() -> None:
    assert set(VIEWS) == views().keys() - NO_FIGURES


def test_the_row_policy_of_an_org_names_every_table_that_has_rows_of_orgs() -> None:
    """It would read all rows of one that is not named."""
    [named] = re.findall(r"CREATE ROW POLICY acme ON (.*?)\n  USING", PAGE.read_text(), re.DOTALL)
    of_orgs = {name for each in (TABLES, WRITERS) for name, columns in tables(each).items() if "    org_id " in columns}
    assert {name.strip() for name in named.split(",")} == {f"jobledger.{name}" for name in of_orgs}


def test_no_migration_takes_a_view_of_inserts_away_to_make_it_again() -> None:
    dropped, made = (
        re.compile(r"^DROP VIEW IF EXISTS (\w+)", re.M),
        re.compile(r"^CREATE MATERIALIZED VIEW .*?(\w+) TO", re.M),
    )
    texts = {path.name: path.read_text() for path in sorted(TABLES.glob("*.sql"))}
    assert {
        name: found for name, text in texts.items() if (found := {*dropped.findall(text)} & {*made.findall(text)})
    } == {}
