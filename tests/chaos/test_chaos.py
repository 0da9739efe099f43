"""A chaos run under pytest: `JOBLEDGER_CHAOS_MINUTES=3 pytest tests/chaos`. CI runs `python -m tests.chaos` itself."""

import os
from pathlib import Path
from random import SystemRandom

import pytest

from services.localstack.broker import choose_broker
from services.localstack.broker_kafka import ApacheKafka
from tests.chaos.run import Run

MINUTES = float(os.environ.get("JOBLEDGER_CHAOS_MINUTES", "0"))
SEED = int(os.environ.get("JOBLEDGER_CHAOS_SEED", "0")) or SystemRandom().randrange(1, 1_000_000)


async def test_nothing_is_lost_doubled_illegal_or_early_while_everything_is_killed(tmp_path: Path) -> None:
    if not MINUTES:
        pytest.skip("takes minutes: `make chaos`, or set JOBLEDGER_CHAOS_MINUTES (and JOBLEDGER_CHAOS_SEED)")
    broker = choose_broker(os.environ, print)
    if not isinstance(broker, ApacheKafka):
        pytest.skip(f"needs Apache Kafka of the stack's own; the broker is {broker}")
    report = await Run(SEED, MINUTES, tmp_path, print).run()
    assert report.ok, f"seed {SEED}: {report.found}"
