"""Where a table in BigQuery is, and whose key opens it."""

import re
from typing import Any, ClassVar

import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from services.writers.warehouses.checks import Check, Checks, check
from services.writers.warehouses.places import SERVER

ENDPOINT = "https://bigquery.googleapis.com"
# A project's id, with that of a domain before it where it is an old one.
PROJECT = re.compile(r"([a-z0-9.-]{1,100}:)?[a-z][a-z0-9-]{4,28}[a-z0-9]")
NAME = re.compile(r"[A-Za-z0-9_]{1,900}")  # what the names of our tables beside it are made of too: 1,024 at most
NAMED = Check(NAME.fullmatch, "letters, digits and underscores")


class BigQuerySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table, which is made where there is none; the dataset has to be there."""

    project: str
    dataset: str
    table: str
    endpoint: str = ENDPOINT  # of another cloud than Google's public one, or of a private connection to it

    checks: ClassVar[Checks] = {
        "project": Check(PROJECT.fullmatch, "the id of a project, as my-project-1"),
        "dataset": NAMED,
        "table": NAMED,
        "endpoint": SERVER,
    }

    def __post_init__(self) -> None:
        """Raise ValueError that names the field."""
        check(self)

    @property
    def place(self) -> str:
        """The name of the table, as people write it."""
        return f"{self.project}.{self.dataset}.{self.table}"


def _is_rsa_key(pem: str) -> bool:
    """Tell whether this is a good key, which costs 40 ms to look."""
    try:
        return isinstance(load_pem_private_key(pem.encode(), None), RSAPrivateKey)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return False


class ServiceAccount(msgspec.Struct, frozen=True):
    """The part of a service account's key file that a token is asked for with."""

    client_email: str
    private_key: str
    private_key_id: str = ""
    token_uri: str = "https://oauth2.googleapis.com/token"  # noqa: S105  # where tokens are given out
    type: str = "service_account"

    checks: ClassVar[Checks] = {
        "type": Check("service_account".__eq__, "service_account: give the key file of a service account"),
        "token_uri": SERVER,
        "private_key": Check(_is_rsa_key, "the PEM text of the RSA key in the key file, with its line ends"),
    }

    def __post_init__(self) -> None:
        """Raise ValueError that names the field and quotes nothing of it."""
        check(self)

    def __repr__(self) -> str:
        return f"ServiceAccount({self.client_email!r})"

    def key(self) -> RSAPrivateKey:
        """Return the key that signs."""
        key: Any = load_pem_private_key(self.private_key.encode(), None, unsafe_skip_rsa_key_validation=True)
        assert isinstance(key, RSAPrivateKey)
        return key
