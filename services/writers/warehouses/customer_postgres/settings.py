"""Where a table in a customer's Postgres is, and who may write to it."""

import re
from ipaddress import ip_address
from typing import ClassVar, Literal

from msgspec import Struct

from services.writers.warehouses.checks import Check, Checks, check

_HOST = re.compile(r"[A-Za-z0-9:](?:[A-Za-z0-9.:_-]{0,251}[A-Za-z0-9])?")
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,47}")  # our own names beside it are up to 15 longer, and Postgres takes 63
_LONGEST = 63  # bytes of any other name
_NAMED = Check(_NAME.fullmatch, "up to 48 lower-case letters, digits and underscores, no digit first")


def _is_host(host: str) -> bool:
    return bool(_HOST.fullmatch(host)) and (":" not in host or _is_address(host))


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_name(name: str) -> bool:
    return 1 <= len(name.encode("utf-8", "replace")) <= _LONGEST and name.isprintable()


class PostgresSettings(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A table, which is made where there is none; database and schema have to be there."""

    host: str
    database: str
    table: str
    user: str
    port: int = 5432
    schema: str = "public"
    sslmode: Literal["disable", "prefer", "require", "verify-full"] = "require"

    checks: ClassVar[Checks] = {
        "host": Check(_is_host, "one host name or address, without scheme and port"),
        "port": Check(range(1, 65_536).__contains__, "a number from 1 to 65535"),
        "database": Check(_is_name, f"the name of a database, of up to {_LONGEST} bytes"),
        "user": Check(_is_name, f"the name of a user, of up to {_LONGEST} bytes"),
        "schema": _NAMED,
        "table": _NAMED,
    }

    def __post_init__(self) -> None:
        """Raise ValueError that names the field."""
        check(self)

    @property
    def place(self) -> str:
        """The name of the table, as people write it."""
        return f"{self.database}.{self.schema}.{self.table}"


class PostgresSecrets(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What the user identifies with."""

    password: str

    checks: ClassVar[Checks] = {
        "password": Check(lambda password: password and "\0" not in password, "a password, which is not empty")
    }

    def __post_init__(self) -> None:
        """Raise ValueError that names the field and quotes nothing of it."""
        check(self)

    def __repr__(self) -> str:
        return "PostgresSecrets()"
