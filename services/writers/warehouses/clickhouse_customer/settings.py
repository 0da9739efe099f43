"""Where a table in a customer's ClickHouse is, and who may write to it."""

import re
from typing import ClassVar

import msgspec

from services.writers.warehouses.checks import Check, Checks, check
from services.writers.warehouses.places import SERVER

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
NAMED = Check(NAME.fullmatch, "a letter or underscore, then letters, digits and underscores")


class ClickHouseSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table, which is made where there is none; the database has to be there."""

    url: str  # of the HTTP interface, as https://play.example.com:8443
    database: str
    table: str
    user: str = "default"

    checks: ClassVar[Checks] = {
        "url": SERVER,
        "database": NAMED,
        "table": NAMED,
        "user": Check(lambda user: user and user.isprintable(), "the name of a user"),
    }

    def __post_init__(self) -> None:
        """Raise ValueError that names the field."""
        check(self)

    @property
    def place(self) -> str:
        """The name of the table, as people write it."""
        return f"{self.database}.{self.table}"


class ClickHousePassword(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the user identifies with."""

    password: str = ""

    checks: ClassVar[Checks] = {"password": Check(str.isprintable, "printable characters: it goes out in a header")}

    def __post_init__(self) -> None:
        """Raise ValueError that names the field and quotes nothing of it."""
        check(self)

    def __repr__(self) -> str:
        return "ClickHousePassword()"
