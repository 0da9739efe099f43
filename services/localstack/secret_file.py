"""The stack's own secrets, made once and kept in one file that only its owner can read."""

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Secrets:
    """Never part of `repr`, logs or the state file's printed form."""

    operator_key: str = field(repr=False)
    postgres_password: str = field(repr=False)


def secrets_of(file: Path, environ: Mapping[str, str]) -> Secrets:
    """Read the secrets, or make them; an operator key of the environment takes the place of the kept one."""
    kept = read_secrets(file) or Secrets(secrets.token_urlsafe(KEY_BYTES), secrets.token_urlsafe(KEY_BYTES))
    current = Secrets(environ.get("JOBLEDGER_OPERATOR_KEY") or kept.operator_key, kept.postgres_password)
    write_private(file, json.dumps(asdict(current)).encode())
    return current


def read_secrets(file: Path) -> Secrets | None:
    """Read the secrets, or return None where no stack was ever started."""
    return Secrets(**json.loads(file.read_text())) if file.exists() else None


def write_private(file: Path, content: bytes) -> None:
    """Replace a file in one step, readable by its owner alone."""
    fresh = file.with_name(f"{file.name}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as output:
        output.write(content)
    fresh.replace(file)
