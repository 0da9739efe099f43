"""A Delta table as a warehouse: a block is one statement, which is committed whole or not at all."""

import asyncio
import random
import uuid
from collections.abc import Iterator, Mapping, Sequence

from yarl import URL

from services.runtime.networks import Networks
from services.writers.warehouses.databricks.execution import Execution, Rows
from services.writers.warehouses.databricks.faults import Conflict, ThereAlready
from services.writers.warehouses.databricks.settings import DatabricksSecrets, DatabricksSettings
from services.writers.warehouses.databricks.statements import Statements, column_type, jobs_text, keys_text, rows_text
from services.writers.warehouses.databricks.tokens import Tokens
from services.writers.warehouses.databricks.workspace import Workspace
from services.writers.warehouses.piecewise import DataFault, as_json, write_halving
from services.writers.warehouses.warehouse import Block, Column, ColumnType, JobKey, JobRows

STATEMENT_BYTES = 15 * 1024 * 1024  # with its parameters; a statement is at most 16 MiB
TRIES = 5  # of a statement that lost to other writers of the table
FIRST_PAUSE_SECONDS = 0.2


class DatabricksWarehouse:
    """One table."""

    def __init__(
        self,
        settings: DatabricksSettings,
        secrets: DatabricksSecrets,
        *,
        allowed: Networks = (),
        base: URL | None = None,
    ) -> None:
        self._workspace = Workspace(base or URL(f"https://{settings.host}"), allowed=allowed)
        self._execution = Execution(settings, self._workspace, Tokens(secrets, self._workspace))
        self._statements = Statements(settings)
        self._made = False

    async def columns(self) -> Mapping[str, ColumnType]:
        """Return the columns of the table; make it where there is none."""
        self._made = False
        described = await self._described()
        return {name: kind for name, kind in described.items() if kind}

    async def add_columns(self, columns: Sequence[Column]) -> None:
        """Add columns that are not there; where another writer adds the same ones, look again."""
        for _ in range(TRIES):
            there = await self._described()
            missing = [column for column in columns if column.name not in there]
            if not missing:
                return
            try:
                await self._run(self._statements.add_columns(missing))
                return
            except ThereAlready as error:
                fault = error
        raise fault

    async def write(self, block: Block) -> Mapping[JobKey, str]:
        """Write a block in one statement; in several where it is too large for one, or the data of a job is refused."""
        await self._make()
        statement = self._statements.write(block.columns)

        async def write(jobs: Sequence[JobRows]) -> None:
            rows, keys = rows_text(block.columns, jobs), jobs_text(jobs)
            if len(statement) + len(rows.encode()) + len(keys.encode()) > STATEMENT_BYTES:
                raise DataFault(_too_large(jobs))
            if without := [job for job in jobs if not job.rows]:
                await self._gone(jobs_text(without))
            await self._run(statement, {"jobs": keys, "rows": rows})

        return await write_halving(block.jobs, write)

    async def erase(self, jobs: Sequence[JobKey]) -> None:
        """Delete all rows of jobs."""
        if jobs:
            await self._make()
            await self._gone(keys_text(jobs))
            await self._run(self._statements.erase, {"jobs": keys_text(jobs)})

    async def close(self) -> None:
        """Close the connections."""
        await self._workspace.close()

    async def _gone(self, jobs: str) -> None:
        """Keep of jobs without rows which generation they are of, before their rows are deleted.

        No statement spans two tables: what is under way on the table, and may not have seen this, is made to fail.
        """
        await self._run(self._statements.add_gone, {"jobs": jobs})
        await self._run(self._statements.overtake(uuid.uuid4().hex))

    async def _described(self) -> Mapping[str, ColumnType | None]:
        await self._make()
        described: dict[str, ColumnType | None] = {}
        for name, kind, comment in await self._run(self._statements.describe):
            if not name or name.startswith("#"):
                break  # what follows is about partitions, not columns
            described[name.lower()] = column_type(kind or "", comment or "")
        return described

    async def _make(self) -> None:
        if not self._made:
            for statement in self._statements.make:
                await self._run(statement)
            self._made = True

    async def _run(self, statement: str, parameters: Mapping[str, str] | None = None) -> Rows:
        """Run a statement; again where another writer was first."""
        for pause in _pauses():
            try:
                return await self._execution.run(statement, parameters)
            except Conflict:
                await asyncio.sleep(pause)
        return await self._execution.run(statement, parameters)


def _too_large(jobs: Sequence[JobRows]) -> str:
    """Say what does not fit into one statement, which is told to nobody unless one job stands alone."""
    sizes = [len(as_json(row)) for job in jobs for row in job.rows] or [0]
    return (
        f"its items are larger than the {STATEMENT_BYTES} bytes that Databricks takes at once: the largest is item "
        f"{sizes.index(max(sizes))}, as {max(sizes)} bytes"
    )


def _pauses() -> Iterator[float]:
    """Pauses between tries, longer and longer, and not the same for two writers that met."""
    for number in range(TRIES - 1):
        yield FIRST_PAUSE_SECONDS * 2**number * random.uniform(0.5, 1.0)  # noqa: S311
