"""Shows how far a demo run is: a live table per org and state on a terminal, a line now and then elsewhere."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from services.cli.demo_run import Counts, Tell
from services.cli.drawing import STYLES
from services.ledger.status import TERMINAL, Status

LINE_SECONDS = 2.0
BAR_WIDTH = 72
COLUMNS = tuple(status.value for status in Status if status not in (Status.CANCELLED, Status.TIMED_OUT, Status.LOST))


@contextmanager
def live_table() -> Iterator[Tell]:
    """Draw the counts in place; on stderr, so that standard output holds results only."""
    with Live(console=Console(stderr=True), refresh_per_second=8, transient=True) as live:
        yield lambda counts: live.update(table_of(counts))


@contextmanager
def plain_lines() -> Iterator[Tell]:
    """Write a line every LINE_SECONDS while something changes, and one for the end."""
    started = time.monotonic()
    last_at, last_line = 0.0, ""

    def tell(counts: Counts) -> None:
        nonlocal last_at, last_line
        total = _total(counts)
        now = time.monotonic()
        line = line_of(total)
        if line != last_line and (now - last_at >= LINE_SECONDS or all(state in TERMINAL for state in total)):
            typer.echo(f"{now - started:5.1f} s  {line}", err=True)
            last_at, last_line = now, line

    yield tell


@contextmanager
def silence() -> Iterator[Tell]:
    """Show nothing."""
    yield lambda _counts: None


def table_of(counts: Counts) -> RenderableType:
    """Draw one row per org, how many of its jobs are in which state, and one bar for all of them."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("")
    for state in COLUMNS:
        table.add_column(state, justify="right", style=STYLES.get(state, ""))
    for org_id, states in counts.items():
        table.add_row(org_id.split("-")[1], *(str(states.get(state, 0) or "") for state in COLUMNS))
    total = _total(counts)
    ended = sum(count for state, count in total.items() if state in TERMINAL)
    return Group(table, ProgressBar(total=total.total() or 1, completed=ended, width=BAR_WIDTH))


def line_of(total: Counter[str]) -> str:
    """Write the counts of all orgs together in one line."""
    return "  ".join(f"{state} {total[state]}" for state in COLUMNS if total[state])


def _total(counts: Counts) -> Counter[str]:
    total: Counter[str] = Counter()
    for states in counts.values():
        total.update(states)
    return total
