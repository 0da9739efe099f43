"""What each service may do in Postgres, as SQL that makes a role for each: no more than its statements use.

Services make no tables: migrations and rebuilds are run by the owner of the schemas, who also runs this.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from services.ledger.warehouses import WAREHOUSES

READ_MODEL = "{model}"  # the schema of the version that readers follow
BOOKS = "clickhouse_v1"  # of the projection into ClickHouse
Privilege = Literal["SELECT", "INSERT", "UPDATE", "DELETE"]
READS: tuple[Privilege, ...] = ("SELECT",)
WRITES: tuple[Privilege, ...] = ("SELECT", "INSERT", "UPDATE", "DELETE")


class Grant(Struct, frozen=True):
    """Privileges on tables of a schema; no tables: on all that there are, views too."""

    schema: str
    tables: tuple[str, ...]
    privileges: tuple[Privilege, ...]


def _on(place: str, *privileges: Privilege) -> Grant:
    schema, _, table = place.rpartition(".")
    return Grant(schema, (table,), privileges)


def _all(schema: str, *privileges: Privilege) -> Grant:
    return Grant(schema, (), privileges)


ACTIVE = _on("jobledger.active_version", "SELECT")
JOB_KEYS = (_on("sealing.job_keys", "SELECT"), _on("sealing.org_keys", "SELECT"))  # to open what is sealed
_WAREHOUSE = (*JOB_KEYS, _on("config.destinations", "SELECT"))
_WORKERS = (*JOB_KEYS, _on("config.provider_credentials", "SELECT"))
SERVICES: Mapping[str, tuple[Grant, ...]] = {
    "decider": (
        ACTIVE,
        *(
            _on(f"{READ_MODEL}.{table}", "SELECT")
            for table in (
                "checkpoints",
                "jobs",
                "job_transitions",
                "job_trace",
                "extraction_deliveries",
                "deleted_jobs",
            )
        ),
    ),
    "workers": _WORKERS,
    "workers-module": (
        *_WORKERS,
        ACTIVE,
        _on(f"{READ_MODEL}.jobs", "SELECT"),
        _on(f"{READ_MODEL}.item_chunks", "SELECT"),
    ),
    "workers-spider": (*_WORKERS, _on("config.spider_projects", "SELECT")),
    "writers": (
        *JOB_KEYS,
        _on("extraction.stored_results", "SELECT", "INSERT", "UPDATE"),
        _on("webhooks.attempts", "SELECT", "DELETE"),  # of a job that is erased
    ),
    "writers-webhook": (
        *JOB_KEYS,
        ACTIVE,
        _on(f"{READ_MODEL}.checkpoints", "SELECT"),
        _on("config.webhooks", "SELECT"),
        _on("config.webhook_secrets", "SELECT"),
        _on("extraction.stored_results", "SELECT"),
        _on("webhooks.attempts", "SELECT", "INSERT", "DELETE"),
        _on("webhooks.throttles", *WRITES),
    ),
    "writers-clickhouse": JOB_KEYS,
    **{f"writers-{kind.replace('_', '-')}": _WAREHOUSE for kind in WAREHOUSES},
    "projections": (
        ACTIVE,
        _all(READ_MODEL, *WRITES),
        _on("sealing.org_keys", "SELECT"),
        _on("sealing.job_keys", "SELECT", "DELETE"),
        _on("config.webhooks", "SELECT", "UPDATE"),
    ),
    "projections-clickhouse": (
        _on(f"{BOOKS}.checkpoints", "SELECT", "INSERT", "UPDATE"),
        _on(f"{BOOKS}.planned", "SELECT", "INSERT", "DELETE"),
    ),
    "scheduler": (
        ACTIVE,
        _on(f"{READ_MODEL}.checkpoints", "SELECT"),
        _on(f"{READ_MODEL}.jobs", "SELECT"),
        _on(f"{READ_MODEL}.deleted_jobs", "SELECT"),
        *(
            _on(f"config.{table}", "SELECT")
            for table in (
                "orgs",
                "workflows",
                "workflow_routes",
                "destinations",
                "webhooks",
                "spider_projects",
                "spider_deploys",
            )
        ),
        _on("config.schedules", "SELECT", "UPDATE"),
        _on("sealing.orgs", "SELECT"),
        _on("sealing.org_keys", "SELECT"),
        _on("sealing.job_keys", *WRITES),
    ),
    "api": (
        ACTIVE,
        _all(READ_MODEL, *READS),
        _all("config", *WRITES),
        _all("sealing", *WRITES),
        _on("extraction.extraction_results", "SELECT"),
        _on("extraction.stored_results", "SELECT"),  # whether one was erased
        _on("webhooks.attempts", "SELECT", "DELETE"),
        _on("webhooks.throttles", "SELECT"),
    ),
    "verification": (
        ACTIVE,
        _all(READ_MODEL, *READS),
        *JOB_KEYS,
        _on("extraction.extraction_results", "SELECT"),
        _on(f"{BOOKS}.checkpoints", "SELECT"),
    ),
    "projections-heads": (),
    "snapshotter": (),
}
TEMPORARY_TABLES = ("projections",)  # which stages what changes in one
SEQUENCES = {"api": ("config.destination_versions", "config.schedules_number_seq")}


def statements(services: Sequence[str], role: str) -> Iterator[str]:
    """Yield SQL, to be run in the database of the ledger by its owner; safe to repeat, after each migration.

    `role` names a service's role, with {service} for the service's name, - as _.
    """
    for service in services:
        yield from _of(service, role.replace("{service}", service.replace("-", "_")))


def _of(service: str, role: str) -> Iterator[str]:
    name = _quoted(role)
    yield f"-- {service}"
    yield (
        f"DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {_text(role)}) "
        f"THEN CREATE ROLE {name} LOGIN; END IF; END $$;"
    )
    if service in TEMPORARY_TABLES:
        yield _executed(f"GRANT TEMPORARY ON DATABASE %I TO {name}", "current_database()")
    grants = SERVICES[service]
    for schema in dict.fromkeys(grant.schema for grant in grants):
        yield _in(schema, f"GRANT USAGE ON SCHEMA {schema} TO {name}")
    for grant in grants:
        privileges = ", ".join(grant.privileges)
        where = ", ".join(f"{grant.schema}.{table}" for table in grant.tables)
        yield _in(grant.schema, f"GRANT {privileges} ON {where or f'ALL TABLES IN SCHEMA {grant.schema}'} TO {name}")
    for sequence in SEQUENCES.get(service, ()):
        yield f"GRANT USAGE ON SEQUENCE {sequence} TO {name};"


def _in(schema: str, statement: str) -> str:
    """Return a statement as it is, or what runs it on the version of the read model that is active."""
    if schema != READ_MODEL:
        return f"{statement};"
    active = "(SELECT schema_name FROM jobledger.active_version WHERE read_model = 'postgres')"
    return _executed(statement.replace(READ_MODEL, "%1$I"), active)


def _executed(statement: str, argument: str) -> str:
    return f"DO $$ BEGIN EXECUTE format({_text(statement)}, {argument}); END $$;"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
