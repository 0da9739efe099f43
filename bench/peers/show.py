"""Prints what a run against the peers has found."""

from bench.peers.figures import Compared, Figures, Spread


def show(figures: Figures) -> None:
    """Print one line for each system and each ratio."""
    print(f"{figures.in_flight} jobs in flight, {figures.worker_processes} worker processes, {figures.rounds} rounds")
    print(f"{'':<42}{'jobs/s':>24}{'CPU-ms a job':>26}")
    for name, speed in figures.ours.items():
        print(f"{'ledger, ' + name:<42}{_text(speed.jobs_per_second):>24}{_text(speed.cpu_ms_per_job):>26}")
    for peer in figures.peers:
        if peer.speed:
            found = peer.speed
            print(f"{peer.name:<42}{_text(found.jobs_per_second):>24}{_text(found.cpu_ms_per_job):>26}")
        else:
            print(f"{peer.name:<42}not measured: {peer.away}")
    if figures.full:
        found = figures.full
        print(f"{'ledger, full path':<42}{_text(found.jobs_per_second):>24}{_text(found.cpu_ms_per_job):>26}")
    for peer in figures.peers:
        _ratios(peer)


def _ratios(peer: Compared) -> None:
    for number, ratio in enumerate(peer.ratios):
        target = f", target {peer.target:g}" if peer.target and number == 0 else ""
        print(f"{ratio.ours}: {_text(ratio.speed)} times {peer.name}'s jobs/s{target}; {_text(ratio.cpu)} by CPU")


def _text(spread: Spread) -> str:
    return f"{spread.median:g} ({spread.least:g}-{spread.most:g})"
