"""What one partition's decider does with nothing else in its way: `python -m bench.decider`.

The commands lie on the broker before the clock starts, no org has a cap that matters, and nobody else uses the stack.
Each round measures the decider and then its floor (`decider_floor.py`), which moves the same bytes.
"""

import argparse
import asyncio
import cProfile
import gc
import io
import os
import pstats
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, json

from bench.decider_floor import Moved, moved_by_decider, run_floor
from bench.decider_work import Work, commands
from bench.machine import machine_facts
from bench.processes import cpu_ms, used
from bench.stack import part_stack
from services.decider.clock import SteadyClock
from services.decider.partition import PartitionDecider, Tools, open_partition
from services.decider.restore import restore
from services.ledger.wire import COMMANDS
from services.runtime import topics
from services.runtime.admin import ensure_topics
from services.runtime.ends import Ends
from services.runtime.ids import uuid7
from services.runtime.policy import policy_of
from services.runtime.producer import Producer
from services.runtime.reader import Record
from services.runtime.registry import decoder, encoder
from services.runtime.settings import Settings
from services.runtime.time import now_micros

RESULTS = Path(__file__).parent / "results" / "decider.json"
PROFILE_LINES = 40
T = TypeVar("T")


class Cost(Struct, frozen=True):
    """What a run took: by the clock, and on a core, of this process and of the broker."""

    seconds: float
    cpu_ms: float
    broker_cpu_ms: float


class Round(Struct, frozen=True):
    """The decider, its floor, and the partition read back from the log."""

    decider: Cost
    floor: Cost
    restore: Cost
    transactions: int


class Figures(Struct, frozen=True):
    """All rounds; medians of them."""

    command: str
    machine: dict[str, str | int | float]
    jobs: int
    commands: int
    events: int
    records: int
    bytes: int
    jobs_per_second: float
    floor_jobs_per_second: float
    share_of_floor: float  # by the clock
    share_of_floor_cpu: float  # of this process: what is left when the broker's time and the waiting are taken out
    cpu_us_per_job: float
    cpu_us_per_command: float
    cpu_us_per_event: float
    floor_cpu_us_per_event: float
    broker_cpu_us_per_event: float
    restored_events_per_second: float
    restore_cpu_us_per_event: float
    rounds: list[Round]


def main() -> int:
    """Measure, print, and write the figures down where asked."""
    options = _options()
    work = Work(options.jobs)
    made = [(command.org_id, COMMANDS.encode(command)) for command in commands(work)]
    rounds: list[Round] = []
    with part_stack(8, (), clickhouse=False, tell=_tell) as stack:
        broker = stack.processes["broker"]
        for number in range(options.rounds):
            settings = replace(stack.settings, topic_prefix=f"bench-{number}", partitions=1, ended_kept_seconds=0.0)
            ensure_topics(settings)
            _send(settings, made)
            profile = cProfile.Profile() if options.profile else None
            deciding, decided = _decide(settings, len(made), broker, profile)
            moved = moved_by_decider(settings, len(made))
            gc.freeze()
            floor, _ = _measured(broker, partial(run_floor, settings, moved))
            gc.unfreeze()
            folding, _ = _measured(broker, partial(_restore, settings))
            rounds.append(Round(deciding, floor, folding, moved.transactions))
            _tell(str(rounds[-1]))
            if profile:
                options.profile.write_text(f"the decider alone, {work.jobs} jobs\n{_text(profile)}")
    figures = _figures(work, len(made), decided, moved, rounds)
    text = json.format(json.encode(figures), indent=2)
    print(text.decode())
    if options.write:
        options.output.write_bytes(text + b"\n")
    return 0


