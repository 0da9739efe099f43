"""What the keys of jobs are kept by, without a database."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from services.runtime.sealing import new_key
from services.runtime.shredding.store import JobKeys
from services.runtime.shredding.vault import Vault


class Noting:
    """Stands for a pool, its connection and their transactions; notes what is to be saved."""

    def __init__(self) -> None:
        self.saved: list[dict[str, Any]] = []

    @asynccontextmanager
    async def connection(self) -> AsyncIterator["Noting"]:
        """Lend itself."""
        yield self

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Begin and end."""
        yield

    async def execute(self, _statement: Any, values: dict[str, Any]) -> None:
        """Note a statement."""
        self.saved.append(values)


async def test_no_key_of_an_org_has_the_number_of_one_before_it_that_may_be_destroyed() -> None:
    database: Any = Noting()
    keys = JobKeys(database, Vault(new_key()))
    for _ in range(3):
        await keys.turn("acme", on=True)
    numbers = {values["key_id"] for values in database.saved if "key_id" in values}
    assert len(numbers) == 3
    assert all(0 < number < 2**31 for number in numbers)
