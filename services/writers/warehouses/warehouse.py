"""What a warehouse is to its writer: one table of one destination, which takes the items of jobs as rows.

The writer decides what is written: it makes rows of extractions, drops generations that are older than what it holds in
its hands, sees to new columns, and says to the ledger what came of each job. A warehouse only has to do what is asked,
and to be asked twice without harm.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Protocol

from msgspec import Struct

Value = str | int | float | bool | None
ERASED = 2**63 - 1  # a generation behind which none comes: of jobs that were erased, nothing comes back


class ColumnType(Enum):
    """What a column holds; every warehouse has a type of its own for each."""

    TEXT = "text"
    INTEGER = "integer"  # 64 bits with a sign
    NUMBER = "number"  # a double
    BOOLEAN = "boolean"
    TIMESTAMP = "timestamp"  # UTC with microseconds; values are microseconds since 1970
    JSON = "json"  # values are JSON texts


class Column(Struct, frozen=True):
    """A column of a table: its name is lower case, of letters, digits and underscores, at most 63 of them."""

    name: str
    type: ColumnType


class JobKey(Struct, frozen=True, order=True):
    """Whose rows these are; there is a table per destination, which therefore is no part of it."""

    org_id: str
    job_id: str


ITEM = 2  # where in a row the ordinal of its item is


class JobRows(Struct, frozen=True):
    """Rows of one job in one generation: they take the place of all older ones, and of the same items of this one.

    A job that is large comes in several blocks, some items in each. What an item is in a generation never changes.
    """

    key: JobKey
    generation: int  # of the delivery: what the table holds of a later one stays as it is
    rows: Sequence[Sequence[Value]]  # a value for each column of the block, in its order; there may be no row at all

    @property
    def first_item(self) -> int:
        """The ordinal of the first of its items, which follow each other."""
        return int(self.rows[0][ITEM] or 0) if self.rows else 0

    @property
    def next_item(self) -> int:
        """The ordinal behind the last of them."""
        return self.first_item + len(self.rows)


class Block(Struct, frozen=True):
    """What is written at once: each job is in it once."""

    columns: Sequence[Column]  # all of them are columns of the table
    jobs: Sequence[JobRows]  # in the order of their keys


# The columns that every table begins with; the first three tell rows of the same item from each other.
JOB_COLUMNS = (
    Column("_org_id", ColumnType.TEXT),
    Column("_job_id", ColumnType.TEXT),
    Column("_item", ColumnType.INTEGER),  # ordinal of the item in its job, from 0
    Column("_generation", ColumnType.INTEGER),  # of the delivery: 1, and one more for each redelivery
    Column("_domain", ColumnType.TEXT),
    Column("_schema_id", ColumnType.TEXT),
    Column("_data_type", ColumnType.TEXT),
    Column("_submitted_at", ColumnType.TIMESTAMP),
    Column("_extracted_at", ColumnType.TIMESTAMP),
    Column("_data", ColumnType.JSON),  # the whole item, so that nothing of it is lost where it fits no column
)


class Refusal(Exception):
    """The warehouse refuses what was asked, for a reason that only its owner can mend: credentials, rights, a quota.

    The message names what to do, and quotes no credential and no data.
    """


class Warehouse(Protocol):
    """One table of one destination. Every call raises Refusal, or DestinationDown where trying again may help."""

    async def columns(self) -> Mapping[str, ColumnType]:
        """Return the columns of the table by name; make the table, with JOB_COLUMNS, where there is none.

        A column of a type that no ColumnType stands for is left out: the writer then writes nothing to it.
        """

    async def add_columns(self, columns: Sequence[Column]) -> None:
        """Add columns that may be empty; those that are there already stay, whoever added them."""

    async def write(self, block: Block) -> Mapping[JobKey, str]:
        """Write a block; return once what was not refused is durable and can be read.

        Whatever was written before of these jobs, in blocks of other sizes and orders, with answers that were lost, by
        this process or another one: afterwards the table has the rows of the newest generation of each job, once, and
        no row of an older one.

        Returns:
            Why rows of a job were refused, by job; the other jobs are written.
        """

    async def erase(self, jobs: Sequence[JobKey]) -> None:
        """Take away all rows of jobs, of every generation, for good; those that are not there are no fault."""

    async def close(self) -> None:
        """Let go of the warehouse."""
