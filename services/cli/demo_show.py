"""Prints what a demo run came to."""

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from api.answers import Job
from services.cli.demo_check import KindResult, Summary
from services.cli.demo_run import Outcome
from services.cli.drawing import STYLES, drawn_job, rule_of, trace_tree
from services.cli.kept_keys import OrgKey
from services.cli.spans import milliseconds_between, span
from services.cli.terminal import program

TRACES_OF_ASTRAY = 3
LINES_OF_ASTRAY = 20


def summary_parts(summary: Summary, jobs: Sequence[Job]) -> Iterator[RenderableType]:
    """Yield what a person reads of a run: the table, a retried job, the gate, latencies, verification, the verdict."""
    by_id = {job.job_id: job for job in jobs}
    if summary.kinds:
        yield kind_table(summary.kinds)
        yield ""
    if summary.retried_job:
        yield Text("one job that was tried again", style="dim")
        yield drawn_job(by_id[summary.retried_job])
        yield ""
    yield from figures(summary)
    if summary.astray:
        yield ""
        yield from astray_parts(summary, by_id)
    yield ""
    yield verdict(summary)


def kind_table(kinds: Iterable[KindResult]) -> Table:
    """Draw what was expected of each kind of page, how many jobs came to that, and to what the others came."""
    table = Table("page", "workflow", "expected", "came to that", box=None, pad_edge=False, header_style="dim")
    for kind in kinds:
        expected = Text(str(kind.expected), style=STYLES.get(kind.expected.state, ""))
        fine = sum(share.jobs for share in kind.actual if share.end == kind.expected)
        others = "".join(f"\n{share.jobs} {share.end}" for share in kind.actual if share.end != kind.expected)
        table.add_row(
            kind.page,
            kind.workflow,
            expected,
            Text(f"{fine} of {kind.jobs}{others}", "green" if kind.ok else "bold red"),
        )
    return table


def figures(summary: Summary) -> Iterator[Text]:
    """Yield a line each for the gate, the latencies and the verification."""
    gate, latency, verify = summary.gate, summary.latency, summary.verify
    yield Text(
        f"gate    {gate.acked} of {gate.expected} ACKs, {gate.violations} violations; "
        f"{gate.readable} of {gate.completed} results readable"
    )
    yield Text(
        f"time    {summary.jobs} jobs in {summary.seconds:.1f} s; from submit to completed "
        f"p50 {span(latency.p50_ms)}, p99 {span(latency.p99_ms)}"
    )
    outcome = "log and read model agree" if verify.ok else f"log and read model differ: {'; '.join(verify.faults)}"
    yield Text(f"verify  {outcome} ({verify.events} events, {verify.jobs} jobs)", style="" if verify.ok else "bold red")


def astray_parts(summary: Summary, jobs: dict[str, Job]) -> Iterator[RenderableType]:
    """Yield the jobs that are not where they should be, and how the first of them got where they are."""
    yield Text(f"{len(summary.astray)} jobs are not where they should be", style="bold red")
    for astray in summary.astray[:LINES_OF_ASTRAY]:
        yield f"  {astray.job_id} {astray.url}: expected {astray.expected}; {astray.found}"
    if len(summary.astray) > LINES_OF_ASTRAY:
        yield f"  and {len(summary.astray) - LINES_OF_ASTRAY} more"
    for astray in summary.astray[:TRACES_OF_ASTRAY]:
        yield ""
        yield trace_tree(jobs[astray.job_id])


def verdict(summary: Summary) -> Text:
    """Say whether everything is as it should be."""
    if summary.ok:
        return Text("everything is as it should be", style="bold green")
    return Text("NOT everything is as it should be: see `jobledger status` and `jobledger logs`", style="bold red")


def url_table(outcomes: Iterable[Outcome]) -> Table:
    """Draw what became of the user's own urls."""
    table = Table("url", "state", "error", "took", "job", box=None, pad_edge=False, header_style="dim")
    table.columns[0].overflow = "fold"
    table.columns[3].justify = "right"
    table.columns[4].no_wrap = True
    for outcome in outcomes:
        job = outcome.job
        rule = rule_of(job) if job.error_type else ""
        error = f"{job.error_type} ({rule})" if rule else job.error_type or ""
        took = span(milliseconds_between(job.created_at, job.completed_at)) if job.completed_at else ""
        table.add_row(outcome.asked.url, Text(job.status, style=STYLES.get(job.status, "")), error, took, job.job_id)
    return table


def go_on(base_url: str, org: OrgKey, job_id: str) -> list[str]:
    """Return commands to go on with; they hold the key of this demo's own org."""
    curl = f"curl -s -H 'Authorization: Bearer {org.key}'"
    body = shlex.quote(json.dumps({"url": "https://example.com/", "workflowId": "demo-plain"}))
    return [
        f"{curl} {base_url}/api/v1/jobs/{job_id}",
        f"{curl} {base_url}/api/v1/extraction/results/{job_id}",
        f"{curl} '{base_url}/api/v1/jobs?status=failed&limit=5'",
        f"{curl} -H 'Content-Type: application/json' -d {body} {base_url}/api/v1/jobs",
        f"{program()} get {job_id} --org {org.org_id}",
        f"{program()} tail --follow",
    ]
