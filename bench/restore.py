"""What a live job costs in a decider's memory, and how long many take to come back: `python -m bench.restore`."""

import argparse
import gc
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import msgspec

from bench.live_jobs import Built, Mix, build
from bench.machine import machine_facts, resident_bytes
from services.ledger.digest import digest_of_state
from services.ledger.state import Ledger
from services.runtime.settings import Settings
from services.runtime.snapshots import Snapshots, header_of

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
    snapshot_bytes: int
    snapshot_written_seconds: float
    restored_seconds: float  # in a fresh process: read, checked and put together
    restored_cpu_seconds: float
    restored_rss_bytes_per_job: float
    restored_beside_spec_bytes_per_job: float
    restored_peak_bytes_per_job: float  # while it is read


class Restored(msgspec.Struct, frozen=True):
    """What a fresh process tells of reading a snapshot back."""

    jobs: int
    digest: str
    seconds: float
    cpu_seconds: float
    grown_bytes: int
    peak_bytes: int


def main() -> int:
    """Measure, print, and write the figures down."""
    options = _options()
    if options.read:
        print(msgspec.json.encode(_read_back(options.read)).decode())
        return 0
    mix = Mix(jobs=options.jobs, orgs=options.orgs)
    build(Ledger(0), WARM_UP)
    before = rss_bytes()
    ledger = Ledger(0)
    built = build(ledger, mix)
    grown = rss_bytes() - before
    with tempfile.TemporaryDirectory() as directory:
        began = time.monotonic()
        key = Snapshots(_settings(directory)).save(ledger, header_of(ledger, 0, bytes(32)))
        written = time.monotonic() - began
        size = (Path(directory) / key).stat().st_size
        restored = _in_fresh_process(directory)
    if restored.digest != digest_of_state(ledger).hex():
        raise AssertionError("what was read back is not what was written")
    figures = _figures(mix, ledger, built, grown, restored, size, written)
    text = msgspec.json.format(msgspec.json.encode(figures), indent=2)
    print(text.decode())
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_bytes(text + b"\n")
    return 0


def _in_fresh_process(directory: str) -> Restored:
    command = (sys.executable, "-m", "bench.restore", "--read", directory)
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    return msgspec.json.decode(told.stdout, type=Restored)


def _read_back(directory: str) -> Restored:
    snapshots, policy = Snapshots(_settings(directory)), Ledger(0).policy
    warm = Ledger(1)
    build(warm, WARM_UP)
    snapshots.load(snapshots.save(warm, header_of(warm, 0, bytes(32))), 1, policy, 1)
    del warm
    before, began, cpu = rss_bytes(), time.monotonic(), time.process_time()
    ledger, header = snapshots.load(snapshots.newest_first(0)[0], 0, policy, 1)
    gc.freeze()
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    grown = rss_bytes() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB - before
    return Restored(header.jobs, digest_of_state(ledger).hex(), seconds, cpu, grown, peak)


def _settings(directory: str) -> Settings:
    return Settings(kafka="", postgres="", registry="", blobs=f"file://{directory}")


def rss_bytes() -> int:
    """Resident memory of this process."""
    gc.collect()
    return resident_bytes()


def _figures(
    mix: Mix, ledger: Ledger, built: Built, grown: int, restored: Restored, size: int, written: float
) -> Figures:
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
        snapshot_bytes=size,
        snapshot_written_seconds=round(written, 2),
        restored_seconds=round(restored.seconds, 2),
        restored_cpu_seconds=round(restored.cpu_seconds, 2),
        restored_rss_bytes_per_job=round(restored.grown_bytes / mix.jobs, 1),
        restored_beside_spec_bytes_per_job=round((restored.grown_bytes - built.spec_bytes) / mix.jobs, 1),
        restored_peak_bytes_per_job=round(restored.peak_bytes / mix.jobs, 1),
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.restore", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--read", default="", help="only read the snapshot in this directory back, and say how it went")
    parser.add_argument("--orgs", type=int, default=4_000)
    parser.add_argument("--output", type=Path, default=RESULTS, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
