"""The writer of Databricks does what every warehouse does, against a server that plays its API."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from yarl import URL

from services.runtime.networks import LOCAL
from services.writers.warehouses.databricks import warehouse
from services.writers.warehouses.databricks.settings import DatabricksSecrets, DatabricksSettings
from services.writers.warehouses.databricks.warehouse import DatabricksWarehouse
from services.writers.warehouses.warehouse import ColumnType, Warehouse
from tests.conformance.place import SECRET, Place
from tests.conformance.suite import WarehouseConformance
from tests.fakes.warehouses.databricks import TOKEN, WAREHOUSE_ID, DatabricksFake, running

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class DatabricksPlace(Place):
    """A schema of a workspace of this test's own."""

    def __init__(self, fake: DatabricksFake) -> None:
        self.fake = fake
        self.settings = DatabricksSettings("adb-1.example.com", WAREHOUSE_ID, "lake", "results", "items")

    def open(self) -> Warehouse:
        return self._opened(TOKEN, self.fake.url)

    def open_badly(self) -> Warehouse:
        return self._opened(SECRET, self.fake.url)

    def open_away(self) -> Warehouse:
        return self._opened(SECRET, URL("http://127.0.0.1:9"))

    def lose_answer(self) -> None:
        self.fake.lose_next = "MERGE"

    async def rows(self) -> list[dict[str, Any]]:
        table = self.open()
        columns = await table.columns()
        await table.close()
        names = ", ".join(f'"{name}"' for name in columns)
        found = self.fake.delta.rows(f"SELECT {names} FROM {self.settings.place}")
        return [
            {name: _read(kind, value) for (name, kind), value in zip(columns.items(), row, strict=True)}
            for row in found
        ]

    def _opened(self, token: str, base: URL) -> Warehouse:
        return DatabricksWarehouse(self.settings, DatabricksSecrets(token=token), allowed=LOCAL, base=base)


def _read(kind: ColumnType, value: Any) -> Any:
    match kind, value:
        case ColumnType.TIMESTAMP, datetime():
            return (value - EPOCH) // timedelta(microseconds=1)
        case ColumnType.JSON, str():
            return json.loads(value)
        case _:
            return value


@pytest.fixture
async def place(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    """An empty schema; pauses between tries are short."""
    monkeypatch.setattr(warehouse, "FIRST_PAUSE_SECONDS", 0.001)
    async with running(DatabricksFake()) as fake:
        yield DatabricksPlace(fake)


class TestConformance(WarehouseConformance):
    """What every warehouse does."""
