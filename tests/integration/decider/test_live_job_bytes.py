"""What a live job takes of a decider's memory, with its spec, key, timers and place in the queue, as it is measured."""

import json
import subprocess
import sys
from pathlib import Path

JOBS, ORGS = 20_000, 80
# Beside the spec, of so few jobs: what is there once for all of them weighs on each. Of a million a job takes 600 and
# less of both (bench/results/restore.json). From run to run so few differ by 60 bytes each: these are no close limits.
BUILT, RESTORED = 1200, 900


def test_a_live_job_takes_no_more_memory_than_it_did_made_or_restored(tmp_path: Path) -> None:
    written = tmp_path / "restore.json"
    command = (sys.executable, "-m", "bench.restore", "--jobs", str(JOBS), "--orgs", str(ORGS), "--output", written)
    subprocess.run(command, check=True, capture_output=True, cwd=Path(__file__).parents[3])
    figures = json.loads(written.read_text())
    assert sum(figures["jobs_by_status"].values()) == figures["jobs"] == JOBS
    assert figures["idempotency_keys"] > JOBS / 2
    assert figures["timers"] > JOBS / 10
    assert figures["beside_spec_bytes_per_job"] < BUILT
    assert figures["restored_beside_spec_bytes_per_job"] < RESTORED
