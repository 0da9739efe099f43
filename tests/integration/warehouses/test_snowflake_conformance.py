"""The writer of Snowflake does what every warehouse does, against fakesnow."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.runtime.networks import LOCAL
from services.writers.warehouses.snowflake.session import Session
from services.writers.warehouses.snowflake.settings import SnowflakeSecrets, SnowflakeSettings
from services.writers.warehouses.snowflake.warehouse import SnowflakeWarehouse
from services.writers.warehouses.warehouse import ColumnType, Warehouse
from tests.conformance.place import SECRET, Place
from tests.conformance.suite import WarehouseConformance
from tests.fakes.warehouses.snowflake import PASSWORD, USER, SnowflakeFake, running

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class SnowflakePlace(Place):
    """A database of a server of this test's own."""

    def __init__(self, fake: SnowflakeFake) -> None:
        self.fake = fake
        self.settings = SnowflakeSettings(
            account="acc",
            user=USER,
            database=f"db_{uuid.uuid4().hex}",
            schema="s",
            table="items",
            warehouse="w",
            host="127.0.0.1",
        )

    def open(self) -> SnowflakeWarehouse:
        return self._opened(PASSWORD, self.fake.port)

    def open_badly(self) -> Warehouse:
        return self._opened(SECRET, self.fake.port)

    def open_away(self) -> Warehouse:
        return self._opened(SECRET, 9, patience_seconds=1)

    def lose_answer(self) -> None:
        self.fake.lose_next = "COMMIT"

    async def rows(self) -> list[dict[str, Any]]:
        table = self.open()
        columns = await table.columns()
        # As text, for fakesnow says 1970 of timestamps that are NULL.
        cast = {ColumnType.TIMESTAMP: "::VARCHAR"}
        names = ", ".join(f'"{name.upper()}"{cast.get(kind, "")}' for name, kind in columns.items())
        found = await asyncio.to_thread(table.session.execute, f"SELECT {names} FROM {self.settings.place}")
        await table.close()
        return [
            {name: _read(kind, value) for (name, kind), value in zip(columns.items(), row, strict=True)}
            for row in found
        ]

    def _opened(self, password: str, port: int, patience_seconds: int = 60) -> SnowflakeWarehouse:
        secrets = SnowflakeSecrets(password=password)
        session = Session(self.settings, secrets, protocol="http", port=port, patience_seconds=patience_seconds)
        return SnowflakeWarehouse(self.settings, session, allowed=LOCAL)


def _read(kind: ColumnType, value: Any) -> Any:
    match kind, value:
        case ColumnType.TIMESTAMP, str():
            return (datetime.fromisoformat(value).replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
        case ColumnType.JSON, str():
            return json.loads(value)
        case _:
            return value


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    """A server that nobody has asked yet."""
    async with running(SnowflakeFake()) as fake:
        yield SnowflakePlace(fake)


class TestConformance(WarehouseConformance):
    """What every warehouse does."""
