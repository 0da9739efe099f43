"""The types that docs/destinations.md promises are those that columns are made of, and a missing driver is told."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from services.writers.warehouses.bigquery.tables import TYPES as BIGQUERY
from services.writers.warehouses.clickhouse_customer.statements import TYPES as CLICKHOUSE
from services.writers.warehouses.customer_postgres.statements import TYPES as POSTGRES
from services.writers.warehouses.databricks.statements import TYPES as DATABRICKS
from services.writers.warehouses.kinds import KINDS, DriverMissing, Opening
from services.writers.warehouses.snowflake.statements import TYPES as SNOWFLAKE
from services.writers.warehouses.warehouse import ColumnType

DOC = Path(__file__).parent.parent.parent.parent / "docs" / "destinations.md"
TYPES: Mapping[str, Mapping[ColumnType, str]] = {
    "customer_postgres": POSTGRES,
    "customer_clickhouse": CLICKHOUSE,
    "bigquery": BIGQUERY,
    "snowflake": SNOWFLAKE,
    "databricks": DATABRICKS,
}
HEAD = "| | text | integer | number | boolean | timestamp | JSON |"


def documented() -> dict[str, list[str]]:
    """Return the types of each kind, in the order of HEAD."""
    rows = DOC.read_text("utf-8").partition(HEAD)[2].partition("\n\n")[0].splitlines()[2:]
    cells = ([cell.strip(" `") for cell in row.strip("|").split("|")] for row in rows)
    return {kind: types for kind, *types in cells}


def test_the_table_of_types_says_of_each_kind_what_its_columns_are_made_of() -> None:
    assert documented() == {kind: [types[each] for each in ColumnType] for kind, types in TYPES.items()}
    assert TYPES.keys() == KINDS.keys()
    assert [each.value.lower() for each in ColumnType] == HEAD.lower().replace("|", " ").split()


@pytest.mark.parametrize("kind", KINDS)
def test_a_process_without_the_driver_of_a_kind_says_what_to_install(kind: str) -> None:
    without = replace(KINDS[kind], opened="services.writers.warehouses.not_installed:Warehouse")
    wanted = f"jobledger[{without.extra}]" if without.extra else "its driver"
    with pytest.raises(DriverMissing) as missing:
        without.open(Opening(settings=None, secrets=None))
    assert str(missing.value) == f"the writer of {kind} cannot run here: install {wanted}"
