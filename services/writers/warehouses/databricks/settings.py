"""Where a Databricks table is, and how its writer logs in."""

import re
from typing import ClassVar

from msgspec import Struct

from services.writers.warehouses.checks import Check, Checks, check

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_WAREHOUSE = re.compile(r"[A-Za-z0-9]{1,64}")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,254}")
_NAMED = Check(_NAME.fullmatch, "a name of letters, digits, _ and -")


class DatabricksSettings(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A table, and the SQL warehouse that does the work."""

    host: str  # of the workspace, such as dbc-a1b2345c-d6e7.cloud.databricks.com
    warehouse_id: str
    catalog: str
    schema: str
    table: str

    checks: ClassVar[Checks] = {
        "host": Check(_HOST.fullmatch, "the host name of a workspace, without scheme, port and path"),
        "warehouse_id": Check(_WAREHOUSE.fullmatch, "the id of a SQL warehouse, of letters and digits"),
        "catalog": _NAMED,
        "schema": _NAMED,
        "table": _NAMED,
    }

    def __post_init__(self) -> None:
        """Refuse what Databricks could not take, and name the field."""
        check(self)

    @property
    def place(self) -> str:
        """Return the table as `catalog.schema.table`."""
        return f"{self.catalog}.{self.schema}.{self.table}".lower()


class DatabricksSecrets(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    """A personal access token, or the OAuth client of a service principal."""

    token: str = ""
    client_id: str = ""
    client_secret: str = ""

    def __post_init__(self) -> None:
        """Refuse none, both, and halves."""
        if bool(self.client_id) != bool(self.client_secret):
            raise ValueError("clientId and clientSecret go together")
        if bool(self.token) == bool(self.client_id):
            raise ValueError("give either token, or clientId and clientSecret")
        said = self.token + self.client_id + self.client_secret
        if not said.isascii() or not said.isprintable():
            raise ValueError("token, clientId and clientSecret are printable ASCII: they go out in headers")

    def __repr__(self) -> str:
        return "DatabricksSecrets(...)"
