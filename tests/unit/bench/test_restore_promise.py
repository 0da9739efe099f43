"""What is promised of a start with a million live jobs, by the figures that were committed last."""

import json
from pathlib import Path

FIGURES = Path(__file__).parents[3] / "bench/results/restore.json"
JOBS = 1_000_000
RESTORED_SECONDS = 30
BYTES_BESIDE_SPEC = 600


def test_a_million_live_jobs_come_back_within_the_time_and_the_memory_that_are_promised() -> None:
    figures = json.loads(FIGURES.read_bytes())
    assert sum(figures["jobs_by_status"].values()) == figures["jobs"] >= JOBS
    assert figures["restored_seconds"] < RESTORED_SECONDS
    assert figures["beside_spec_bytes_per_job"] < BYTES_BESIDE_SPEC
    assert figures["restored_beside_spec_bytes_per_job"] < BYTES_BESIDE_SPEC
    assert figures["spec_bytes_per_job"] > 100, "specs are real ones"
    assert figures["idempotency_keys"] > JOBS / 2
    assert figures["timers"] > JOBS / 10
