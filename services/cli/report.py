"""`jobledger report`: what ClickHouse answers to questions over many jobs, as tables, as JSON, as pictures."""

import os
import re
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.terminal import Json, fail, print_json, program, show

if TYPE_CHECKING:
    from projections.clickhouse.asking import Answer, Asked
    from projections.clickhouse.queries import Query

app = typer.Typer()
MAIN = (
    "funnel",
    "jobs_by_state",
    "state_times",
    "job_times",
    "failures",
    "provider_quality",
    "provider_success",
    "delivery_quality",
    "fairness",
    "retries",
    "gate_ages",
    "job_costs",
    "balances",
)
SPAN = re.compile(r"(\d{1,5})([mhdw])")  # with more digits the calendar ends
SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
UNAVAILABLE = 2  # exit code where nothing could be asked


@app.command()
def report(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[QUERY]...", help="Which queries; default: the main ones.")
    ] = None,
    org: Annotated[str, typer.Option("--org", help="Only jobs of this org; default: of all.")] = "",
    since: Annotated[str, typer.Option(help="From when on: 2026-11-01 or 2026-11-01T12:00, UTC.")] = "",
    until: Annotated[str, typer.Option(help="Until when, that moment excluded; default: now.")] = "",
    last: Annotated[str, typer.Option(help="In place of --since: how long before --until, as 90m, 24h, 7d.")] = "",
    png: Annotated[Path | None, typer.Option("--png", help="Write a picture of each into this directory.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Print which queries there are.")] = False,
    as_json: Json = False,
) -> None:
    """Answer questions over many jobs from ClickHouse: funnel, times, failures, providers, queue, gates, credits."""
    from projections.clickhouse.asking import Asked
    from projections.clickhouse.queries import queries

    told = queries()
    if listed:
        _list(list(told.values()), as_json=as_json)
        return
    if unknown := [name for name in names or () if name not in told]:
        fail(f"no query {', '.join(unknown)}: `{program()} report --list` says which there are", "unknown_query")
    begin, end = stretch(since, until, last, datetime.now(UTC))
    asked = Asked(begin, end, org)
    answers = _ask([told[name] for name in names or MAIN], asked)
    pictures = _draw(png, answers, asked) if png else []
    if as_json:
        print_json(as_plain(answers, asked, pictures))
        return
    from services.cli.report_tables import heading, table_of

    for answer in answers:
        show(heading(answer.query), table_of(answer) if answer.rows else "  nothing", "")
    for picture in pictures:
        typer.echo(str(picture))


def stretch(since: str, until: str, last: str, now: datetime) -> tuple[datetime, datetime]:
    """Return from when until when: the last 7 days where nothing is said; end the command where it makes no sense."""
    end = _moment("--until", until) if until else now
    if since and last:
        fail("give --since or --last, not both", "bad_range")
    if since:
        begin = _moment("--since", since)
    else:
        span = SPAN.fullmatch(last or "7d")
        if not span:
            fail(f"--last takes a number and m, h, d or w, as 24h; not {last!r}", "bad_range")
        begin = end - timedelta(seconds=int(span[1]) * SECONDS[span[2]])
    if begin >= end:
        fail(f"--since ({begin:%Y-%m-%dT%H:%M}) has to be before --until ({end:%Y-%m-%dT%H:%M})", "bad_range")
    return begin, end


def as_plain(answers: "Sequence[Answer]", asked: "Asked", pictures: Sequence[Path]) -> dict[str, object]:
    """Return answers as --json prints them: a list of rows by query, each row by column."""
    return {
        "org": asked.org or None,
        "since": asked.since,
        "until": asked.until,
        "answers": {
            answer.query.name: [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
            for answer in answers
        },
        "pictures": [str(picture) for picture in pictures],
    }


def _moment(option: str, text: str) -> datetime:
    try:
        told = datetime.fromisoformat(text)
    except ValueError:
        fail(f"{option} takes a time as 2026-11-01 or 2026-11-01T12:00, not {text!r}", "bad_range")
    return told if told.tzinfo else told.replace(tzinfo=UTC)


def _ask(wanted: "Sequence[Query]", asked: "Asked") -> "list[Answer]":
    from clickhouse_connect.driver.exceptions import ClickHouseError

    from projections.clickhouse.asking import ask
    from services.localstack.attach import attached_settings
    from services.localstack.errors import StackFault
    from services.runtime.clickhouse import connect
    from services.runtime.errors import RuntimeFault

    try:
        settings = attached_settings(os.environ)
        if not settings.clickhouse:
            fail("there is no ClickHouse: set JOBLEDGER_CLICKHOUSE (docs/clickhouse.md)", "no_clickhouse", UNAVAILABLE)
        with closing(connect(settings.clickhouse)) as client:
            return [ask(client, query, asked) for query in wanted]
    except (StackFault, RuntimeFault) as fault:
        fail(str(fault), type(fault).__name__, UNAVAILABLE)
    except ClickHouseError as fault:
        fail(f"ClickHouse: {fault}", "clickhouse_unavailable", UNAVAILABLE)


def _draw(directory: Path, answers: "Sequence[Answer]", asked: "Asked") -> list[Path]:
    try:
        from services.cli.report_pictures import draw
    except ImportError as error:
        fail(f"pictures need matplotlib ({error}): pip install 'jobledger[report]'", "no_matplotlib")
    return [picture for answer in answers if (picture := draw(directory, answer, asked))]


def _list(told: "Sequence[Query]", *, as_json: bool) -> None:
    if as_json:
        print_json([{"name": query.name, "title": query.title, "answers": query.answers} for query in told])
        return
    from services.cli.report_tables import list_of

    show(list_of(told))
