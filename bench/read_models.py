"""How fast both read models catch up with a long log, beside their floors: `python -m bench.read_models [--write]`.

First the lag at a steady pace, once both have warmed up: events are put on their topic at their times, and each counts
from there until its store has it. Then the whole log is dealt onto the topic, and each projection folds it from its
first event on, part by part; behind each part comes the floor: the rows of that part by plain COPY into tables with the
same constraints and indexes; the bytes of that part read by ClickHouse from a file into the same table without views.
Needs about ten minutes, 6 GB of disk, and a machine with nothing else to do.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec

from bench.machine import machine_facts
from bench.read_models_lag import Lag, lags
from bench.read_models_log import deal
from bench.read_models_parts import ClickHouseParts, Part, PostgresParts, measured_part
from services.localstack.child import Child
from services.localstack.places import StackDir
from services.localstack.secret_file import secrets_of
from services.localstack.services import SERVICES, service_program
from services.localstack.stack import Stack
from services.localstack.supervisor import prepare_ledger
from services.runtime.settings import settings_from

RESULTS = Path(__file__).parent / "results" / "read_models.json"
PROJECTIONS = [service for service in SERVICES if service.name in ("projections", "projections-clickhouse")]


class Speed(msgspec.Struct, frozen=True):
    """How one read model caught up."""

    events: int
    events_per_second: int  # over the whole log
    parts_per_second: list[int]  # of each part, in their order
    floor_per_second: list[int]
    ratio_to_floor: float  # time of the projection by that of the floor: median of the parts
    ratio_spread: tuple[float, float]  # smallest and largest
    cpu_us_per_event: dict[str, float]  # by process; `projection` is this one, `floor` what the store used for that


class Figures(msgspec.Struct, frozen=True):
    """One run."""

    command: str
    machine: dict[str, str | int | float]
    broker: str
    lag: dict[str, Lag]
    postgres: Speed
    clickhouse: Speed


def main() -> int:
    """Measure, print, and write the figures down where that is asked for."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="jobledger-bench-") as place:
        stack = Stack(StackDir(Path(place) / "stack"), os.environ, _tell)
        try:
            stack.start()
            prepare_ledger(stack.environ)
            figures = _measure(stack, options, Path(place) / "part.avro")
        finally:
            stack.stop()
    text = msgspec.json.format(msgspec.json.encode(figures), indent=2)
    print(text.decode())
    if options.write:
        RESULTS.write_bytes(text + b"\n")
    return 0


def _measure(stack: Stack, options: argparse.Namespace, file: Path) -> Figures:
    settings = settings_from(stack.environ)
    servers = {each.name: each.identity.pid for each in stack.processes() if each.identity}
    _tell(f"lag at {options.pace} events/s for {options.seconds} s")
    with _running(stack):
        lag, dealt = lags(settings, options.pace, options.seconds)
    _tell(f"dealing {options.events} events onto the topic")
    deal(settings, {**os.environ, **stack.environ}, options.events, behind=dealt)
    left = options.events // settings.partitions * settings.partitions - sum(dealt.values())
    found = {}
    for name, kind in (("postgres", PostgresParts), ("clickhouse", ClickHouseParts)):
        parts: list[tuple[Part, Part]] = []
        with kind(settings, file) as measuring:
            done = 0  # events: a part ends with a batch, the last one with the log
            for number in range(1, options.parts + 1):
                folded = measured_part(servers, partial(measuring.fold, left * number // options.parts - done))
                done += folded.events
                measuring.prepare_floor()
                floor = measured_part(servers, measuring.floor)
                parts.append((folded, floor))
                speeds = [folded.events / each.seconds for each in (folded, floor)]
                _tell(f"{name}: {speeds[0]:,.0f} events/s, floor {speeds[1]:,.0f}")
        found[name] = _speed(parts, name)
    command = f"python -m bench.read_models --events {options.events}"
    return Figures(command, machine_facts(), str(stack.broker), lag, found["postgres"], found["clickhouse"])


@contextmanager
def _running(stack: Stack) -> Iterator[None]:
    """Run the processes of both projections meanwhile."""
    secrets = secrets_of(stack.directory.secrets, stack.environ)
    children = []
    try:
        for service in PROJECTIONS:
            program = service_program(service, stack.directory, stack.environ, secrets)
            children.append(Child(program, stack.directory.log(program.name)))
            children[-1].start()
        for child in children:
            child.wait_ready_patiently(_tell)
        yield
    finally:
        for child in children:
            child.stop()


def _speed(parts: Sequence[tuple[Part, Part]], store: str) -> Speed:
    ratios = [folded.seconds / floor.seconds for folded, floor in parts]
    total = sum(folded.events for folded, _ in parts)
    used = {name: sum(folded.cpu[name] for folded, _ in parts) / total * 1e6 for name in parts[0][0].cpu}
    used["floor"] = sum(floor.cpu[store] + floor.cpu["projection"] for _, floor in parts) / total * 1e6
    return Speed(
        events=total,
        events_per_second=round(total / sum(folded.seconds for folded, _ in parts)),
        parts_per_second=[round(folded.events / folded.seconds) for folded, _ in parts],
        floor_per_second=[round(folded.events / floor.seconds) for folded, floor in parts],
        ratio_to_floor=round(statistics.median(ratios), 2),
        ratio_spread=(round(min(ratios), 2), round(max(ratios), 2)),
        cpu_us_per_event={name: round(value, 2) for name, value in used.items()},
    )


def _tell(step: str) -> None:
    print(step, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.read_models", description=__doc__)
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--parts", type=int, default=5, help="of the log, with the floor behind each")
    parser.add_argument("--pace", type=int, default=2_000, help="events a second while the lag is measured")
    parser.add_argument("--seconds", type=int, default=20, help="for so long")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
