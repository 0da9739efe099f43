"""The statements that change a table: each is safe to repeat, and what belongs together is one transaction."""

from collections.abc import Sequence
from pathlib import Path

from services.runtime.sql import blocks
from services.writers.warehouses.warehouse import Column, ColumnType

SQL = blocks(Path(__file__).parent / "statements.sql")
# Where a staging table went away and was made anew, its rows are not there although their load job has ended.
NOT_STAGED = "rows are not staged"


def write(table: str, kept: str, staged: str, columns: Sequence[Column], jobs: int) -> str:
    """Return what brings so many jobs of a staging table into the table."""
    values = (
        # Numbers that a double cannot hold are rounded: without that BigQuery refuses the whole statement.
        f"PARSE_JSON(staged.`{column.name}`, wide_number_mode => 'round')"
        if column.type is ColumnType.JSON
        else f"staged.`{column.name}`"
        for column in columns
    )
    return SQL["write"].format(
        table=table,
        kept=kept,
        staged=staged,
        jobs=jobs,
        not_staged=NOT_STAGED,
        names=", ".join(f"`{column.name}`" for column in columns),
        values=", ".join(values),
    )


def erase(table: str, kept: str) -> str:
    """Return what takes jobs of an org away."""
    return SQL["erase"].format(table=table, kept=kept)