def _decide(settings: Settings, commands: int, broker: int, profile: cProfile.Profile | None) -> tuple[Cost, int]:
    """Decide all commands; return what that took, the start apart, and the position of the last event."""
    producer = Producer(settings, "bench")
    producer.start()
    tools = Tools(
        settings,
        policy_of(settings),
        encoder(settings),
        decoder(settings),
        producer,
        _no_park,
        Ends(settings, topics.commands(settings)),
        boot_id=uuid7(),
        clock=SteadyClock(now_micros, time.monotonic),
    )
    decider = open_partition(tools, 0)
    work = partial(_run, decider, commands, producer)
    cost, _ = _measured(broker, partial(profile.runcall, work) if profile else work)
    position = decider.position
    producer.close()
    decider.close()
    if decider.live_jobs:
        raise AssertionError(f"{decider.live_jobs} jobs have not ended")
    return cost, position


def _run(decider: PartitionDecider, commands: int, producer: Producer) -> None:
    while decider.next_command < commands:
        decider.step()
    producer.flush()


def _restore(settings: Settings) -> None:
    fence = Ends(settings, topics.events(settings))
    end = asyncio.run(fence.of([0]))[0]
    restore(settings, 0, decoder(settings), policy_of(settings), end - 2)  # the last record; behind it is a marker


def _no_park(record: Record, reason: str, detail: str = "") -> None:
    raise AssertionError(f"a command of the bench is not taken: {reason} {detail}")


def _send(settings: Settings, made: list[tuple[str, bytes]]) -> None:
    producer = Producer(settings, "bench-commands")
    producer.start()
    for org_id, value in made:
        producer.produce(topics.commands(settings), 0, org_id, value)
    producer.flush()
    producer.close()


def _measured(broker: int, work: Callable[[], T]) -> tuple[Cost, T]:
    processes = {"bench": os.getpid(), "broker": broker}
    gc.collect()
    before, began, cpu = cpu_ms(processes), time.monotonic(), time.process_time()
    result = work()
    seconds, spent = time.monotonic() - began, time.process_time() - cpu
    return Cost(round(seconds, 3), round(spent * 1000, 1), used(before, cpu_ms(processes))["broker"]), result


def _figures(work: Work, commands: int, events: int, moved: Moved, rounds: list[Round]) -> Figures:
    def median(of: Callable[[Round], float]) -> float:
        return statistics.median(map(of, rounds))

    jobs = work.jobs
    return Figures(
        command=f"python -m bench.decider --jobs {jobs} --rounds {len(rounds)}",
        machine=machine_facts(),
        jobs=jobs,
        commands=commands,
        events=events,
        records=len(moved.written) + len(moved.replies),
        bytes=moved.bytes,
        jobs_per_second=round(jobs / median(lambda each: each.decider.seconds), 1),
        floor_jobs_per_second=round(jobs / median(lambda each: each.floor.seconds), 1),
        share_of_floor=round(median(lambda each: each.floor.seconds / each.decider.seconds), 3),
        share_of_floor_cpu=round(median(lambda each: each.floor.cpu_ms / each.decider.cpu_ms), 3),
        cpu_us_per_job=round(median(lambda each: each.decider.cpu_ms) * 1000 / jobs, 1),
        cpu_us_per_command=round(median(lambda each: each.decider.cpu_ms) * 1000 / commands, 1),
        cpu_us_per_event=round(median(lambda each: each.decider.cpu_ms) * 1000 / events, 2),
        floor_cpu_us_per_event=round(median(lambda each: each.floor.cpu_ms) * 1000 / events, 2),
        broker_cpu_us_per_event=round(median(lambda each: each.decider.broker_cpu_ms) * 1000 / events, 2),
        restored_events_per_second=round(events / median(lambda each: each.restore.seconds)),
        restore_cpu_us_per_event=round(median(lambda each: each.restore.cpu_ms) * 1000 / events, 2),
        rounds=rounds,
    )


def _text(profile: cProfile.Profile) -> str:
    out = io.StringIO()
    pstats.Stats(profile, stream=out).strip_dirs().sort_stats("tottime").print_stats(PROFILE_LINES)
    return out.getvalue()


def _tell(step: str) -> None:
    print(step, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.decider", description=__doc__)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", type=Path, help="write here where the decider spends its time; it is slower then")
    parser.add_argument("--write", action="store_true", help="write the figures down")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where to")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
