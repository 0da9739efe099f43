"""Puts the queries of lists together: filters, direction and place. Every filter has an index behind it."""

from collections.abc import Mapping
from typing import Any, LiteralString

from msgspec import Struct
from psycopg import sql

from projections.postgres.views import BEGINNING, END, Cursor, Extraction, Filters, JobLine

# Field of Filters -> what it asks of a row. The status has a statement of its own: several are several index ranges.
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
    asked = [queries[name] for name, value in (("of_domain", domain), ("of_url", url)) if value]
    filters = sql.SQL("").join(sql.SQL(" ") + sql.SQL(text) for text in asked)
    return sql.SQL(queries["extractions"]).format(columns=columns(Extraction), filters=filters)


def statement(queries: Mapping[str, LiteralString], filters: Filters, *, oldest_first: bool) -> sql.Composed:
    """Return the statement of a page; it takes the arguments of `arguments`."""
    asked = [text for name, text in _CONDITIONS.items() if getattr(filters, name) is not None]
    return sql.SQL(queries["page_by_status" if filters.statuses else "page"]).format(
        columns=columns(JobLine),
        filters=sql.SQL("").join(sql.SQL(" AND ") + sql.SQL(text) for text in asked),
        behind=sql.SQL(">" if oldest_first else "<"),
        order=sql.SQL("ASC" if oldest_first else "DESC"),
    )


def arguments(org_id: str, filters: Filters, after: Cursor | None, limit: int, *, oldest_first: bool) -> dict[str, Any]:
    """Return what the statement of a page is called with."""
    start = after or (BEGINNING if oldest_first else END)
    return {
        "org_id": org_id,
        "statuses": list(dict.fromkeys(filters.statuses)),
        **{name: getattr(filters, name) for name in _CONDITIONS},
        "submitted_at": start.submitted_at,
        "job_id": start.job_id,
        "limit": limit,
    }
