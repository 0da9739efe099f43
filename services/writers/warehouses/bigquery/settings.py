"""Where a table in BigQuery is, and whose key opens it."""

import re
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from services.writers.warehouses.places import checked_url

ENDPOINT = "https://bigquery.googleapis.com"
# A project's id, with that of a domain before it where it is an old one.
PROJECT = re.compile(r"([a-z0-9.-]{1,100}:)?[a-z][a-z0-9-]{4,28}[a-z0-9]")
NAME = re.compile(r"[A-Za-z0-9_]{1,900}")  # what the names of our tables beside it are made of too: 1,024 at most
CHECKS = {
    "project": (PROJECT, "takes the id of a project, as my-project-1"),
    "dataset": (NAME, "takes letters, digits and underscores"),
    "table": (NAME, "takes letters, digits and underscores"),
}


class BigQuerySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table, which is made where there is none; the dataset has to be there."""

    project: str
    dataset: str
    table: str
    endpoint: str = ENDPOINT  # of another cloud than Google's public one, or of a private connection to it

    def __post_init__(self) -> None:
        """Raise ValueError that names the field."""
        for field, (pattern, takes) in CHECKS.items():
            if not pattern.fullmatch(getattr(self, field)):
                raise ValueError(f"{field} {takes}")
        checked_url("endpoint", self.endpoint)

    @property
    def place(self) -> str:
        """The name of the table, as people write it."""
        return f"{self.project}.{self.dataset}.{self.table}"


class ServiceAccount(msgspec.Struct, frozen=True):
    """The part of a service account's key file that a token is asked for with."""

    client_email: str
    private_key: str
    private_key_id: str = ""
    token_uri: str = "https://oauth2.googleapis.com/token"  # noqa: S105  # where tokens are given out
    type: str = "service_account"

    def __post_init__(self) -> None:
        """Raise ValueError that names the field and quotes nothing of it."""
        if self.type != "service_account":
            raise ValueError("type takes service_account: give the key file of a service account")
        checked_url("token_uri", self.token_uri)
        self.key(checked=True)

    def __repr__(self) -> str:
        return f"ServiceAccount({self.client_email!r})"

    def key(self, *, checked: bool = False) -> RSAPrivateKey:
        """Return the key that signs; whether it is a good one costs 40 ms to look."""
        try:
            key: Any = load_pem_private_key(self.private_key.encode(), None, unsafe_skip_rsa_key_validation=not checked)
        except (ValueError, TypeError):
            raise ValueError("private_key takes the PEM text of the key file, with its line ends") from None
        if not isinstance(key, RSAPrivateKey):
            raise ValueError("private_key takes an RSA key")
        return key
