"""Draws a demo run: a panel per org, how many of its jobs were in which state at which second. Needs matplotlib."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from services.cli.demo_timeline import Timeline

REST = 1.03  # the picture goes on for a little after the last event, so that its end can be seen
WIDTH_INCHES, PANEL_INCHES, HEAD_INCHES = 11.0, 2.5, 1.45
DOTS_PER_INCH = 120
INK, FAINT = "#26303a", "#8a949e"

# From the bottom up, so that what has ended piles up from below and what waits melts away at the top.
COLORS = {
    "completed": "#3f9b63",
    "failed": "#c8473d",
    "cancelled": "#8c6bb1",
    "timed_out": "#a65628",
    "lost": "#55555f",
    "extraction_done": "#4fa3c7",
    "waiting_retry": "#e9b949",
    "running": "#2c5d8f",
    "pending": "#d9dee3",
}


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of time to be marked in the panel of one org, in seconds after the first submission."""

    org_id: str
    begin: float
    end: float
    label: str


@dataclass(frozen=True, slots=True)
class Panel:
    """What is drawn of one org."""

    timeline: Timeline
    title: str


def draw(file: Path, title: str, subtitle: str, panels: Sequence[Panel], bands: Sequence[Band] = ()) -> None:
    """Write the picture as PNG; its directory is made where it is missing."""
    height = HEAD_INCHES + PANEL_INCHES * len(panels)
    figure = Figure(figsize=(WIDTH_INCHES, height), dpi=DOTS_PER_INCH, facecolor="white")
    FigureCanvasAgg(figure)
    drawn = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    end = REST * (max((panel.timeline.times[-1] for panel in panels), default=0.0) or 1.0)
    for axes, panel in zip(drawn, panels, strict=True):
        _draw_panel(axes, panel, [band for band in bands if band.org_id == panel.timeline.org_id], end)
    drawn[-1].set_xlabel("seconds since the first submission", color=INK)
    used = {state for panel in panels for state in panel.timeline.counts}
    key = [Patch(facecolor=color, label=state) for state, color in COLORS.items() if state in used]
    figure.suptitle(title, x=0.06, y=1 - 0.22 / height, ha="left", va="top", fontsize=14, fontweight="bold", color=INK)
    figure.text(0.06, 1 - 0.56 / height, subtitle, ha="left", va="top", fontsize=9.5, color=FAINT)
    figure.legend(
        handles=key,
        loc="upper left",
        bbox_to_anchor=(0.052, 1 - 0.72 / height),
        ncols=len(key),
        frameon=False,
        fontsize=9.5,
        labelcolor=INK,
        handlelength=1.1,
        columnspacing=1.6,
    )
    figure.subplots_adjust(left=0.06, right=0.985, top=1 - HEAD_INCHES / height, bottom=0.55 / height, hspace=0.32)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, format="png")


def _draw_panel(axes: Axes, panel: Panel, bands: Sequence[Band], end: float) -> None:
    timeline = panel.timeline
    states = [state for state in COLORS if state in timeline.counts]
    counts = [[*timeline.counts[state], timeline.counts[state][-1]] for state in states]
    top = max((sum(column) for column in zip(*counts, strict=True)), default=0) or 1
    if states:
        colors = [COLORS[state] for state in states]
        axes.stackplot([*timeline.times, end], counts, colors=colors, step="post", linewidth=0)
    for band in bands:
        axes.axvspan(band.begin, band.end, facecolor="none", edgecolor=INK, hatch="///", alpha=0.16, linewidth=0)
        axes.annotate(
            band.label,
            ((band.begin + band.end) / 2, top * 0.9),
            ha="center",
            va="top",
            fontsize=9,
            color=INK,
            bbox={"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
        )
    axes.set_title(panel.title, loc="left", fontsize=10.5, color=INK)
    axes.set_ylabel("jobs", color=INK)
    axes.set_xlim(0, end)
    axes.set_ylim(0, top)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    plain_axes(axes)


def plain_axes(axes: Axes) -> None:
    """Draw axes as thin as they can be, on the left and below."""
    axes.tick_params(colors=FAINT, labelcolor=INK, labelsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
