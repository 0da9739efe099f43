"""Each role of `jobledger roles postgres` may run its service's statements, and nothing it grants is left unused.

Postgres asks for rights before it explains a statement: so every statement of a service is explained under its role.
Rights are then taken away one by one, and each time some statement is refused.
"""

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.errors import InsufficientPrivilege, UndefinedTable

from projections.migrate import MIGRATIONS
from projections.rebuild.versions import Versions
from services.cli.postgres_roles import BOOKS, READ_MODEL, SERVICES, Grant, statements
from services.runtime.migrations import apply
from services.runtime.settings import Settings
from services.runtime.sql import blocks

ROOT = Path(__file__).parents[3]
PLACEHOLDER = re.compile(r"%(\(\w+\))?[sb](?!\w)")
KEYS = "services/runtime/shredding/queries.sql"
CONFIG = "api/config/queries.sql"
OPENING = {KEYS: ("keys_of_jobs",)}
ASKING_WHICH = {"services/decider/archive.sql": ("active_schema",)}
STORE = "projections/postgres/store.sql"
COPIED = ("jobs", "job_transitions", "job_trace", "schedule_fires", "item_chunks", "job_logs", "credit_transactions")
FORMATTED = {"{columns}": "*", "{whose}": "vocabulary = 'module'", "{schema}": "clickhouse_v1", "{table}": "jobs"}
# Of each service: files with the names of statements; none named: all of the file.
STATEMENTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "decider": {"services/decider/archive.sql": ()},
    "workers": {"services/workers/credentials.sql": ("credential",), **OPENING},
    "workers-spider": {"services/workers/credentials.sql": (), **OPENING},
    "workers-module": {
        "services/workers/credentials.sql": ("credential",),
        "services/workers/modules/stored.sql": (),
        **OPENING,
    },
    "writers": {
        **OPENING,
        "services/writers/postgres/upsert.sql": (),
        "services/writers/postgres/erase.sql": (),
        "services/writers/webhook/attempts.sql": ("shut", "erase"),
    },
    "writers-webhook": {
        **OPENING,
        **ASKING_WHICH,
        "services/writers/webhook/attempts.sql": (),
        "services/writers/webhook/endpoints.sql": (),
        "projections/checkpoints.sql": ("active_schema",),
        "services/decider/archive.sql": ("active_schema", "positions"),
    },
    "writers-clickhouse": OPENING,
    "writers-customer-postgres": {**OPENING, "services/writers/warehouses/stored.sql": ()},
    "projections": {
        STORE: (),
        KEYS: ("keys_of_jobs", "destroy"),
        "projections/postgres/endpoints.sql": (),
    },
    "projections-clickhouse": {"projections/clickhouse/bookkeeping.sql": ()},
    "scheduler": {
        **ASKING_WHICH,
        "services/scheduler/retained.sql": ("past_retention",),
        "services/scheduler/leftover_archives.sql": (),
        "services/scheduler/leftover_bodies.sql": (),
        "services/scheduler/leftover_keys.sql": (),
        CONFIG: (
            "now",
            "due_schedules",
            "overdue_schedules",
            "advance_schedule",
            "runnable",
            "routed",
            "only_published",
            "destinations_of_org",
            "webhooks_of_org",
            "project",
            "deploy",
            "newest_deploy",
            "enabled_destinations_of_project",
        ),
        KEYS: ("keys_of_jobs", "newest_org_key", "save_job_keys", "touch", "destroy", "sealing_orgs"),
    },
    "api": {
        CONFIG: (),
        KEYS: (),
        **ASKING_WHICH,
        "projections/postgres/item_reading.sql": (),
        "projections/postgres/read.sql": ("extraction", "expired_at"),  # its others are of the read model alone
    },
    "verification": {
        "projections/verification/verify.sql": (),
        "projections/checkpoints.sql": ("active_schema", "positions"),
        **OPENING,
    },
}


@dataclass(frozen=True, slots=True)
class Database:
    """A ledger's database with the roles in it, and a session of its owner."""

    connection: psycopg.Connection
    role: str
    model: str

    def role_of(self, service: str) -> str:
        """Return the name of a service's role."""
        return self.role.replace("{service}", service.replace("-", "_"))

    def refused(self, service: str) -> list[str]:
        """Return the statements of a service that its role may not run, with what Postgres says."""
        found = []
        for name, statement in every_statement(service):
            try:
                with self.connection.transaction(force_rollback=True):
                    schema = BOOKS if service == "projections-clickhouse" else self.model
                    path = sql.SQL("SET LOCAL search_path TO {}, pg_temp").format(sql.Identifier(schema))
                    self.connection.execute(path)
                    self.connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(self.role_of(service))))
                    if service == "projections":
                        self.connection.execute(STAGING.encode())
                    self.connection.execute(statement.encode())
            except (InsufficientPrivilege, UndefinedTable) as refused:  # the latter: a schema that may not be used
                found.append(f"{name}: {refused.diag.message_primary}")
        return found


