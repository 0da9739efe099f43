"""Puts the queries for spider jobs together: which jobs, in which of their states; an index is behind every filter."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, LiteralString

import msgspec
from msgspec import Struct
from psycopg import sql

from projections.postgres.listing import columns
from projections.postgres.spider_views import SpiderDelivery, SpiderFilters, SpiderJob
from schemas.values import Vocabulary
from services.ledger.status import Status
from services.ledger.vocabularies import DISPATCHED, WORDS, statuses_of

WORDS_OF_SPIDERS = WORDS[Vocabulary.SPIDER]
STATES = WORDS_OF_SPIDERS.every()
_deliveries = msgspec.json.Decoder(list[SpiderDelivery]).decode


def one(queries: Mapping[str, LiteralString]) -> sql.Composed:
    """Return the statement of one job with all its run options."""
    return _shown(queries, sql.SQL(queries["one_spider_job"]), sql.SQL(queries["whole_input"]))


def several(queries: Mapping[str, LiteralString]) -> sql.Composed:
    """Return the statement of some jobs by their ids."""
    return _shown(queries, sql.SQL(queries["spider_jobs_of"]), sql.SQL(queries["brief_input"]))


def page(queries: Mapping[str, LiteralString], filters: SpiderFilters) -> sql.Composed:
    """Return the statement of a page: a part for each status that its jobs may have, as each is a range of an index."""
    of_project = [sql.SQL("j.workflow_id = %(project)s")] if filters.project is not None else []
    wanted = [each for state in dict.fromkeys(filters.states) for each in _conditions(queries, state)]
    parts = [_page(queries, [*of_project, *each]) for each in (wanted or [[]])]
    pages = sql.SQL(" UNION ALL ").join(sql.SQL("({})").format(part) for part in parts)
    return _shown(queries, pages, sql.SQL(queries["brief_input"]))


def spider_job(row: Sequence[Any]) -> SpiderJob:
    """Make a row of these statements into a job."""
    given = dict(zip(SpiderJob.__struct_fields__, row, strict=True))
    return SpiderJob(**{**given, "deliveries": _deliveries(given["deliveries"])})


def _conditions(queries: Mapping[str, LiteralString], state: str) -> list[list[sql.Composable]]:
    """Return what is asked of a job in a state: any of these."""
    out = sql.SQL(queries["task_out"])
    if state == DISPATCHED:
        return [[_status(Status.PENDING), out]]
    failures = sorted(WORDS_OF_SPIDERS.failures)
    kinds = [kind for kind in failures if WORDS_OF_SPIDERS.failures[kind] == state]
    if kinds:
        return [[_status(Status.FAILED), sql.SQL("j.error_type = {}").format(sql.Literal(kind))] for kind in kinds]
    found = [[_status(status)] for status in statuses_of(Vocabulary.SPIDER, state)]
    return [[*each, *_apart(each, out, failures)] for each in found]


def _apart(status: Sequence[sql.Composable], out: sql.SQL, failures: Sequence[str]) -> list[sql.Composable]:
    """Return what keeps a state from being another one of the same status."""
    if status == [_status(Status.PENDING)]:
        return [sql.SQL("NOT {}").format(out)]
    if status == [_status(Status.FAILED)]:
        return [sql.SQL("j.error_type <> ALL ({})").format(sql.Literal(list(failures)))]
    return []


def _status(status: Status) -> sql.Composed:
    return sql.SQL("j.status = {}").format(sql.Literal(str(status)))


def _page(queries: Mapping[str, LiteralString], conditions: Sequence[sql.Composable]) -> sql.Composed:
    filters = sql.SQL("").join(sql.SQL(" AND ") + condition for condition in conditions)
    return sql.SQL(queries["page_of_spider_jobs"]).format(filters=filters)


def _shown(queries: Mapping[str, LiteralString], pages: sql.Composable, options: sql.SQL) -> sql.Composed:
    return sql.SQL(queries["spider_jobs"]).format(
        columns=columns(SpiderJob),
        delivery=columns(SpiderDelivery),
        input=options,
        task_out=sql.SQL(queries["task_out"]),
        pages=pages,
    )


@cache
def named(text: LiteralString, row: type[Struct]) -> bytes:
    """Return a statement that asks for a struct's columns by name."""
    return sql.SQL(text).format(columns=columns(row)).as_bytes()
