"""The parts of docs/bi.md that are generated: ten questions with their queries, the list of all, and the dashboards."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from projections.clickhouse.dashboards import DASHBOARDS, dashboard_text
from projections.clickhouse.queries import Query, queries
from services.cli.demo_docs import with_part

QUESTIONS = (
    "funnel",
    "state_times",
    "failures",
    "provider_quality",
    "delivery_quality",
    "fairness",
    "retries",
    "gate_ages",
    "job_costs",
    "balances",
)


def renewed(text: str) -> str:
    """Return the page with its generated parts as the queries are now."""
    told = queries()
    text = with_part(text, "ten questions", question_lines(told))
    return with_part(text, "all queries", query_lines(told))


def dashboards(root: Path) -> dict[Path, str]:
    """Return the text of every dashboard by its path."""
    told = queries()
    directory = root / "deploy" / "grafana" / "dashboards"
    return {directory / f"{name}.json": dashboard_text(each, told) for name, each in DASHBOARDS.items()}


def question_lines(told: Mapping[str, Query]) -> Iterator[str]:
    """Yield each question, what its columns are in, and its SQL."""
    for number, name in enumerate(QUESTIONS, start=1):
        query = told[name]
        units = ", ".join(f"`{column}` ({unit})" for column, unit in query.units.items())
        yield f"### {number}. {query.answers}"
        yield ""
        yield f"`{name}`: {units}. {query.notes}".rstrip()
        yield ""
        yield from ("```sql", query.sql, "```", "")


def query_lines(told: Mapping[str, Query]) -> Iterator[str]:
    """Yield the table of all queries."""
    yield "| query | what it answers | dashboards |"
    yield "|---|---|---|"
    for name, query in told.items():
        shown = [board for board, each in DASHBOARDS.items() if any(name in row for row in each.rows)]
        yield f"| [`{name}`](../projections/clickhouse/queries/{name}.sql) | {query.answers} | {', '.join(shown)} |"
