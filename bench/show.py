"""Prints the figures of a bench run."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table

from bench.figures import Figures, Spread
from services.cli.spans import span


def figure_parts(figures: Figures) -> Iterator[RenderableType]:
    """Yield what a person reads of a run."""
    machine = figures.machine
    yield f"{machine['cores']} cores, {machine['processor']}, Python {machine['python']}"
    yield f"broker: {figures.broker}"
    yield ""
    yield latency_table(figures)
    yield ""
    yield process_table(figures)
    yield ""
    yield operation_table(figures)
    yield ""
    yield (
        f"floor: a bare Kafka loop over as many records ({figures.records_per_job:g} a job) takes "
        f"{figures.floor.cpu_ms / figures.jobs:.2f} CPU-ms a job; the ledger takes {figures.times_floor:.0f} times that"
    )


def latency_table(figures: Figures) -> Table:
    """Draw how long jobs take from submit to completed."""
    table = _table("from submit to completed", "jobs", "p50", "p99")
    rows: tuple[tuple[str, Spread], ...] = (
        ("one at a time", figures.one_at_a_time),
        ("one at a time, as its caller sees it", figures.one_at_a_time_seen),
        (f"{figures.paced_jobs_per_second:.0f} jobs/s, half of what is possible", figures.paced),
        (f"all at once, done at {figures.jobs_per_second:.0f} jobs/s", figures.burst),
    )
    for name, spread in rows:
        table.add_row(name, str(spread.count), span(spread.p50), span(spread.p99))
    return table


def process_table(figures: Figures) -> Table:
    """Draw what each process of the stack costs."""
    table = _table("process", "CPU-ms a job", "us an event", "idle, % of a core", "memory, MiB", "resident, MiB")
    for name, cost in sorted(figures.processes.items(), key=lambda each: -each[1].cpu_ms_per_job):
        memory = cost.memory
        table.add_row(
            name,
            f"{cost.cpu_ms_per_job:.2f}",
            _by_event(cost.cpu_ms_per_job, figures),
            f"{cost.idle_percent:.1f}",
            f"{memory.proportional:.0f}",
            f"{memory.resident:.0f}",
        )
    whole = figures.cpu_ms_per_job
    table.add_row(
        "all", f"{whole:.2f}", _by_event(whole, figures), f"{figures.idle_percent:.1f}", f"{figures.memory_mib:.0f}"
    )
    return table


def operation_table(figures: Figures) -> Table:
    """Draw what a job makes processes do."""
    table = _table("counted", "a job")
    for name, count in figures.operations_per_job.items():
        table.add_row(name, f"{count:.3g}")
    return table


def _by_event(cpu_ms_per_job: float, figures: Figures) -> str:
    events = figures.events_per_job
    return f"{cpu_ms_per_job * 1000 / events:.0f}" if events else ""


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(first)
    for other in others:
        table.add_column(other, justify="right")
    return table
