"""Draws a job for people: its way through the workflow as a tree, its states with their durations, its gate."""

from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from api.answers import Gate, Job, JobSummary, TraceEntry, Transition
from api.delivery_answers import JobDelivery
from api.schedule_answers import Schedule
from api.stream_answers import StreamedEvent
from services.cli.spans import clock, milliseconds_between, span
from services.ledger.status import TERMINAL

STYLES = {
    "completed": "green",
    "failed": "red",
    "cancelled": "red",
    "timed_out": "red",
    "lost": "red",
    "waiting_retry": "yellow",
    "extraction_done": "cyan",
    "running": "cyan",
    "succeeded": "green",
    "refused": "red",
}


def drawn_job(job: Job) -> RenderableType:
    """Draw everything about a job."""
    parts: list[RenderableType] = [trace_tree(job), Text(""), transition_table(job.transitions)]
    if job.gate.expected and (job.status == "completed" or job.status not in TERMINAL):
        parts += [Text(""), Text(gate_line(job.gate))]
    return Group(*parts)


def trace_tree(job: Job) -> Tree:
    """Draw a job's visits of nodes: a branch per node in the order of the walk, a leaf per try where it took several.

    A job that has not ended gets a last branch that says where it hangs.
    """
    tree = Tree(heading(job), guide_style="dim")
    for _, group in groupby(job.execution_trace, key=lambda visit: (visit.node, visit.provider)):
        visits = list(group)
        name = Text(visits[0].node, style="bold")
        if visits[0].provider:
            name.append(f" by {visits[0].provider}", style="not bold")
        if len(visits) == 1:
            tree.add(name.append("  ", style="not bold").append_text(_visit(visits[0])))
            continue
        branch = tree.add(name)
        for visit, wait in _with_waits(visits):
            again = Text(f", again {span(wait)} later", style="dim") if wait is not None else Text("")
            branch.add(Text(f"try {visit.attempt}  ").append_text(_visit(visit)).append_text(again))
    if job.status not in TERMINAL:
        tree.add(Text(standing(job), style="yellow"))
    return tree


def heading(job: Job) -> Text:
    """Say in one line which job this is, how it ended and how long it took."""
    line = Text(job.job_id, style="bold").append(" ", style="not bold").append(job.status, style=_style(job.status))
    if job.error_type and job.error_type != job.status:
        line.append(f": {_reason(job)}", style="not bold")
    if job.completed_at:
        line.append(f" after {span(milliseconds_between(job.created_at, job.completed_at))}", style="not bold")
    if job.url:
        line.append(f"\n{job.url}", style="not bold")
    return line


def standing(job: Job) -> str:
    """Say in a few words where a job is that has not ended."""
    since = clock(job.updated_at)
    last = job.execution_trace[-1] if job.execution_trace else None
    match job.status:
        case "pending":
            return f"waits for a worker since {since}"
        case "extraction_done":
            return f"waits for {', '.join(job.gate.pending) or 'its last ACK'} since {since}"
        case "waiting_retry":
            return f"waits for the next try of {last.node if last else 'its node'} since {since}"
        case _:
            node = (last.next_node or last.node) if last else "its first node"
            return f"{job.status} at {node}, last heard of at {since}"


def transition_table(transitions: Iterable[Transition]) -> Table:
    """Draw the states that a job went through and how long it stayed in each."""
    table = Table("state", "at (UTC)", "for", box=None, pad_edge=False, header_style="dim")
    table.columns[2].justify = "right"
    for status, at, lasted in transition_rows(list(transitions)):
        table.add_row(Text(status, style=_style(status)), at, lasted)
    return table


def transition_rows(transitions: list[Transition]) -> Iterator[tuple[str, str, str]]:
    """Yield state, time of day and duration; the last state has no duration (yet)."""
    for entered, left in pairwise(transitions):
        yield entered.status, clock(entered.at), span(milliseconds_between(entered.at, left.at))
    if transitions:
        yield transitions[-1].status, clock(transitions[-1].at), ""


