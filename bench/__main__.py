"""`make bench`: what a job costs and how long it takes, on a stack of the bench's own."""

import argparse
import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
from rich.console import Console

from bench.figures import Figures
from bench.pages import page_server
from bench.run import FULL, QUICK, Plan, measure
from bench.show import figure_parts
from bench.stack import own_stack

RESULTS = Path(__file__).parent / "results" / "latest.json"


def main() -> int:
    """Measure, print, and write the figures down."""
    options = _options()
    plan: Plan = QUICK if options.quick else FULL
    if options.jobs:
        plan = replace(plan, jobs=options.jobs)
    with page_server() as pages, own_stack(plan.worker_slots, _tell) as stack:
        figures = asyncio.run(measure(plan, stack, pages, _tell))
    console = Console(highlight=False)
    for part in figure_parts(figures):
        console.print(part)
    _write(options.output, figures)
    return 0


def _write(file: Path, figures: Figures) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=2) + b"\n")
    _tell(f"written to {file.name}")


def _tell(step: str) -> None:
    print(step, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything; figures for a first look only")
    parser.add_argument("--jobs", type=int, default=0, help="how many jobs at once")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
