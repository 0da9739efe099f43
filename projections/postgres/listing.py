"""Puts the queries of lists together: filters, direction and place. Every filter has an index behind it."""

from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

from msgspec import Struct
from psycopg import sql

from projections.postgres.views import BEGINNING, END, Cursor, Extraction, Filters, JobLine
from services.ledger.status import Status

# Field of Filters -> what it asks of a row. The status is another thing: several are several index ranges.
_CONDITIONS: Mapping[str, LiteralString] = {
    "workflow_id": "workflow_id = %(workflow_id)s",
    "domain": "domain = %(domain)s",
    "schedule_id": "schedule_id = %(schedule_id)s",
    "error_type": "error_type = %(error_type)s",
    "submitted_after": "submitted_at >= %(submitted_after)s",
    "submitted_before": "submitted_at < %(submitted_before)s",
}


def columns(row: type[Struct]) -> sql.Composed:
    """Return the struct's columns by name: a newer version of the read model may have added others."""
    return sql.SQL(", ").join(map(sql.Identifier, row.__struct_fields__))


def extractions(queries: Mapping[str, LiteralString], *, domain: str, url: str) -> sql.Composed:
    """Return the statement of a page of extractions, of one domain or url where given."""
    filters = _asked(queries, of_domain=domain, of_url=url)
    return sql.SQL(queries["extractions"]).format(columns=columns(Extraction), filters=filters)


def past(queries: Mapping[str, LiteralString], domain: str, url: str) -> sql.Composed:
    """Return the statement that tells whether results like these are past retention."""
    return sql.SQL(queries["past_retention"]).format(filters=_asked(queries, past_of_domain=domain, past_of_url=url))


def _asked(queries: Mapping[str, LiteralString], **values: str) -> sql.Composed:
    """Return the conditions that have a value."""
    return sql.SQL("").join(sql.SQL(" ") + sql.SQL(queries[name]) for name, value in values.items() if value)


def statement(queries: Mapping[str, LiteralString], filters: Filters, *, oldest_first: bool) -> sql.Composed:
    """Return the statement of a page; it takes the arguments of `arguments`."""
    asked = [sql.SQL(text) for name, text in _CONDITIONS.items() if _is_recorded(filters, name)]
    if not filters.statuses and filters.error_type != Status.CANCELLED:
        return _page(queries["page"], asked, oldest_first)
    # A part for each status, which the planner knows: of several at once it would not know that one is rare, and read
    # all jobs of a workflow to find none.
    wanted: list[sql.Composable] = [_status(name) for name in _statuses(filters)] or [sql.SQL("false")]
    parts = [sql.SQL("({})").format(_page(queries["page"], [status, *asked], oldest_first)) for status in wanted]
    return _ordered(queries["page_by_status"], oldest_first, pages=sql.SQL(" UNION ALL ").join(parts))


def arguments(org_id: str, filters: Filters, after: Cursor | None, limit: int, *, oldest_first: bool) -> dict[str, Any]:
    """Return what the statement of a page is called with."""
    start = after or (BEGINNING if oldest_first else END)
    return {
        "org_id": org_id,
        **_statuses(filters),
        **{name: getattr(filters, name) for name in _CONDITIONS},
        "submitted_at": start.submitted_at,
        "job_id": start.job_id,
        "limit": limit,
    }


def _statuses(filters: Filters) -> dict[str, str]:
    """Return the statuses that jobs on the page may have, by argument; none: they may have any, or there is none.

    Only what failed has recorded an error; that of what was cancelled is its status.
    """
    error = filters.error_type
    ends = Status.CANCELLED if error == Status.CANCELLED else Status.FAILED
    asked = filters.statuses or ((ends,) if error == Status.CANCELLED else ())
    wanted = [status for status in dict.fromkeys(asked) if error is None or status == ends]
    return {f"status_{number}": status for number, status in enumerate(wanted)}


def _is_recorded(filters: Filters, name: str) -> bool:
    value = getattr(filters, name)
    return value is not None and not (name == "error_type" and value == Status.CANCELLED)


def _status(argument: str) -> sql.Composed:
    return sql.SQL("status = {}").format(sql.Placeholder(argument))


def _page(query: LiteralString, conditions: Sequence[sql.Composable], oldest_first: bool) -> sql.Composed:
    filters = sql.SQL("").join(sql.SQL(" AND ") + condition for condition in conditions)
    return _ordered(query, oldest_first, columns=columns(JobLine), filters=filters)


def _ordered(query: LiteralString, oldest_first: bool, **parts: sql.Composable) -> sql.Composed:
    behind, order = (">", "ASC") if oldest_first else ("<", "DESC")
    return sql.SQL(query).format(behind=sql.SQL(behind), order=sql.SQL(order), **parts)
