"""Draws answers of ClickHouse as PNG: lines over time, or bars. Needs matplotlib."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from projections.clickhouse.asking import Answer, Asked
from projections.clickhouse.queries import Drawing, Unit
from services.cli.demo_picture import DOTS_PER_INCH, FAINT, INK, plain_axes
from services.cli.spans import span

WIDTH_INCHES, LINES_INCHES, BAR_INCHES, HEAD_INCHES = 10.0, 4.4, 0.42, 1.5
MOST_LINES = 8
MOST_BARS = 20
MOST_TICKS, MOST_LETTERS = 8, 48  # on an axis; of a name beside it
WHOLE = frozenset(get_args(Unit)) - {"s", "ms", "days", "share", "times", "time"}  # what is counted has no halves
LETTER_INCHES = 0.075  # of a label of an axis, at most
NEVER_SUMMED = frozenset({"s", "ms", "days", "share", "times"})
COLORS = ("#2c5d8f", "#e0893b", "#3f9b63", "#c8473d", "#8c6bb1", "#4fa3c7", "#a65628", "#55555f")
Series = Mapping[str, Sequence[tuple[Any, float]]]


def draw(directory: Path, answer: Answer, asked: Asked) -> Path | None:
    """Write the picture of an answer and return its path; None: it is a table, or there is nothing to draw."""
    drawing = answer.query.drawing
    if drawing is None or not answer.rows:
        return None
    found = series_of(answer, drawing)
    bars = list(dict.fromkeys(place for points in found.values() for place, _ in points))
    height = LINES_INCHES if drawing.kind == "lines" else HEAD_INCHES + 0.6 + BAR_INCHES * len(bars) * len(found)
    figure = Figure(figsize=(WIDTH_INCHES, height), dpi=DOTS_PER_INCH, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    unit = answer.query.units.get(drawing.ys[0])
    if drawing.kind == "lines":
        _draw_lines(axes, found, asked, unit)
    else:
        _draw_bars(axes, found, bars, unit)
    _head(figure, height, answer, asked, named=len(found) > 1)
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / f"{answer.query.name}.png"
    figure.savefig(file, format="png")
    return file


def series_of(answer: Answer, drawing: Drawing) -> Series:
    """Return the points of each line, or the bars of each color, by its name; the largest ones where there are many."""
    at = {column: number for number, column in enumerate(answer.columns)}
    found: dict[str, list[tuple[Any, float]]] = defaultdict(list)
    for row in answer.rows:
        for y in drawing.ys:
            value = row[at[y]]
            name = str(row[at[drawing.by]]) if drawing.by else y
            if isinstance(value, int | float) and value == value:  # not NaN
                found[name].append((row[at[drawing.x]], float(value)))
    if drawing.kind == "bars":
        counts = answer.query.units.get(drawing.ys[0]) not in NEVER_SUMMED
        return {name: _together(points, sum if counts else max)[:MOST_BARS] for name, points in found.items()}
    largest = sorted(found, key=lambda name: -sum(value for _, value in found[name]))[:MOST_LINES]
    return {name: points for name, points in found.items() if name in largest}


def shown(value: float, unit: Unit | None) -> str:
    """Return a value of an axis with its unit."""
    match unit:
        case "s":
            return span(value * 1000)
        case "ms":
            return span(value)
        case "share":
            return f"{value:.0%}"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _together(points: Sequence[tuple[Any, float]], of: Callable[[list[float]], float]) -> list[tuple[str, float]]:
    """Make one bar of rows that have its name, as those of an error in several workflows."""
    rows: dict[str, list[float]] = defaultdict(list)
    for place, value in points:
        rows[str(place) or "-"].append(value)
    return [(place, of(values)) for place, values in rows.items()]


def _draw_lines(axes: Axes, found: Series, asked: Asked, unit: Unit | None) -> None:
    for color, (name, points) in zip(COLORS, found.items(), strict=False):
        times, values = zip(*points, strict=True)
        marker = "o" if len(points) < 40 else None  # a line of one point is none
        axes.plot(times, values, color=color, label=name, linewidth=1.8, marker=marker, markersize=4)
    locator = AutoDateLocator(tz=UTC)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=UTC))  # type: ignore[no-untyped-call]
    moments = [time for points in found.values() for time, _ in points]
    axes.set_xlim(*_around(min(moments), max(moments), asked))
    axes.set_ylim(bottom=0, top=1.02 if unit == "share" else None)
    _told_in(axes.yaxis, unit)
    axes.set_xlabel("UTC", color=INK, fontsize=9)
    axes.grid(axis="y", color=FAINT, alpha=0.25, linewidth=0.8)
    plain_axes(axes)


def _around(first: datetime, last: datetime, asked: Asked) -> tuple[Any, Any]:
    """Return where the axis of time begins and ends: a little around what there is."""
    room = max((last - first) / 40, (asked.until - asked.since) / 400)
    return first - room, last + room


def _draw_bars(axes: Axes, found: Series, bars: Sequence[Any], unit: Unit | None) -> None:
    thick = 0.8 / len(found)
    for number, (color, (name, points)) in enumerate(zip(COLORS, found.items(), strict=False)):
        places = [bars.index(place) + thick * (number - (len(found) - 1) / 2) for place, _ in points]
        drawn = axes.barh(places, [value for _, value in points], height=thick * 0.9, color=color, label=name)
        labels = [shown(value, unit) for _, value in points]
        axes.bar_label(drawn, labels=labels, padding=4, fontsize=9, color=INK)
    axes.set_yticks(range(len(bars)), [shorten(str(place), MOST_LETTERS) for place in bars])
    axes.invert_yaxis()
    axes.margins(x=0.14)
    _told_in(axes.xaxis, unit)
    plain_axes(axes)


def shorten(name: str, letters: int) -> str:
    """Return a name with its middle left out where it is longer than that."""
    half = (letters - 1) // 2
    return name if len(name) <= letters else f"{name[:half]}…{name[-half:]}"


def _told_in(axis: XAxis | YAxis, unit: Unit | None) -> None:
    """Let an axis tell its values in their unit, of what is counted whole numbers only."""
    if unit in WHOLE:
        axis.set_major_locator(MaxNLocator(nbins=MOST_TICKS, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: shown(value, unit)))


def _room_for(axes: Axes) -> float:
    """Return the part of the width that the labels of the vertical axis take."""
    longest = max((len(label.get_text()) for label in axes.get_yticklabels()), default=0)
    return max(0.08, (0.25 + LETTER_INCHES * longest) / WIDTH_INCHES)


def _head(figure: Figure, height: float, answer: Answer, asked: Asked, *, named: bool) -> None:
    query = answer.query
    left = 0.08
    about = f"{asked.since:%Y-%m-%d %H:%M} to {asked.until:%Y-%m-%d %H:%M} UTC, {asked.org or 'all orgs'}"
    figure.text(left, 1 - 0.18 / height, query.title, va="top", fontsize=14, fontweight="bold", color=INK)
    figure.text(left, 1 - 0.5 / height, f"{query.answers}\n{about}", va="top", fontsize=9.5, color=FAINT)
    if named:
        figure.legend(
            loc="upper left",
            bbox_to_anchor=(left - 0.01, 1 - 0.88 / height),
            ncols=MOST_LINES,
            frameon=False,
            fontsize=9.5,
            labelcolor=INK,
        )
    bottom = 0.5 if query.drawing and query.drawing.kind == "bars" else 0.75
    figure.subplots_adjust(left=_room_for(figure.axes[0]), right=0.97, top=1 - 1.28 / height, bottom=bottom / height)
