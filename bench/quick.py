"""`make bench-quick`: in under two minutes, has a piece of a job's path become dearer since its ratios were committed?

Each piece is measured beside a floor, in turn, round by round, by CPU time: a slow or busy machine meets both. A piece
whose median lies outside the noise band of the committed one is named. This is a report: it never fails for what it
finds.
"""

import argparse
import asyncio
import sys
import time
from pathlib import Path

import msgspec

from bench.floor import measure_floor
from bench.machine import machine_facts
from bench.peers import ours
from bench.peers.figures import Measure, Spread, spread
from bench.peers.measured import measured_work
from bench.peers.running import Plan
from bench.peers.window import NothingDone
from bench.peers.work import APART, ONE, WORKS
from bench.quick_works import Work, works
from services.localstack.errors import StackFault
from services.runtime.errors import RuntimeFault

RESULTS = Path(__file__).parent / "results" / "quick.json"
LEAST_BAND = 0.25  # of the committed median: what the same commit shows on another day
MOST_BAND = 0.5  # one bad round among the committed ones does not make everything noise
STACK_BAND = 0.35  # where a broker is measured too: how full its batches are depends on all that runs
STACK_PLAN = Plan(in_flight=256, workers=2, warm_up=1.0, seconds=4.0)
FLOOR_RECORDS = 20_000
STACK = "whole stack: "
STACK_SECONDS = 60.0  # that the part with a broker takes at most, on a machine that does nothing else
ROUNDS_SECONDS = 50.0  # after which no round of the rest begins
LIMIT_SECONDS = 115.0


class Figures(msgspec.Struct, frozen=True):
    """Ratios of CPU time, each piece by its floor."""

    command: str
    machine: dict[str, str | int | float]
    rounds: int
    ratios: dict[str, Spread]


class Line(msgspec.Struct, frozen=True):
    """One piece now and as it was committed."""

    name: str
    now: Spread
    before: Spread | None
    band: float
    verdict: str


def band_of(name: str, before: Spread) -> float:
    """Return how far a median may lie from the committed one: at least what noise makes, and what its rounds showed."""
    seen = max(before.most / before.median - 1, 1 - before.least / before.median)
    return max(STACK_BAND if name.startswith(STACK) else LEAST_BAND, min(seen, MOST_BAND))


def line_of(name: str, now: Spread, before: Spread | None) -> Line:
    """Compare one piece with what was committed."""
    if before is None:
        return Line(name, now, None, 0.0, "new")
    band = band_of(name, before)
    change = now.median / before.median - 1
    return Line(
        name, now, before, band, "within noise" if abs(change) <= band else "DEARER" if change > 0 else "cheaper"
    )


def report(now: Figures, before: Figures | None) -> str:
    """Return the lines that a person reads."""
    committed = before.ratios if before else {}
    lines = [line_of(name, found, committed.get(name)) for name, found in now.ratios.items()]
    head = f"{'CPU time by that of a floor':<46}{'now':>8}{'committed':>11}{'change':>9}{'noise':>9}"
    rows = [f"{each.name:<46}{each.now.median:>8.3g}{_committed(each)}  {each.verdict}" for each in lines]
    missing = [f"{name:<46}{'not measured':>19}" for name in committed if name not in now.ratios]
    dearer = [each.name for each in lines if each.verdict == "DEARER"]
    verdict = f"dearer than committed: {', '.join(dearer)}" if dearer else "nothing is dearer than committed"
    return "\n".join([head, *rows, *missing, verdict])


def _committed(line: Line) -> str:
    if line.before is None:
        return f"{'-':>11}{'':>18}"
    change = line.now.median / line.before.median - 1
    return f"{line.before.median:>11.3g}{change:>+9.0%}{line.band:>9.0%}"


def measure(rounds: int, until: float) -> tuple[dict[str, Spread], int]:
    """Measure what needs no broker, round by round; return the ratios and how many rounds there were.

    No round begins after `until` on the monotonic clock but the first: on a busy machine there are fewer.
    """
    pieces: list[Work] = works()
    for piece in pieces:
        piece.ratio()  # what is done once is done
    found = [[piece.ratio() for piece in pieces]]
    while len(found) < rounds and time.monotonic() < until:
        found.append([piece.ratio() for piece in pieces])
    return {piece.name: spread(row[number] for row in found) for number, piece in enumerate(pieces)}, len(found)


def measure_stack(rounds: int) -> dict[str, Spread]:
    """Measure a job of the whole stack by a record of a bare Kafka loop."""
    chosen = [work for work in WORKS if work.name in (ONE, APART)]
    found: dict[str, list[float]] = {}
    with ours.stack(STACK_PLAN.workers, STACK_PLAN.each) as stack:
        for _ in range(rounds):
            for work in chosen:
                floor = measure_floor(stack.settings, stack.processes["broker"], FLOOR_RECORDS).cpu_ms / FLOOR_RECORDS
                job: Measure = asyncio.run(measured_work(stack, work, STACK_PLAN))
                found.setdefault(f"{STACK}{work.name}", []).append(job.cpu / floor)
    return {name: spread(values) for name, values in found.items()}


def main() -> int:
    """Measure, compare, and write where that is asked for."""
    options = _options()
    began = time.monotonic()
    ratios, rounds = measure(options.rounds, began + ROUNDS_SECONDS)
    left = LIMIT_SECONDS - (time.monotonic() - began)
    if options.without_stack:
        print("the whole stack is left out, as was asked for")
    elif left >= STACK_SECONDS:
        ratios |= _stack_or_reason()
    else:
        print(
            f"the whole stack is left out: {left:.0f} s are left of {LIMIT_SECONDS:g}, and it takes {STACK_SECONDS:g}"
        )
    now = Figures("make bench-quick", machine_facts(), rounds, ratios)
    before = msgspec.json.decode(RESULTS.read_bytes(), type=Figures) if RESULTS.exists() else None
    print(report(now, before))
    print(f"{time.monotonic() - began:.0f} s")
    if options.write:
        RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(now), indent=2) + b"\n")
    return 0


def _stack_or_reason() -> dict[str, Spread]:
    """Measure the whole stack; where that fails, the report is of the rest."""
    try:
        return measure_stack(2)
    except (RuntimeFault, StackFault, NothingDone) as fault:
        print(f"the whole stack is left out: {fault}")
        return {}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.quick", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without-stack", action="store_true", help="measure only what starts no process")
    parser.add_argument(
        "--write", action="store_true", help=f"these ratios are compared with from now on: {RESULTS.name}"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