STAGING = blocks(ROOT / STORE)["make_staging"]


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    """A fresh database with roles of its own; roles belong to the server, so they are dropped in the end."""
    role = f"t{uuid.uuid4().hex[:8]}_{{service}}"
    with psycopg.connect(settings.postgres, autocommit=True) as connection:
        run(connection, role)
        found = connection.execute("SELECT schema_name FROM jobledger.active_version").fetchone()
        assert found
        database = Database(connection, role, found[0])
        try:
            yield database
        finally:
            for service in SERVICES:
                name = sql.Identifier(database.role_of(service))
                connection.execute(sql.SQL("DROP OWNED BY {}; DROP ROLE {}").format(name, name))


def run(connection: psycopg.Connection, role: str) -> None:
    """Run what the command prints."""
    connection.execute("\n".join(statements(list(SERVICES), role)).encode())


def every_statement(service: str) -> Iterator[tuple[str, str]]:
    """Yield each statement of a service so that it can be explained: without its values."""
    for file, names in STATEMENTS[service].items():
        found = blocks(ROOT / file) or {"whole": without_notes(ROOT / file)}
        for name in names or found:
            if found[name] == STAGING:
                continue
            text = PLACEHOLDER.sub("NULL", found[name])
            for placeholder, value in FORMATTED.items():
                text = text.replace(placeholder, value)
            yield f"{file}: {name}", f"EXPLAIN {text}"
    if service == "projections":
        for table in COPIED:
            yield f"copy into {table}", f"EXPLAIN INSERT INTO {table} DEFAULT VALUES"


def without_notes(file: Path) -> str:
    """Return the one statement of a file."""
    return "\n".join(line for line in file.read_text("utf-8").splitlines() if not line.startswith("--"))


def test_each_role_may_run_what_its_service_runs(database: Database) -> None:
    assert {service: database.refused(service) for service in STATEMENTS} == {service: [] for service in STATEMENTS}


def test_making_the_roles_again_is_fine(database: Database) -> None:
    run(database.connection, database.role)


def test_a_version_that_is_built_anew_has_the_rights_of_the_one_it_replaces(
    database: Database, settings: Settings
) -> None:
    apply(settings.postgres, "ledger_v2", MIGRATIONS)
    rebuilt = replace(database, model="ledger_v2")
    assert rebuilt.refused("api") != []
    Versions(database.connection).give_rights(database.model, "ledger_v2")
    for service in ("decider", "projections", "api", "verification"):
        assert rebuilt.refused(service) == []


@pytest.mark.parametrize("service", sorted(STATEMENTS))
def test_without_one_of_its_rights_some_statement_is_refused(database: Database, service: str) -> None:
    kept = [
        f"{privilege} on {grant.schema}.{', '.join(grant.tables) or '*'}"
        for grant in SERVICES[service]
        for privilege in grant.privileges
        if not _missed(database, service, grant, privilege)
    ]
    assert kept == []


def _missed(database: Database, service: str, grant: Grant, privilege: str) -> bool:
    schema = sql.Identifier(database.model if grant.schema == READ_MODEL else grant.schema)
    places = sql.SQL(", ").join(sql.SQL("{}.{}").format(schema, sql.Identifier(table)) for table in grant.tables)
    where = places if grant.tables else sql.SQL("ALL TABLES IN SCHEMA {}").format(schema)
    with database.connection.transaction(force_rollback=True):
        database.connection.execute(
            sql.SQL("REVOKE {} ON {} FROM {}").format(
                sql.SQL(privilege),
                where,
                sql.Identifier(database.role_of(service)),
            )
        )
        return bool(database.refused(service))


def test_no_service_but_the_api_reads_what_customers_log_in_with(database: Database) -> None:
    for service in SERVICES:
        for table in ("config.api_keys", "config.provider_credentials", "config.webhook_secrets"):
            asked = database.connection.execute(
                "SELECT has_table_privilege(%s, %s, 'SELECT')", (database.role_of(service), table)
            ).fetchone()
            allowed = {
                "config.api_keys": {"api"},
                "config.provider_credentials": {"api", "workers", "workers-module", "workers-spider"},
                "config.webhook_secrets": {"api", "writers-webhook"},
            }[table]
            assert asked == (service in allowed,), (service, table)


def test_no_service_may_make_tables_or_change_them(database: Database) -> None:
    for service in SERVICES:
        for schema in (database.model, "config", "extraction", "sealing", "webhooks", "public"):
            asked = database.connection.execute(
                "SELECT has_schema_privilege(%s, %s, 'CREATE')", (database.role_of(service), schema)
            ).fetchone()
            assert asked == (False,), (service, schema)
