"""Scenario 75: a warehouse commits and its answer gets lost, then others are first; rows and ACK are there once."""

from collections.abc import Sequence

import pytest

from schemas.events import DeliveryAcked
from services.ledger.commands import SettleDeliveries
from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from services.runtime.health import Progress
from services.runtime.networks import LOCAL
from services.writers import settling
from services.writers.sealed import Sealing
from services.writers.settling import Settling
from services.writers.telling import Telling
from services.writers.warehouses.databricks import warehouse
from services.writers.warehouses.databricks.settings import DatabricksSecrets, DatabricksSettings
from services.writers.warehouses.databricks.warehouse import DatabricksWarehouse
from services.writers.writer import written
from tests.conformance.place import block, job
from tests.fakes.warehouses.databricks import TOKEN, WAREHOUSE_ID, DatabricksFake, running
from tests.held_keys import HeldKeys
from tests.unit.ledger.world import POSTGRES, World
from tests.unit.workers.fakes import MemoryLedger
from tests.unit.writers.fakes import delivery

ITEMS = 3


class ThreeItems:
    """Writes three items of each delivery's job."""

    def __init__(self, table: DatabricksWarehouse) -> None:
        self._table = table

    async def write(self, deliveries: Sequence[Delivery]) -> list[DeliveryResult]:
        """Write them in one block."""
        jobs = [job(each.job_id, each.generation, ITEMS, org_id=each.org_id) for each in deliveries]
        assert await self._table.write(block(*jobs, columns=())) == {}
        return [written(each, rows=ITEMS) for each in deliveries]

    async def close(self) -> None:
        """Close the table."""
        await self._table.close()


@pytest.mark.parametrize("conflicts", [0, 2])
async def test_75_a_lost_answer_and_two_conflicts_leave_one_row_set_and_one_ack(
    monkeypatch: pytest.MonkeyPatch, conflicts: int
) -> None:
    monkeypatch.setattr(settling, "FIRST_PAUSE_SECONDS", 0)
    monkeypatch.setattr(warehouse, "FIRST_PAUSE_SECONDS", 0)
    world = World().extracted()
    asked = delivery(1, org_id="acme", job_id="j1", destination_id=POSTGRES.destination_id)
    async with running(DatabricksFake()) as fake:
        place = DatabricksSettings("adb-1.example.com", WAREHOUSE_ID, "lake", "results", "items")
        table = DatabricksWarehouse(place, DatabricksSecrets(token=TOKEN), allowed=LOCAL, base=fake.url)
        await table.columns()
        fake.lose_next, fake.conflicts_after_loss = "MERGE", conflicts
        ledger, writer = MemoryLedger(), ThreeItems(table)
        answers = Telling(ledger, "writer-1", Sealing(HeldKeys()))
        await Settling(writer, answers, Progress("databricks"), kind="databricks").deliver([asked])
        await writer.close()
        merges = sum(each.startswith("MERGE") for each in fake.statements)
        rows = fake.delta.rows("SELECT _job_id, _item, _generation FROM lake.results.items ORDER BY ALL")
    assert merges == 2 + conflicts
    assert rows == [(asked.job_id, item, 1) for item in range(ITEMS)]
    [settled] = [told for told in ledger.told if isinstance(told, SettleDeliveries)]
    for _ in range(2):  # the ledger is told twice
        world.settle(*settled.results)
    assert len([recorded for recorded in world.seen if isinstance(recorded.event, DeliveryAcked)]) == 1
