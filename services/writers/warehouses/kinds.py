"""Kinds of warehouses: what a destination of each is set up with, and how its table is opened.

Settings and secrets are looked at without the driver of the kind, which is imported when a table is opened.

SettingsFault      settings or secrets are not what the kind takes
DriverMissing      the process has not the extra that the kind needs
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Protocol

import msgspec

from services.runtime.networks import Networks
from services.runtime.settings import Settings
from services.writers.warehouses.bigquery.settings import BigQuerySettings, ServiceAccount
from services.writers.warehouses.clickhouse_customer.settings import ClickHousePassword, ClickHouseSettings
from services.writers.warehouses.customer_postgres.settings import PostgresSecrets, PostgresSettings
from services.writers.warehouses.databricks.settings import DatabricksSecrets, DatabricksSettings
from services.writers.warehouses.snowflake.settings import SnowflakeSecrets, SnowflakeSettings
from services.writers.warehouses.warehouse import Warehouse

MIB = 1024 * 1024


class WarehouseSettings(Protocol):
    """Where a table is: a frozen struct whose `checks` say what its fields take; what it raises begins with a name."""

    @property
    def place(self) -> str:
        """The name of the table, as people write it: `db.schema.table`."""


class SettingsFault(ValueError):
    """Settings or secrets are not what the kind takes; the message quotes no value."""

    def __init__(self, field: str, message: str, shape: type[Any]) -> None:
        super().__init__(message)
        self.field = field  # as callers write it: `settings.table`
        self.shape = shape  # what was expected


class DriverMissing(Exception):
    """The process has not the extra that the kind needs; the message says which."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a table is opened with."""

    settings: Any  # of its kind
    secrets: Any = field(repr=False)  # of its kind
    allowed: Networks = ()  # that it may be in although they are not public


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind; `opened` is `module:callable`, which makes a Warehouse of settings, secrets and `allowed`."""

    name: str
    title: str
    settings: type[WarehouseSettings]
    secrets: type[Any]
    opened: str
    extra: str = ""  # of the package, with the driver
    max_jobs: int = 500  # of one block
    max_rows: int = 10_000
    max_bytes: int = 16 * MIB  # of the items of one block, as JSON; a job that is larger is a block of its own
    max_row_bytes: int = 16 * MIB  # of one item
    blocks_an_hour: int = 0  # for each destination; 0: no bound
    seconds: float = 0.5  # that rows wait for others
    write_seconds: float = 120.0  # until one call of the warehouse is given up

    def within(self, settings: Settings) -> "Kind":
        """Return the kind as the operator bounds it: what the warehouse takes is never exceeded."""
        return replace(
            self,
            max_jobs=_least(self.max_jobs, settings.warehouse_block_jobs),
            max_rows=_least(self.max_rows, settings.warehouse_block_rows),
            max_bytes=_least(self.max_bytes, settings.warehouse_block_bytes),
            blocks_an_hour=_least(self.blocks_an_hour, settings.warehouse_blocks_an_hour),
            seconds=settings.warehouse_block_seconds or self.seconds,
        )

    def read_settings(self, given: Mapping[str, Any]) -> Any:
        """Return settings, or raise SettingsFault."""
        return _read(given, self.settings, "settings")

    def read_secrets(self, given: Mapping[str, Any]) -> Any:
        """Return secrets, or raise SettingsFault."""
        return _read(given, self.secrets, "secrets")

    def open(self, opening: Opening) -> Warehouse:
        """Return a table; nobody is called yet."""
        module, _, name = self.opened.partition(":")
        try:
            make: Callable[..., Warehouse] = getattr(import_module(module), name)
        except ImportError as error:
            extra = f"install jobledger[{self.extra}]" if self.extra else "install its driver"
            raise DriverMissing(f"the writer of {self.name} cannot run here: {extra}") from error
        return make(opening.settings, opening.secrets, allowed=opening.allowed)


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            name="customer_postgres",
            title="PostgreSQL",
            settings=PostgresSettings,
            secrets=PostgresSecrets,
            opened="services.writers.warehouses.customer_postgres.warehouse:PostgresWarehouse",
        ),
        Kind(
            name="customer_clickhouse",
            title="ClickHouse",
            settings=ClickHouseSettings,
            secrets=ClickHousePassword,
            opened="services.writers.warehouses.clickhouse_customer.warehouse:ClickHouseWarehouse",
            blocks_an_hour=3600,  # one insert a second, whatever its size is: merges have to keep up
        ),
        Kind(
            name="bigquery",
            title="BigQuery",
            settings=BigQuerySettings,
            secrets=ServiceAccount,
            opened="services.writers.warehouses.bigquery.warehouse:BigQueryWarehouse",
            blocks_an_hour=1000,  # each is a load job, of which a project has 100,000 a day, for all of its tables
            seconds=5.0,  # a block is two jobs of BigQuery: they take seconds, and are paid by what they read
            write_seconds=600.0,
        ),
        Kind(
            name="snowflake",
            title="Snowflake",
            settings=SnowflakeSettings,
            secrets=SnowflakeSecrets,
            opened="services.writers.warehouses.snowflake.warehouse:opened",
            extra="snowflake",
            max_row_bytes=8 * MIB,  # a VARCHAR, which it is bound as, takes 16 MiB, in which it is escaped
            seconds=2.0,
            write_seconds=300.0,
        ),
        Kind(
            name="databricks",
            title="Databricks",
            settings=DatabricksSettings,
            secrets=DatabricksSecrets,
            opened="services.writers.warehouses.databricks.warehouse:DatabricksWarehouse",
            max_bytes=8 * MIB,  # a statement takes 16 MiB, in which they are escaped
            max_row_bytes=8 * MIB,
            seconds=2.0,
            write_seconds=900.0,
        ),
    )
}


def _least(ours: int, given: int) -> int:
    """Return the smaller of two bounds, where 0 is none."""
    return min(ours, given) if ours and given else ours or given


def place_of(kind: str, settings: Mapping[str, Any]) -> str:
    """Return the name of the table of a destination; empty for what has no table of its own, or wrong settings."""
    known = KINDS.get(kind)
    try:
        return known.read_settings(settings).place if known else ""
    except SettingsFault:
        return ""


def _read(given: Mapping[str, Any], shape: type[Any], what: str) -> Any:
    fields = {each.encode_name for each in msgspec.structs.fields(shape)}
    try:
        return msgspec.convert(given, shape)
    except msgspec.ValidationError as error:
        message = str(error)
        said, _, at = message.partition(" - at `")
        name = at.removeprefix("$.").partition("`")[0].partition(".")[0]
        if name not in fields:  # a field that is missing, unknown, or that the struct itself speaks of
            name = next((each for each in _words(said) if each in fields or each in given), "")
        raise SettingsFault(f"{what}.{name}" if name else what, said, shape) from None


def _words(text: str) -> list[str]:
    return [each.strip("`'\",.:") for each in text.split()]
