"""The stack's own secrets, made once and kept in one file that only its owner can read."""

import base64
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from services.runtime.sealing import new_key

KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Secrets:
    """Never part of `repr`, logs or the state file's printed form."""

    operator_key: str = field(repr=False)
    postgres_password: str = field(repr=False)
    signing_key: str = field(repr=False)
    credentials_key: str = field(repr=False)


def secrets_of(file: Path, environ: Mapping[str, str]) -> Secrets:
    """Read the secrets, or make them; an operator key of the environment takes the place of the kept one."""
    kept = read_secrets(file) or _made()
    current = replace(
        kept,
        operator_key=environ.get("JOBLEDGER_OPERATOR_KEY") or kept.operator_key,
        credentials_key=environ.get("JOBLEDGER_CREDENTIALS_KEY") or kept.credentials_key,
        signing_key=environ.get("JOBLEDGER_SIGNING_KEY") or kept.signing_key,
    )
    write_private(file, json.dumps(asdict(current)).encode())
    return current


def read_secrets(file: Path) -> Secrets | None:
    """Read the secrets, or return None where no stack was ever started."""
    return replace(_made(), **json.loads(file.read_text())) if file.exists() else None


def _made() -> Secrets:
    return Secrets(
        operator_key=secrets.token_urlsafe(KEY_BYTES),
        postgres_password=secrets.token_urlsafe(KEY_BYTES),
        signing_key=base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode(),
        credentials_key=new_key(),
    )


def write_private(file: Path, content: bytes) -> None:
    """Replace a file in one step, readable by its owner alone."""
    fresh = file.with_name(f"{file.name}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as output:
        output.write(content)
    fresh.replace(file)
