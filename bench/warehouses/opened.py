"""Servers that writers are measured against, and tables on them. Played ones run in a process of their own."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from psycopg.conninfo import conninfo_to_dict
from yarl import URL

from services.localstack.places import StackDir
from services.localstack.stack import Stack
from services.localstack.supervisor import prepare_ledger
from services.runtime.networks import LOCAL
from services.runtime.settings import Settings, settings_from
from services.writers.warehouses.bigquery.settings import ServiceAccount
from services.writers.warehouses.bigquery.warehouse import BigQueryWarehouse
from services.writers.warehouses.clickhouse_customer.settings import ClickHousePassword, ClickHouseSettings
from services.writers.warehouses.clickhouse_customer.warehouse import ClickHouseWarehouse
from services.writers.warehouses.customer_postgres.settings import PostgresSecrets, PostgresSettings
from services.writers.warehouses.customer_postgres.warehouse import PostgresWarehouse
from services.writers.warehouses.databricks.settings import DatabricksSecrets, DatabricksSettings
from services.writers.warehouses.databricks.warehouse import DatabricksWarehouse
from services.writers.warehouses.kinds import KINDS
from services.writers.warehouses.snowflake.session import Session
from services.writers.warehouses.snowflake.settings import SnowflakeSecrets, SnowflakeSettings
from services.writers.warehouses.snowflake.warehouse import SnowflakeWarehouse
from services.writers.warehouses.warehouse import Warehouse

PLAYED = ("-P", "-m", "bench.warehouses.played")


@dataclass(frozen=True, slots=True)
class Servers:
    """Where everything is."""

    settings: Settings
    played: dict[str, Any]  # what the process says in which the played ones run

    @property
    def postgres(self) -> str:
        """The DSN of our Postgres."""
        return self.settings.postgres

    @property
    def clickhouse(self) -> str:
        """The URL of a database of our ClickHouse."""
        return self.settings.clickhouse

    @property
    def sink(self) -> str:
        """A URL that takes everything."""
        return str(self.played["sink"])


@contextmanager
def servers(environ: dict[str, str]) -> Iterator[Servers]:
    """Start broker, stores and what is played."""
    with ExitStack() as held:
        directory = StackDir(Path(held.enter_context(tempfile.TemporaryDirectory(prefix="jobledger-bench-"))))
        stack = Stack(directory, {**environ, "JOBLEDGER_STACK_DIR": str(directory.root)})
        held.callback(stack.stop)
        stack.start()
        prepare_ledger(stack.environ)
        played = held.enter_context(subprocess.Popen((sys.executable, *PLAYED), stdout=subprocess.PIPE))
        held.callback(played.terminate)
        assert played.stdout
        yield Servers(settings_from(stack.environ), json.loads(played.stdout.readline()))


def opened(kind: str, where: Servers, table: str) -> Warehouse:
    """Return a table of a kind."""
    match kind:
        case "customer_postgres":
            secrets = PostgresSecrets(str(conninfo_to_dict(where.postgres)["password"]))
            return PostgresWarehouse(postgres_settings(where, table), secrets, allowed=LOCAL)
        case "customer_clickhouse":
            url = URL(where.clickhouse)
            settings = ClickHouseSettings(str(url.origin()), url.path.strip("/"), table)
            return ClickHouseWarehouse(settings, ClickHousePassword(), allowed=LOCAL)
        case "bigquery":
            given = KINDS[kind].read_settings({**where.played["bigquery"], "table": table})
            account = msgspec.convert(where.played["keyFile"], ServiceAccount)
            return BigQueryWarehouse(given, account, allowed=LOCAL)
        case "snowflake":
            account_settings, session = snowflake_session(where, table)
            return SnowflakeWarehouse(account_settings, session, allowed=LOCAL)
        case _:
            lake = msgspec.convert({**where.played["databricks"], "table": table}, DatabricksSettings)
            secrets_of = DatabricksSecrets(token=where.played["token"])
            return DatabricksWarehouse(lake, secrets_of, allowed=LOCAL, base=URL(where.played["workspace"]))


def postgres_settings(where: Servers, table: str) -> PostgresSettings:
    """Return where a table in our Postgres is."""
    given = conninfo_to_dict(where.postgres)
    return PostgresSettings(
        host=str(given["host"]),
        port=int(str(given["port"])),
        database=str(given["dbname"]),
        user=str(given["user"]),
        table=table,
        sslmode="disable",
    )


def snowflake_session(where: Servers, table: str) -> tuple[SnowflakeSettings, Session]:
    """Return a session with the Snowflake that is played."""
    settings = msgspec.convert({**where.played["snowflake"], "table": table}, SnowflakeSettings)
    secrets = SnowflakeSecrets(password=where.played["password"])
    return settings, Session(settings, secrets, protocol="http", port=where.played["snowflakePort"])
