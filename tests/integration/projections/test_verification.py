"""The service that verifies, as a process on real stores: it tells what was changed by hand, until it is mended."""

import asyncio
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client
from prometheus_client.parser import text_string_to_metric_families

from services.localstack.ports import port_for
from services.runtime.producer import Producer
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.clickhouse.conftest import clickhouse as clickhouse
from tests.integration.clickhouse.projecting import go_on
from tests.integration.projections.conftest import Connection
from tests.integration.projections.following import Partition, process, ready
from tests.integration.projections.test_process import until
from tests.integration.projections.test_rebuild import caught_up

pytestmark = pytest.mark.kafka
SECONDS = 90.0
LATER = {"mutations_sync": 1}


def metrics(port: int) -> dict[tuple[str, str], float]:
    """Return what the service tells, by name and label."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as response:
            text = response.read().decode()
    except OSError:
        return {}
    samples = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
    return {(sample.name, "".join(sample.labels.values())): sample.value for sample in samples}


async def test_it_tells_a_row_that_was_changed_in_either_store_until_it_is_mended(
    ledger: Settings, producer: Producer, database: Connection, clickhouse: Client, tmp_path: Path
) -> None:
    partition, ports = Partition(ledger, 0), tmp_path / "ports.json"
    job = partition.stream.submit(2)
    partition.stream.dispatch(job)
    partition.stream.claim(job)
    partition.say(iter(()), producer)
    with process(ledger, port_for(ports, "projections")):
        until(lambda: caught_up(ledger, [partition]))
    go_on(ledger, [partition.stream])
    port = port_for(ports, "verification")

    async def told(changed: set[str]) -> None:
        """Wait until a verification that began later than now has found this many violations of these tables."""
        outcome = "violations" if changed else "good"
        name = ("jobledger_verify_runs_total", outcome)
        ran = (await asyncio.to_thread(metrics, port)).get(name, 0)

        def found() -> bool:
            now = metrics(port)
            kinds = {kind for (each, kind), number in now.items() if each.endswith("verify_violations") and number == 1}
            return now.get(name, 0) > ran and kinds == changed

        await eventually(lambda: asyncio.to_thread(found), SECONDS)

    with process(replace(ledger, verify_pause_seconds=0.1), port, "projections.verification"):
        await told(set())
        position = metrics(port)["jobledger_verify_good_position", "0"]
        assert position == len(partition.stream.events)
        database.execute("UPDATE jobs SET domain = 'other.example'")
        await told({"jobs"})
        update = "ALTER TABLE job_events UPDATE domain = '{}' WHERE event_type = 'JobSubmitted'"
        clickhouse.command(update.format("other.example"), settings=LATER)
        await told({"jobs", "job_events"})
        assert ready(port)["ready"], "it works"
        database.execute("UPDATE jobs SET domain = 'shop.example'")
        clickhouse.command(update.format("shop.example"), settings=LATER)
        await told(set())
