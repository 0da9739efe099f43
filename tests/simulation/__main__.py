"""Runs seeds: `python -m tests.simulation --seeds 1000 --from 0`, or one again with its trace: `--seed 17`."""

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice

from tests.simulation.run import Result, simulate


def main() -> int:
    """Run what the arguments ask for; exit code 1 where a seed failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first one")
    parser.add_argument("--seconds", type=float, default=0.0, help="begin no seed after so long; 0: begin all")
    parser.add_argument("--processes", type=int, default=1, help="how many at once")
    parser.add_argument("--until-one-fails", action="store_true", help="stop at the first seed that fails")
    parser.add_argument("--seed", type=int, help="run this one and print what happened")
    asked = parser.parse_args()
    return _again(asked.seed) if asked.seed is not None else _many(asked)


def _again(seed: int) -> int:
    result = simulate(seed, traced=True)
    for at, text in result.trace:
        print(f"{at:9.4f} {text}")
    print(f"seed {seed}: digest {result.digest}")
    for each in result.wrong:
        print("WRONG", each)
    return bool(result.wrong)


def _many(asked: argparse.Namespace) -> int:
    began, results = time.monotonic(), list[Result]()
    for result in _results(asked):
        results.append(result)
        if result.wrong:
            print(f"seed {result.seed} failed:", *result.wrong, sep="\n    ", flush=True)
            if asked.until_one_fails:
                break
    failed = [result.seed for result in results if result.wrong]
    print(
        f"{len(results)} seeds in {time.monotonic() - began:.0f} s: "
        f"{sum(result.seconds for result in results) / 3600:.1f} simulated hours, "
        f"{sum(result.jobs for result in results)} jobs, {sum(result.events for result in results)} events, "
        f"{sum(result.kills for result in results)} kills; {len(failed)} failed",
        *failed,
    )
    return bool(failed)


def _results(asked: argparse.Namespace) -> Iterator[Result]:
    seeds = _in_time(iter(range(asked.first, asked.first + asked.seeds)), asked.seconds)
    if asked.processes == 1:
        yield from map(simulate, seeds)
        return
    with ProcessPoolExecutor(asked.processes) as pool:
        while some := list(islice(seeds, 8 * asked.processes)):
            yield from pool.map(simulate, some)


def _in_time(seeds: Iterator[int], seconds: float) -> Iterator[int]:
    over = time.monotonic() + seconds
    for seed in seeds:
        if seconds and time.monotonic() > over:
            return
        yield seed


if __name__ == "__main__":
    sys.exit(main())
