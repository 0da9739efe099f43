"""What each service may do in ClickHouse, as SQL that makes a role for each.

The projection and the writer make and change their tables by themselves, at their start: they own their database.
"""

from collections.abc import Iterator, Mapping, Sequence

_OWNS = ("SELECT", "INSERT", "ALTER", "CREATE DATABASE", "CREATE TABLE", "CREATE VIEW", "DROP TABLE", "DROP VIEW")
SERVICES: Mapping[str, tuple[str, ...]] = {
    "projections-clickhouse": _OWNS,
    "writers-clickhouse": ("SELECT", "INSERT", "ALTER", "CREATE DATABASE", "CREATE TABLE"),
    "verification": ("SELECT",),
    "reports": ("SELECT",),  # Grafana, `jobledger report`, and whoever looks
}


def statements(services: Sequence[str], role: str, database: str) -> Iterator[str]:
    """Yield SQL for somebody who may manage access; safe to repeat. Users of each role are the operator's to make.

    `role` names a service's role, with {service} for the service's name, - as _.
    """
    for service in services:
        name = _quoted(role.replace("{service}", service.replace("-", "_")))
        yield f"CREATE ROLE IF NOT EXISTS {name};"
        yield f"GRANT {', '.join(SERVICES[service])} ON {_quoted(database)}.* TO {name};"


def _quoted(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"
