"""What was measured, and how it stands in the documentation."""

from collections.abc import Iterator

import msgspec


class Measured(msgspec.Struct, frozen=True):
    """Medians of some rounds, of this process alone: servers are other ones."""

    cpu_ms_per_delivery: float
    rows_per_cpu_second: float


class Kind(msgspec.Struct, frozen=True):
    """What was measured of one kind."""

    name: str
    deliveries: int  # of each round
    items: int  # of each delivery
    batch: int  # deliveries written at once
    writer: Measured
    floor: Measured  # the driver alone with the same rows
    cpu_ratio: float  # of the writer to the floor: the median of those of the rounds


class Consuming(msgspec.Struct, frozen=True):
    """What it costs to take deliveries off their topic."""

    items: int  # of each record
    faust_us_per_delivery: float
    runtime_us_per_delivery: float
    faust_share: float  # of the CPU of the writer that does least for a delivery, consuming with it
    reached: float  # deliveries for a CPU-second by Faust, of what they are by the runtime's reader


class Figures(msgspec.Struct, frozen=True):
    """What was measured."""

    machine: dict[str, str | int | float]
    kinds: list[Kind]
    consuming: list[Consuming]
    reading_ms_per_delivery: float  # an extraction, out of a directory


def lines(figures: Figures) -> Iterator[str]:
    """Yield the tables of the documentation."""
    yield "| kind | items | CPU-ms a delivery | the driver alone | ratio | rows a CPU-second |"
    yield "|---|---|---|---|---|---|"
    for each in figures.kinds:
        yield (
            f"| `{each.name}` | {each.items} | {each.writer.cpu_ms_per_delivery:.3f} | "
            f"{each.floor.cpu_ms_per_delivery:.3f} | {each.cpu_ratio:.1f} | {each.writer.rows_per_cpu_second:,.0f} |"
        )
    yield ""
    yield f"Reading an extraction out of a directory takes {figures.reading_ms_per_delivery:.3f} CPU-ms beside that."
    yield ""
    yield "| deliveries a record | Faust, CPU-µs a delivery | runtime's reader | Faust's share | of what is possible |"
    yield "|---|---|---|---|---|"
    for taken in figures.consuming:
        yield (
            f"| {taken.items} | {taken.faust_us_per_delivery:.1f} | {taken.runtime_us_per_delivery:.1f} | "
            f"{taken.faust_share:.0%} | {taken.reached:.0%} |"
        )


def with_figures(document: str, figures: Figures, begin: str, end: str) -> str:
    """Return a document with these figures between its marks."""
    before, _, rest = document.partition(begin)
    return f"{before}{begin}\n" + "\n".join(lines(figures)) + f"\n{end}{rest.partition(end)[2]}"
