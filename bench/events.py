"""A log of many jobs under way at once, and how fast something takes its events, beside a floor."""

import argparse
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, to_builtins

from tests.event_streams import ENDED, Stream

Times = tuple[float, float]  # seconds by the clock, and on a core
LIVE_JOBS = 200  # how many jobs are under way at once: how much a batch holds of each
NEWEST = 400  # jobs among which those under way are


class Figure(Struct):
    """One measured way of handling the events."""

    what: str
    seconds: float
    cpu_seconds: float  # of this process; a store has its own
    events_per_second: int
    share_of_floor: float


def generated(events: int, stream: Stream) -> Stream:
    """Return the stream with about so many events, many jobs under way at once."""
    numbers = random.Random(1)
    stream.open()
    while len(stream.events) < events:
        while sum(job.status not in ENDED for job in stream.jobs[-NEWEST:]) < LIVE_JOBS:
            stream.submit(len(stream.jobs))
        stream.play(numbers.randrange(LIVE_JOBS) * 16 + numbers.randrange(1, 15) for _ in range(500))
    return stream


def timed(work: Callable[[], object]) -> Times:
    """Return how many seconds a piece of work takes, by the clock and on a core."""
    started, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started, time.process_time() - used


def figures_of(number: int, measured: Mapping[str, Times], floor: Times) -> list[Figure]:
    """Return the figures of ways to handle so many events."""
    return [
        Figure(what, round(took, 3), round(cpu, 3), round(number / took), floor[0] / took)
        for what, (took, cpu) in measured.items()
    ]


def options(about: str | None, events: int, batch: int) -> argparse.Namespace:
    """Read the command line: how many events, and how many at once."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--events", type=int, default=events, help=f"about how many events ({events})")
    parser.add_argument("--batch", type=int, default=batch, help=f"events at once ({batch})")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


def show(stream: Stream, batch: int, figures: Sequence[Figure], as_json: bool) -> None:
    """Print the figures as a table, or as one JSON object."""
    if as_json:
        print(json.dumps({"events": len(stream.events), "batch": batch, "figures": to_builtins(figures)}))
        return
    print(f"{len(stream.events)} events of {len(stream.jobs)} jobs, {batch} at once")
    print(f"{'':<40}{'seconds':>9}{'cpu s':>8}{'events/s':>11}{'of the floor':>14}")
    for figure in figures:
        times = f"{figure.seconds:>9.2f}{figure.cpu_seconds:>8.2f}"
        print(f"{figure.what:<40}{times}{figure.events_per_second:>11}{figure.share_of_floor:>14.0%}")
