"""Prints what a demo run came to."""

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from api.answers import Job
from services.cli.demo_check import KindResult, Summary
from services.cli.demo_orgs import Registered
from services.cli.demo_outage import Outage
from services.cli.demo_processes import Readiness
from services.cli.demo_run import Outcome
from services.cli.drawing import STYLES, drawn_job, rule_of, trace_tree
from services.cli.spans import milliseconds_between, span

TRACES_OF_ASTRAY = 3
LINES_OF_ASTRAY = 20


def summary_parts(summary: Summary, jobs: Sequence[Job]) -> Iterator[RenderableType]:
    """Yield what a person reads of a run: the table, a retried job, the figures, what is wrong, the verdict."""
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
    """Yield a line each for destinations, gate, outage, times, verification, processes and the picture."""
    gate, latency, verify = summary.gate, summary.latency, summary.verify
    for org in summary.orgs:
        yield Text(f"org     {org.org_id}: {org.jobs} jobs to {', '.join(org.destinations)}")
        if org.without:
            yield Text(f"        without a destination in ClickHouse: {org.without}", style="yellow")
    yield _line(
        f"gate    {gate.acked} of {gate.expected} ACKs, {gate.violations} violations; "
        f"{gate.readable} of {gate.completed} results readable",
        gate.ok,
    )
    if summary.outage:
        for said in outage_lines(summary.outage):
            yield _line(f"down    {said}", summary.outage.ok)
    elif summary.kinds:
        yield _line("down    nothing was sent to the webhook that was to be down", ok=False)
    yield Text(
        f"time    {summary.jobs} jobs in {summary.seconds:.1f} s; from submit to completed "
        f"p50 {span(latency.p50_ms)}, p99 {span(latency.p99_ms)}"
    )
    outcome = "log and read models agree" if verify.ok else f"log and read models differ: {'; '.join(verify.faults)}"
    yield _line(f"verify  {outcome} ({verify.events} events, {verify.jobs} jobs)", verify.ok)
    for line in readiness_lines(summary.readiness):
        yield _line(f"ready   {line}", summary.readiness.ok)
    yield Text(f"picture {summary.picture or f'none: {summary.no_picture}'}", style="" if summary.picture else "yellow")


def outage_lines(outage: Outage) -> Iterator[str]:
    """Say what the jobs did that had a destination that was down."""
    yield f"{outage.destination_id} of {outage.org_id} for {outage.seconds:.1f} s"
    yield (
        f"{outage.waiting} jobs waited in extraction_done, each naming it; it refused {outage.refused} messages, "
        f"then took {outage.accepted}"
    )
    for said, jobs in (
        ("in extraction_done without naming it", outage.not_naming),
        ("completed all the same", outage.early),
        ("did not stay in extraction_done", outage.left),
    ):
        if jobs:
            yield f"{said}: {', '.join(jobs)}"


def readiness_lines(readiness: Readiness) -> Iterator[str]:
    """Say how the processes are: one line where all is well, else one for whatever is not."""
    if readiness.note:
        yield readiness.note
    for process in readiness.faulty:
        restarted = f", restarted {process.restarts} times during the run" if process.restarts else ""
        yield f"{process.name} is {process.state}{restarted}{f': {process.reason}' if process.reason else ''}"
    if readiness.ok and readiness.processes:
        yield f"all {len(readiness.processes)} processes, none was restarted during the run"


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


def url_parts(summary: Summary, outcomes: Sequence[Outcome]) -> Iterator[RenderableType]:
    """Yield what a person reads of a run over urls of their own."""
    yield url_table(outcomes)
    yield ""
    yield from figures(summary)
    if summary.astray:
        yield ""
        yield from astray_parts(summary, {outcome.job.job_id: outcome.job for outcome in outcomes})
    yield ""
    yield verdict(summary)


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


def calls(orgs: Sequence[Registered], summary: Summary) -> list[str]:
    """Return calls of the API to go on with; they hold the key of this demo's own org that has the linked job."""
    own = next(org for org in orgs if any(org.org_id in command for command in summary.look_next))
    curl = f"curl -s -H 'Authorization: Bearer {own.key.key}'"
    body = shlex.quote(json.dumps({"url": "https://example.com/", "workflowId": "demo-plain"}))
    jobs = summary.links[0].rpartition("/")[0]
    return [
        *(f"{curl} {link}" for link in summary.links),
        f"{curl} '{jobs}?status=failed&limit=5'",
        f"{curl} -H 'Content-Type: application/json' -d {body} {jobs}",
    ]


def _line(text: str, ok: bool) -> Text:
    return Text(text, style="" if ok else "bold red")
