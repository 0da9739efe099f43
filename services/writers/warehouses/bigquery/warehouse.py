"""One table in BigQuery: rows are loaded into a table of their own, and from there replaced in one transaction.

Load jobs into a table may be 1,500 a day; into a staging table of each block they are as many as the project has
(100,000), and statements that change rows are not counted. Rows that were loaded can be changed at once: only rows that
were streamed cannot.
"""

import hashlib
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

from services.runtime.networks import Networks
from services.writers.warehouses.bigquery import statements
from services.writers.warehouses.bigquery.jobs import JobFailed, Jobs, JobSpent
from services.writers.warehouses.bigquery.rest import Rest
from services.writers.warehouses.bigquery.rows import JobLines, body_of, jobs_at, lines_of, names_of
from services.writers.warehouses.bigquery.settings import BigQuerySettings, ServiceAccount
from services.writers.warehouses.bigquery.tables import KEPT_COLUMNS, TableInfo, Tables, columns_of, staged_fields_of
from services.writers.warehouses.bigquery.tokens import Tokens
from services.writers.warehouses.calls import Calls
from services.writers.warehouses.piecewise import DataFault, write_halving
from services.writers.warehouses.warehouse import JOB_COLUMNS, Block, Column, ColumnType, JobKey, Refusal

KEPT = "__generations"  # behind the name of the table: which generation is kept of each job
STAGED = "__staged_"


class BigQueryWarehouse:
    """Implements Warehouse."""

    def __init__(self, settings: BigQuerySettings, account: ServiceAccount, *, allowed: Networks) -> None:
        calls = Calls(allowed=allowed)
        self._table = settings.table
        self._rest = Rest(settings.endpoint, Tokens(account, calls), calls)
        self._tables = Tables(self._rest, settings)
        self._jobs = Jobs(self._rest, settings.project)
        self._made = TableInfo()
        self._rounds: defaultdict[str, int] = defaultdict(int)  # tries that used up their names, by block

    async def close(self) -> None:
        """Close the connections."""
        await self._rest.close()

    async def columns(self) -> Mapping[str, ColumnType]:
        """Make the tables where they are missing, and return the columns of the one that people read."""
        self._made = await self._tables.made(self._table, JOB_COLUMNS)
        self._jobs.location = self._made.location
        await self._tables.made(self._table + KEPT, KEPT_COLUMNS)
        found = columns_of(self._made)
        if missing := [column for column in JOB_COLUMNS if column.name not in found]:
            await self.add_columns(missing)
        return columns_of(self._made)

    async def add_columns(self, columns: Sequence[Column]) -> None:
        """Add what is missing; names that BigQuery keeps for itself are left out."""
        self._made = await self._tables.grown(self._table, columns)

    async def write(self, block: Block) -> Mapping[JobKey, str]:
        """Write a block; where rows of jobs are refused, the others once more."""
        await self._ready(block.columns)
        held = columns_of(self._made)
        columns = [Column(each.name, held.get(each.name, each.type)) for each in block.columns]
        lines, refused = lines_of(columns, block.jobs)
        return refused | await write_halving(lines, partial(self._stored, columns))

    async def erase(self, jobs: Sequence[JobKey]) -> None:
        """Take jobs away."""
        await self._ready()
        by_org: defaultdict[str, list[str]] = defaultdict(list)
        for key in jobs:
            by_org[key.org_id].append(key.job_id)
        statement = statements.erase(self._tables.quoted(self._table), self._tables.quoted(self._table + KEPT))
        for org_id, job_ids in by_org.items():
            parameters = {"org_id": org_id, "job_ids": sorted(set(job_ids))}
            try:
                await self._jobs.run(f"jobledger_erase_{uuid.uuid4().hex}", statement, parameters)
            except JobFailed as failed:
                raise Refusal(f"BigQuery refuses to erase rows ({failed})") from failed

    async def _ready(self, columns: Sequence[Column] = ()) -> None:
        """Look at the tables where nobody has yet, or they are others than they were; an owner may drop them."""
        if not self._made.creationTime:
            found = await self.columns()
            if missing := [column for column in columns if column.name not in found]:
                await self.add_columns(missing)

    async def _stored(self, columns: Sequence[Column], jobs: Sequence[JobLines]) -> None:
        """Load jobs and bring them into the table, under names that follow from what they are; DataFault: nothing."""
        body = body_of(jobs)
        digest = self._digest(columns, body)
        name = f"{digest}_{self._rounds[digest]}"
        staged = f"{self._table}{STAGED}{name}"
        written = statements.write(
            self._tables.quoted(self._table),
            self._tables.quoted(self._table + KEPT),
            self._tables.quoted(staged),
            columns,
            len(jobs),
        )
        fields = staged_fields_of(columns)
        try:
            await self._tables.stage(staged, columns)
            await self._jobs.load(f"jobledger_load_{name}", self._tables.reference(staged), fields, body)
            await self._jobs.run(f"jobledger_write_{name}", written, {"job_ids": [job.key.job_id for job in jobs]})
        except JobSpent:
            self._rounds[digest] += 1
            self._made = TableInfo()
            raise
        except JobFailed as failed:
            await self._tables.dropped(staged)
            named = jobs_at((fault.message for fault in failed.faults), jobs)
            raise DataFault(f"BigQuery refuses a row ({failed})", named) from failed
        self._rounds.pop(digest, None)
        await self._tables.dropped(staged)

    def _digest(self, columns: Sequence[Column], body: bytes) -> str:
        """Name what is written, and the table that it is written to: one that was made anew takes it again."""
        place = f"{self._tables.quoted(self._table)}\0{self._made.creationTime}\0{names_of(columns)}\0"
        return hashlib.blake2b(place.encode() + body, digest_size=16).hexdigest()
