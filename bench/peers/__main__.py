"""`make bench-peers`: the ledger beside other systems that run jobs, in rounds on one machine.

In each round everything is started, measured and stopped, one after the other, and every other round goes backwards.
A ratio compares within a round; the middle of the rounds is printed, with the ends.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from bench.machine import machine_facts
from bench.pages import PageServer, page_server
from bench.peers import ours
from bench.peers.catalogue import OUR_DURABILITY, PEERS, Peer
from bench.peers.figures import Compared, Figures, Measure, ratio_of, speed_of
from bench.peers.full import full_path
from bench.peers.install import PeerAway
from bench.peers.measured import measured_work
from bench.peers.running import Plan, measure, place
from bench.peers.show import show
from bench.peers.work import FEW, ON_FEW, WORKS, on_few

RESULTS = Path(__file__).parent.parent / "results" / "peers.json"
FULL = "full path"
OURS = [*(work.name for work in WORKS), *(on_few(work.name) for work in ON_FEW)]


class Run:
    """What the rounds have found so far."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.plan = Plan(options.in_flight, options.workers, options.warm_up, options.seconds)
        self.full_jobs: int = options.full_jobs
        self.found: dict[str, list[Measure]] = {}
        self.away: dict[str, str] = {}
        self.broker = ""

    def round(self, number: int, peers: list[Peer], pages: PageServer) -> None:
        """Measure everything once."""
        turns: list[Callable[[], None]] = [
            self._ours,
            self._ours_on_few,
            *(lambda peer=each: self._peer(peer) for each in peers),
        ]
        if self.full_jobs:
            turns.append(lambda: self._keep(FULL, full_path(pages, self.full_jobs, self.full_jobs // 4)))
        for turn in turns if number % 2 == 0 else reversed(turns):
            turn()

    def _ours(self) -> None:
        with ours.stack(self.plan.workers, self.plan.each) as stack:
            self.broker = stack.broker
            for work in WORKS:
                self._keep(work.name, asyncio.run(measured_work(stack, work, self.plan)))

    def _ours_on_few(self) -> None:
        with ours.stack(self.plan.workers, self.plan.each, FEW) as stack:
            for work in ON_FEW:
                self._keep(on_few(work.name), asyncio.run(measured_work(stack, work, self.plan)))

    def _peer(self, peer: Peer) -> None:
        """A peer that cannot be measured is named with its reason, and not tried again."""
        if peer.name in self.away:
            return
        try:
            with place() as where:
                drivers = peer.start(where, self.plan)
                self._keep(peer.name, measure(where, drivers, self.plan))
        except PeerAway as reason:
            self.away[peer.name] = str(reason)
            _tell(f"  {peer.name} is away: {reason}")

    def _keep(self, name: str, measured: Measure) -> None:
        self.found.setdefault(name, []).append(measured)
        _tell(f"  {name}: {measured.jobs_per_second:g} jobs/s, {measured.cpu:.2f} CPU-ms a job")


def compared(peer: Peer, run: Run) -> Compared:
    """Return what came of one peer."""
    rounds = run.found.get(peer.name, [])
    away = run.away.get(peer.name, "")
    return Compared(
        name=peer.name,
        versions=peer.versions(),
        steps=peer.steps,
        configured=peer.configured,
        durability=peer.durability,
        lacks=peer.lacks,
        target=peer.target,
        speed=None if away else speed_of(rounds),
        ratios=[] if away else [ratio_of(name, run.found[name], rounds) for name in peer.works],
        away=away,
    )


def main() -> int:
    """Install, measure, print, and write the figures down."""
    options = _options()
    chosen = [each for each in PEERS if not options.only or each.name.lower().split()[0] in options.only]
    run, load_before = Run(options), round(os.getloadavg()[0], 2)
    for peer in chosen:
        _tell(f"installing {peer.name}")
        try:
            peer.install()
        except PeerAway as reason:
            run.away[peer.name] = str(reason)
            _tell(f"  {peer.name} is away: {reason}")
    with page_server() as pages:
        for number in range(options.rounds):
            _tell(f"round {number + 1} of {options.rounds}")
            run.round(number, chosen, pages)
    figures = Figures(
        command="make bench-peers",
        machine=machine_facts(),
        load_before=load_before,
        broker=run.broker,
        in_flight=run.plan.in_flight,
        worker_processes=run.plan.workers,
        rounds=options.rounds,
        seconds=run.plan.seconds,
        durability=OUR_DURABILITY,
        ours={name: speed_of(run.found[name]) for name in OURS},
        full=speed_of(run.found[FULL]) if FULL in run.found else None,
        peers=[compared(peer, run) for peer in chosen],
    )
    show(figures)
    options.output.write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=2) + b"\n")
    _tell(f"written to {options.output.name}")
    return 0


def _tell(step: str) -> None:
    print(step, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10.0, help="that each system is measured in a round (10)")
    parser.add_argument("--warm-up", type=float, default=2.0, help="seconds after the first job (2)")
    parser.add_argument("--in-flight", type=int, default=256, help="jobs submitted and not done, at any time (256)")
    parser.add_argument("--workers", type=int, default=2, help="worker processes of each system (2)")
    parser.add_argument("--full-jobs", type=int, default=1000, help="of a burst on the full path; 0: leave it out")
    parser.add_argument("--only", nargs="+", default=[], help="peers by their first word: restate, dbos, celery ...")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