def gate_line(gate: Gate) -> str:
    """Say how far the gate is."""
    waived = f" ({', '.join(gate.waived)} waived)" if gate.waived else ""
    counts = f"gate: {gate.acked} of {gate.expected} acknowledged{waived}"
    if gate.opened_at:
        return f"{counts}, opened at {clock(gate.opened_at)} by {', '.join(gate.opened_by)}"
    return f"{counts}, waits for {', '.join(gate.pending)}" if gate.pending else counts


def job_table(jobs: Iterable[JobSummary]) -> Table:
    """Draw a page of jobs."""
    table = Table("job", "state", "error", "created (UTC)", "took", "url", box=None, pad_edge=False, header_style="dim")
    table.columns[0].no_wrap = table.columns[1].no_wrap = True
    table.columns[5].overflow = "ellipsis"
    table.columns[5].no_wrap = True
    for job in jobs:
        took = span(milliseconds_between(job.created_at, job.completed_at)) if job.completed_at else ""
        state = Text(job.status, style=_style(job.status))
        table.add_row(
            job.job_id, state, job.error_type or "", f"{job.created_at[:19]}Z", took, Text(job.url or job.domain)
        )
    return table


def event_line(event: StreamedEvent) -> Text:
    """Say in one line what happened to a job."""
    line = Text(f"{clock(event.occurred_at)} ", style="dim").append(f"{event.status:16}", style=_style(event.status))
    line.append(event.type, style="not dim")
    if visit := event.trace:
        by = f" by {visit.provider}" if visit.provider else ""
        line.append(f" {visit.node}{by}  ", style="not dim").append_text(_visit(visit))
    return line


def schedule_table(schedules: Iterable[Schedule]) -> Table:
    """Draw a page of schedules."""
    table = Table("schedule", "name", "cron", "timezone", "next (UTC)", "last (UTC)", "tags", box=None, pad_edge=False)
    table.header_style = "dim"
    table.columns[0].no_wrap = True
    for each in schedules:
        due = f"{each.next_run_at[:19]}Z" if each.next_run_at else Text("disabled", style="yellow")
        last = f"{each.last_run_at[:19]}Z" if each.last_run_at else ""
        table.add_row(each.schedule_id, Text(each.name), each.cron, each.timezone, due, last, " ".join(each.tags))
    return table


def delivery_table(deliveries: Iterable[JobDelivery]) -> Table:
    """Draw the deliveries of a job."""
    columns = ("destination", "generation", "status", "tries", "what came of it", "next try (UTC)")
    table = Table(*columns, box=None, pad_edge=False)
    table.header_style = "dim"
    for each in deliveries:
        due = f"{each.next_try_at[:19]}Z" if each.next_try_at else ""
        name = f"{each.destination_id} (gates)" if each.gating else each.destination_id
        table.add_row(Text(name), str(each.generation), each.status, str(each.tries), Text(each.summary), due)
    return table


def rule_of(job: Job) -> str:
    """Return the rule of the validation gate that refused last; empty: none did."""
    return next((visit.rule for visit in reversed(job.execution_trace) if visit.rule), "")


def _reason(job: Job) -> str:
    rule = rule_of(job) if job.error_type == "validation_failed" else ""
    return f"{job.error_type} ({rule})" if rule else job.error_type or ""


def _visit(visit: TraceEntry) -> Text:
    line = Text("")
    if visit.status_code:
        line.append(f"{visit.status_code} ")
    line.append(visit.outcome, style=_style(visit.outcome))
    cause = visit.rule or visit.error_type
    if cause:
        line.append(f" ({cause})")
    line.append(f" in {span(visit.latency_ms)}", style="dim")
    if visit.edge:
        line.append(f", {visit.edge} → {visit.next_node or 'end'}")
    return line


def _with_waits(visits: list[TraceEntry]) -> Iterator[tuple[TraceEntry, float | None]]:
    """Yield each visit with the time until the next one began; None for the last."""
    for visit, following in pairwise(visits):
        yield visit, max(0.0, milliseconds_between(visit.ended_at, following.started_at))
    yield visits[-1], None


def _style(word: str) -> str:
    return f"not bold {STYLES.get(word, '')}".strip()
