"""What a live job costs in a decider's memory: `python -m bench.restore` prints it and writes results/restore.json."""

import argparse
import gc
import sys
from collections import Counter
from pathlib import Path

import msgspec

from bench.live_jobs import Built, Mix, build
from bench.machine import machine_facts
from services.ledger.state import Ledger

RESULTS = Path(__file__).parent / "results" / "restore.json"
KIB = 1024
WARM_UP = Mix(jobs=2_000, orgs=20)


class Figures(msgspec.Struct, frozen=True):
    """One run."""

    command: str
    machine: dict[str, str | int | float]
    jobs: int
    orgs: int
    jobs_by_status: dict[str, int]
    idempotency_keys: int
    timers: int
    events: int
    spec_bytes_per_job: float
    rss_bytes_per_job: float
    beside_spec_bytes_per_job: float  # the figure of the budget: 600
    apply_events_per_second: float


def main() -> int:
    """Measure, print, and write the figures down."""
    options = _options()
    mix = Mix(jobs=options.jobs, orgs=options.orgs)
    build(Ledger(0), WARM_UP)
    before = rss_bytes()
    ledger = Ledger(0)
    built = build(ledger, mix)
    figures = _figures(mix, ledger, built, rss_bytes() - before)
    text = msgspec.json.format(msgspec.json.encode(figures), indent=2)
    print(text.decode())
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_bytes(text + b"\n")
    return 0


def rss_bytes() -> int:
    """Resident memory of this process."""
    gc.collect()
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) * KIB


def _figures(mix: Mix, ledger: Ledger, built: Built, grown: int) -> Figures:
    return Figures(
        command=f"python -m bench.restore --jobs {mix.jobs} --orgs {mix.orgs}",
        machine=machine_facts(),
        jobs=mix.jobs,
        orgs=mix.orgs,
        jobs_by_status=dict(Counter(str(job.status) for job in ledger.jobs.values())),
        idempotency_keys=sum(len(org.keys) for org in ledger.orgs.values()),
        timers=len(ledger.timers),
        events=built.events,
        spec_bytes_per_job=round(built.spec_bytes / mix.jobs, 1),
        rss_bytes_per_job=round(grown / mix.jobs, 1),
        beside_spec_bytes_per_job=round((grown - built.spec_bytes) / mix.jobs, 1),
        apply_events_per_second=round(built.events / built.apply_seconds),
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.restore", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--orgs", type=int, default=4_000)
    parser.add_argument("--output", type=Path, default=RESULTS, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
