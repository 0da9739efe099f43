"""Readers follow a version that takes the place of theirs from one read to the next."""

import pytest
from psycopg.errors import UndefinedTable

from projections.postgres.following import Version, on_the_active_version


class Reader:
    """Fails so often because its tables are gone."""

    def __init__(self, failures: int) -> None:
        self._version, self.failures, self.reads = Version(), failures, 0

    @on_the_active_version
    async def read(self, what: str, *, more: str = "") -> str:
        """Answer, or meet that the tables are gone."""
        self.reads += 1
        if self.reads <= self.failures:
            raise UndefinedTable("relation does not exist")
        return what + more


async def test_a_read_of_a_version_that_was_replaced_is_made_once_more() -> None:
    reader = Reader(1)
    assert await reader.read("a", more="b") == "ab"
    assert reader.reads == 2


async def test_tables_that_are_really_missing_are_told() -> None:
    reader = Reader(2)
    with pytest.raises(UndefinedTable):
        await reader.read("a")
    assert reader.reads == 2
