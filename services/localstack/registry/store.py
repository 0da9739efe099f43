"""The registry's state: subjects, versions and ids, folded from a file of JSON lines that is synced at every change."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas.compatibility import (
    DEFAULT_LEVEL,
    InvalidSchema,
    Level,
    incompatibilities,
    normal_form,
)

LATEST = ("latest", "-1")


class RegistryError(Exception):
    """A refusal as Confluent's registry words it; the first three digits of the code are the HTTP status."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Version:
    """One schema as one version of a subject."""

    subject: str
    version: int
    id: int
    schema: str


@dataclass(slots=True)
class Store:
    """Everything that was registered; open one with `open_store`."""

    path: Path
    schemas: dict[int, str] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)  # normal form of the schema -> id
    subjects: dict[str, list[Version]] = field(default_factory=dict)
    levels: dict[str, Level] = field(default_factory=dict)  # "" is the global one

    def level(self, subject: str) -> Level:
        """The compatibility level in force for a subject."""
        return self.levels.get(subject) or self.levels.get("") or DEFAULT_LEVEL

    def versions(self, subject: str) -> list[Version]:
        """Every version of a subject; 404 where there is none."""
        if not self.subjects.get(subject):
            raise RegistryError(40401, f"Subject '{subject}' not found.")
        return self.subjects[subject]

    def version(self, subject: str, number: str) -> Version:
        """One version by its number, or the latest."""
        versions = self.versions(subject)
        if number in LATEST:
            return versions[-1]
        for known in versions:
            if str(known.version) == number:
                return known
        raise RegistryError(40402, f"Version {number} not found.")

    def lookup(self, subject: str, text: str) -> Version:
        """The version of the subject that has exactly this schema."""
        schema_id = self.ids.get(_normal(text))
        for known in self.versions(subject):
            if known.id == schema_id:
                return known
        raise RegistryError(40403, "Schema not found")

    def refusals(self, subject: str, text: str, against: list[Version] | None = None) -> list[str]:
        """What stands against the schema as the subject's next version; or against the given versions, each one."""
        _normal(text)
        level = self.level(subject)
        if against is None:
            return incompatibilities(level, text, (known.schema for known in self.subjects.get(subject, ())))
        return [reason for known in against for reason in incompatibilities(level, text, [known.schema])]

    def register(self, subject: str, text: str) -> int:
        """Add the schema to the subject unless it is there, and return its id; 409 where it is incompatible."""
        schema_id = self.ids.get(_normal(text))
        versions = self.subjects.get(subject, [])
        if any(known.id == schema_id for known in versions) and schema_id is not None:
            return schema_id
        refusals = self.refusals(subject, text)
        if refusals:
            raise RegistryError(
                409,
                f"Schema being registered is incompatible with an earlier schema for subject "
                f'"{subject}": {"; ".join(refusals)}',
            )
        new_id = schema_id or max(self.schemas, default=0) + 1
        number = versions[-1].version + 1 if versions else 1
        self._append({"op": "register", "subject": subject, "version": number, "id": new_id, "schema": text})
        return new_id

    def delete(self, subject: str) -> list[int]:
        """Forget a subject; its schemas stay known by id."""
        numbers = [known.version for known in self.versions(subject)]
        self._append({"op": "delete", "subject": subject})
        return numbers

    def set_level(self, subject: str, level: Level) -> None:
        """Set the compatibility level of a subject, or the global one where the subject is empty."""
        self._append({"op": "level", "subject": subject, "level": level})

    def apply(self, change: dict[str, Any]) -> None:
        """Fold one line of the file."""
        subject = change["subject"]
        match change["op"]:
            case "register":
                version = Version(subject, change["version"], change["id"], change["schema"])
                self.schemas[version.id] = version.schema
                self.ids[normal_form(version.schema)] = version.id
                self.subjects.setdefault(subject, []).append(version)
            case "delete":
                self.subjects.pop(subject, None)
            case "level":
                self.levels[subject] = change["level"]
            case other:
                raise ValueError(f"{self.path}: unknown operation {other!r}; written by a newer version?")

    def _append(self, change: dict[str, Any]) -> None:
        with self.path.open("ab") as file:
            file.write(json.dumps(change, separators=(",", ":")).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.apply(change)


def open_store(path: Path) -> Store:
    """Read the file; a last line that was not finished was never answered, and is cut off."""
    store = Store(path)
    content = path.read_bytes() if path.exists() else b""
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        os.truncate(path, len(whole))
    for line in whole.splitlines():
        store.apply(json.loads(line))
    return store


def _normal(text: str) -> str:
    try:
        return normal_form(text)
    except InvalidSchema as fault:
        raise RegistryError(42201, str(fault)) from None
