"""Where a table in a customer's ClickHouse is, and who may write to it."""

import re

import msgspec

from services.writers.warehouses.places import checked_url

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


class ClickHouseSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table, which is made where there is none; the database has to be there."""

    url: str  # of the HTTP interface, as https://play.example.com:8443
    database: str
    table: str
    user: str = "default"

    def __post_init__(self) -> None:
        """Raise ValueError that names the field."""
        checked_url("url", self.url)
        for field in ("database", "table"):
            if not NAME.fullmatch(getattr(self, field)):
                raise ValueError(f"{field} takes a letter or underscore, then letters, digits and underscores")
        if not self.user or not self.user.isprintable():
            raise ValueError("user takes the name of a user")

    @property
    def place(self) -> str:
        """The name of the table, as people write it."""
        return f"{self.database}.{self.table}"


class ClickHousePassword(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the user identifies with."""

    password: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError that names the field and quotes nothing of it."""
        if not self.password.isprintable():
            raise ValueError("password takes printable characters: it goes out in a header")

    def __repr__(self) -> str:
        return "ClickHousePassword()"
