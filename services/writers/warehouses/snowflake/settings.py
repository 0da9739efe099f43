"""Where a Snowflake table is, and how its writer logs in."""

import re
from typing import ClassVar

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from msgspec import Struct

from services.writers.warehouses.checks import Check, Checks, check

# Hosts of accounts: all that a writer connects to, unless private addresses are allowed.
HOSTS = (".snowflakecomputing.com", ".snowflakecomputing.cn")
_ACCOUNT = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,120}[A-Za-z0-9])?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]{0,254}")
_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]{0,253}")
_NAMED = Check(_NAME.fullmatch, "a name of letters, digits, _ and $ that begins with a letter or _")


class SnowflakeSettings(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A table, and the warehouse that does the work; names are as Snowflake takes them without quotes, in any case."""

    account: str  # orgname-account_name, or a locator with its region
    user: str
    database: str
    schema: str
    table: str
    warehouse: str
    role: str = ""  # empty: the user's default role
    host: str = ""  # empty: <account>.snowflakecomputing.com

    checks: ClassVar[Checks] = {
        "account": Check(_ACCOUNT.fullmatch, "an account identifier such as myorg-myaccount, without host or scheme"),
        "user": Check(lambda user: 1 <= len(user) <= 255 and user.isprintable(), "the login name of a Snowflake user"),
        "database": _NAMED,
        "schema": _NAMED,
        "table": _NAMED,
        "warehouse": _NAMED,
        "role": Check(lambda role: not role or _NAMED.fine(role), _NAMED.takes),
        "host": Check(_HOST.fullmatch, "a host name, without scheme and path"),
    }

    def __post_init__(self) -> None:
        """Refuse what Snowflake could not take, and name the field."""
        check(self)

    @property
    def place(self) -> str:
        """Return the table as `database.schema.table`."""
        return f"{self.database}.{self.schema}.{self.table}".upper()

    @property
    def reached_at(self) -> str:
        """Return the host to connect to."""
        return self.host or f"{self.account}{HOSTS[0]}".replace("_", "-").lower()


class SnowflakeSecrets(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    """Exactly one way to log in: a private key (PEM), a programmatic access token, or a password."""

    private_key: str = ""
    private_key_passphrase: str = ""
    token: str = ""
    password: str = ""

    def __post_init__(self) -> None:
        """Refuse none and several of them."""
        if sum(map(bool, (self.private_key, self.token, self.password))) != 1:
            raise ValueError("give exactly one of privateKey, token and password")
        if self.private_key_passphrase and not self.private_key:
            raise ValueError("privateKeyPassphrase goes with privateKey")
        if self.private_key:
            _ = self.key

    def __repr__(self) -> str:
        return "SnowflakeSecrets(...)"

    @property
    def key(self) -> RSAPrivateKey:
        """The private key that signs logins."""
        try:
            key = load_pem_private_key(self.private_key.encode(), self.private_key_passphrase.encode() or None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise ValueError("privateKey takes an RSA key in PEM, with privateKeyPassphrase if it has one") from None
        if not isinstance(key, RSAPrivateKey):
            raise ValueError("privateKey takes an RSA key")
        return key
