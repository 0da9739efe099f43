"""The keys of orgs that the command line registered on the local stack, in one file that only its owner can read."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from services.cli.errors import NoKey
from services.localstack.places import StackDir
from services.localstack.secret_file import write_private


@dataclass(frozen=True, slots=True)
class OrgKey:
    """An org and the key that speaks for it."""

    org_id: str
    key: str = field(repr=False)


def keep(directory: StackDir, org: OrgKey) -> None:
    """Add a key to the file; the newest is the one that speaks where no org is named."""
    keys = {kept.org_id: kept.key for kept in kept_keys(directory)}
    keys.pop(org.org_id, None)
    write_private(_file(directory), json.dumps({**keys, org.org_id: org.key}, indent=1).encode())


def kept_key(directory: StackDir, org_id: str = "") -> OrgKey:
    """Return the key of an org, of the newest one by default; NoKey where none is kept."""
    kept = kept_keys(directory)
    fitting = [org for org in kept if org_id in ("", org.org_id)]
    if fitting:
        return fitting[-1]
    if org_id and kept:
        raise NoKey(f"no key of {org_id} is kept here; there are those of {', '.join(org.org_id for org in kept)}")
    raise NoKey("no key says who calls: set JOBLEDGER_KEY, or run `jobledger demo`, which registers orgs")


def kept_keys(directory: StackDir) -> list[OrgKey]:
    """Return every key of the file, oldest first."""
    file = _file(directory)
    return [OrgKey(org_id, key) for org_id, key in json.loads(file.read_text()).items()] if file.exists() else []


def _file(directory: StackDir) -> Path:
    return directory.root / "keys.json"
