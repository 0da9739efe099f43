"""The tables of a destination in BigQuery: what their columns are, and how they are made and grow."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from services.writers.warehouses.bigquery.rest import CONFLICT, NOT_FOUND, Rest
from services.writers.warehouses.bigquery.settings import BigQuerySettings
from services.writers.warehouses.calls import Answer
from services.writers.warehouses.warehouse import JOB_COLUMNS, Column, ColumnType, Refusal
from services.writers.writer import DestinationDown

TYPES = {
    ColumnType.TEXT: "STRING",
    ColumnType.INTEGER: "INT64",
    ColumnType.NUMBER: "FLOAT64",
    ColumnType.BOOLEAN: "BOOL",
    ColumnType.TIMESTAMP: "TIMESTAMP",
    ColumnType.JSON: "JSON",
}
# The API answers with the names of legacy SQL.
KNOWN = {name: kind for kind, name in TYPES.items()} | {
    "INTEGER": ColumnType.INTEGER,
    "FLOAT": ColumnType.NUMBER,
    "BOOLEAN": ColumnType.BOOLEAN,
}
# What BigQuery keeps for itself, in any case of letters.
RESERVED = ("_table_", "_file_", "_partition", "_row_timestamp", "__root__", "_colidentifier", "_change_")
KEPT_COLUMNS = [column for column in JOB_COLUMNS if column.name in ("_org_id", "_job_id", "_generation")]
CLUSTERED_BY = ["_org_id", "_job_id"]  # statements name jobs, and then read only the blocks that may have them
STAGED_SECONDS = 3600.0  # that a staging table lives where nobody takes it away
TRIES = 5  # to add columns while somebody else changes the table


class TableInfo(msgspec.Struct, frozen=True):
    """What BigQuery tells of a table."""

    schema: dict[str, Any] = {}
    etag: str = ""
    location: str = ""
    creationTime: str = ""  # noqa: N815  # as the API spells it

    @property
    def fields(self) -> list[dict[str, Any]]:
        """The columns as the API writes them."""
        return list(self.schema.get("fields", []))


class Tables:
    """Makes and changes tables of one dataset. Every call raises DestinationDown and Refusal."""

    def __init__(self, rest: Rest, settings: BigQuerySettings) -> None:
        self._rest = rest
        self._settings = settings
        self._path = f"bigquery/v2/projects/{settings.project}/datasets/{settings.dataset}/tables"

    def reference(self, table: str) -> dict[str, str]:
        """Name a table in a call."""
        return {"projectId": self._settings.project, "datasetId": self._settings.dataset, "tableId": table}

    def quoted(self, table: str) -> str:
        """Name a table in a statement."""
        return f"`{self._settings.project}`.`{self._settings.dataset}`.`{table}`"

    async def found(self, table: str) -> TableInfo | None:
        """Return what there is of a table."""
        answer = await self._rest.ask("GET", f"{self._path}/{table}")
        return None if answer.status == NOT_FOUND else _info(answer)

    async def made(self, table: str, columns: Sequence[Column]) -> TableInfo:
        """Return a table, made with these columns where there is none."""
        for _ in range(TRIES):
            found = await self.found(table) or await self._inserted(
                {
                    "tableReference": self.reference(table),
                    "schema": {"fields": fields_of(columns)},
                    "clustering": {"fields": CLUSTERED_BY},
                }
            )
            if found:
                return found
        raise DestinationDown("BigQuery has a table and does not find it")

    async def stage(self, table: str, columns: Sequence[Column]) -> None:
        """Make a table that goes away by itself."""
        until = round((time.time() + STAGED_SECONDS) * 1000)
        await self._inserted(
            {
                "tableReference": self.reference(table),
                "schema": {"fields": staged_fields_of(columns)},
                "expirationTime": str(until),
            }
        )

    async def dropped(self, table: str) -> None:
        """Take a table away; one that is not there is no fault."""
        await self._rest.ask("DELETE", f"{self._path}/{table}")

    async def grown(self, table: str, columns: Sequence[Column]) -> TableInfo:
        """Add columns to a table as it is at that moment, and return what it is then; those that it has stay."""
        for _ in range(TRIES):
            found = await self.found(table)
            if found is None:
                raise DestinationDown("the table is gone")
            there = {str(field["name"]).lower() for field in found.fields}
            new = [each for each in columns if each.name not in there and not each.name.startswith(RESERVED)]
            if not new:
                return found
            grown = {"schema": {"fields": [*found.fields, *fields_of(new)]}}
            answer = await self._rest.ask("PATCH", f"{self._path}/{table}", grown, {"If-Match": found.etag})
            if answer.status < 300:
                return _info(answer)
        raise DestinationDown("the table is changed by somebody else all the time")

    async def _inserted(self, table: Mapping[str, Any]) -> TableInfo | None:
        answer = await self._rest.ask("POST", self._path, table)
        if answer.status == NOT_FOUND:
            raise Refusal(
                f"BigQuery has no dataset {self._settings.project}.{self._settings.dataset}: make it, or correct "
                "project and dataset of the destination"
            )
        return None if answer.status == CONFLICT else _info(answer)


def columns_of(info: TableInfo) -> dict[str, ColumnType]:
    """Return the columns that something can be written to; names differ by more than their case."""
    return {
        str(field["name"]).lower(): KNOWN[field["type"]]
        for field in info.fields
        if field["type"] in KNOWN and field.get("mode") != "REPEATED"
    }


def fields_of(columns: Sequence[Column]) -> list[dict[str, str]]:
    """Write columns as the API does."""
    return [{"name": each.name, "type": TYPES[each.type], "mode": "NULLABLE"} for each in columns]


def staged_fields_of(columns: Sequence[Column]) -> list[dict[str, str]]:
    """The same of a staging table, where JSON is still the text that it is parsed from."""
    texts = [Column(each.name, ColumnType.TEXT) if each.type is ColumnType.JSON else each for each in columns]
    return fields_of(texts)


def _info(answer: Answer) -> TableInfo:
    try:
        return msgspec.json.decode(answer.body, type=TableInfo)
    except msgspec.DecodeError as error:
        raise DestinationDown(f"BigQuery answered {answer.status} with no table") from error
