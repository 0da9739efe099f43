"""ClickHouse over HTTP: clients of one database, and the migrations of its tables."""

import re
import ssl
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qs, urlsplit, urlunsplit

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from services.runtime.errors import MigrationFault, SettingsError
from services.runtime.migrations import not_applied, read_migrations

CONNECT_SECONDS = 5
DATABASE = re.compile(r"[A-Za-z0-9_-]+")
ANSWER_SECONDS = 60  # for one statement
BETWEEN_STATEMENTS = ";\n"  # ClickHouse takes one statement a request
APPLIED = (
    "CREATE TABLE IF NOT EXISTS {table} (name String, checksum String, applied_at DateTime DEFAULT now()) "
    "ENGINE = ReplacingMergeTree ORDER BY name"
)
FIND_APPLIED = "SELECT name, checksum FROM {table} FINAL"


def connect(url: str, answer_seconds: int = ANSWER_SECONDS) -> Client:
    """Return a client of the database that a URL names, made there if it is missing. Without sessions: any thread.

    `answer_seconds` are for one statement: the server may say nothing for so long.
    """
    parts = urlsplit(url)
    database = parts.path.strip("/") or "default"
    if parts.scheme not in ("http", "https") or not parts.hostname or not DATABASE.fullmatch(database):
        raise SettingsError(
            "JOBLEDGER_CLICKHOUSE takes http(s)://[user:password@]host:port/database, of letters, digits, _ and -"
        )
    client = clickhouse_connect.get_client(
        dsn=urlunsplit(parts._replace(path="")),
        autogenerate_session_id=False,
        connect_timeout=CONNECT_SECONDS,
        send_receive_timeout=answer_seconds,
    )
    try:
        if not client.command(f"EXISTS DATABASE {quoted(database)}"):  # who only reads may not even ask to make it
            client.command(f"CREATE DATABASE IF NOT EXISTS {quoted(database)}")
    except BaseException:
        client.close()
        raise
    client.database = database
    return client


def tls_of(url: str) -> ssl.SSLContext | bool:
    """Return how to check the certificate of a server: by the authority that a URL names (`ca_cert`), or as usual."""
    [authority, *_] = parse_qs(urlsplit(url).query).get("ca_cert", [""])
    return ssl.create_default_context(cafile=authority) if authority else True


def quoted(database: str) -> str:
    """Return the name of a database as it stands in a statement."""
    return f"`{database}`"


def migrate(url: str, directory: Path, applied_in: str, statement_seconds: int) -> list[str]:
    """Apply the files that are not in the table `applied_in` of a database yet, and return their names.

    ClickHouse has no transactions: every statement of a file has to be safe to repeat, and processes that apply at once
    do the same thing twice. Raises MigrationFault as migrations of Postgres do.
    """
    with closing(connect(url, statement_seconds)) as client:
        return _migrate(client, directory, applied_in)


def _migrate(client: Client, directory: Path, applied_in: str) -> list[str]:
    client.command(APPLIED.format(table=applied_in))
    applied = dict(map(tuple, client.query(FIND_APPLIED.format(table=applied_in)).result_rows))
    new = not_applied(read_migrations(directory), applied)
    for migration in new:
        for statement in filter(str.strip, migration.text.split(BETWEEN_STATEMENTS)):
            try:
                client.command(statement)
            except ClickHouseError as error:
                raise MigrationFault(
                    f"{migration.name} failed, and is applied again at the next start: {error}"
                ) from error
        client.insert(applied_in, [(migration.name, migration.checksum)], column_names=["name", "checksum"])
    return [migration.name for migration in new]
