"""Where a table in a customer's Postgres is, and who may write to it."""

import re
from ipaddress import ip_address
from typing import Literal

from msgspec import Struct

_HOST = re.compile(r"[A-Za-z0-9:](?:[A-Za-z0-9.:_-]{0,251}[A-Za-z0-9])?")
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,47}")  # our own names beside it are up to 15 longer, and Postgres takes 63
_KINDS = {"database": 63, "user": 63}


class PostgresSettings(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A table, which is made where there is none; database and schema have to be there."""

    host: str
    database: str
    table: str
    user: str
    port: int = 5432
    schema: str = "public"
    sslmode: Literal["disable", "prefer", "require", "verify-full"] = "require"

    def __post_init__(self) -> None:
        """Raise ValueError that names the field."""
        if not _HOST.fullmatch(self.host) or (":" in self.host and not _is_address(self.host)):
            raise ValueError("host takes one host name or address, without scheme and port")
        if not 1 <= self.port <= 65_535:
            raise ValueError("port takes a number from 1 to 65535")
        for name, longest in _KINDS.items():
            value = getattr(self, name)
            if not 1 <= len(value.encode("utf-8", "replace")) <= longest or not value.isprintable():
                raise ValueError(f"{name} takes the name of a {name}, of up to {longest} bytes")
        for name in ("schema", "table"):
            if not _NAME.fullmatch(getattr(self, name)):
                raise ValueError(f"{name} takes up to 48 lower-case letters, digits and underscores, no digit first")

    @property
    def place(self) -> str:
        """The name of the table, as people write it."""
        return f"{self.database}.{self.schema}.{self.table}"


class PostgresSecrets(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What the user identifies with."""

    password: str

    def __post_init__(self) -> None:
        """Raise ValueError that names the field and quotes nothing of it."""
        if not self.password or "\0" in self.password:
            raise ValueError("password takes a password, which is not empty")

    def __repr__(self) -> str:
        return "PostgresSecrets()"


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
