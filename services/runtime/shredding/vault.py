"""Makes and opens keys: a job's is sealed under its org's, an org's under JOBLEDGER_CREDENTIALS_KEY. No I/O."""

import hashlib
import hmac
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from services.runtime.errors import KeysAway, Unsealable
from services.runtime.kept_secrets import Owner, opened_for
from services.runtime.sealing import Sealer
from services.runtime.shredding.codec import KEY_BYTES, JobKey, bound, decrypted, encrypted

KNOWN_ORG_KEYS = 1_000
JOB_KEY = b"job key"  # what is sealed, beside private bytes
NO_KEY = "the keys of jobs are sealed, and this process has no JOBLEDGER_CREDENTIALS_KEY to open them with"
KeyRow = tuple[str, str, int, bytes, bytes]  # org_id, job_id, key_id, sealed key of the job, sealed key of the org


class _OrgKey(msgspec.Struct, frozen=True):
    """What an org key is sealed as: with its name inside, so that no row can pass for another."""

    org_id: str
    key_id: int
    key: bytes


@dataclass(frozen=True, slots=True)
class OrgKey:
    """A key that the keys of an org's jobs are sealed under."""

    org_id: str
    key_id: int
    key: bytes = field(repr=False)

    def digest_key(self) -> bytes:
        """Return what digests of an org's requests are made with, so that nobody confirms a guess by them."""
        return hmac.digest(self.key, b"request digest", hashlib.sha256)

    def sealed_job_key(self, job: JobKey, key: bytes) -> bytes:
        """Return the key of a job as it is kept."""
        return encrypted(key, self.key, bound(JOB_KEY, job))

    def job_key(self, job: JobKey, sealed: bytes) -> bytes:
        """Return the key of a job, or raise Unsealable."""
        return decrypted(sealed, self.key, bound(JOB_KEY, job))


class Vault:
    """Opens what one process reads of keys; `keys` are those of the setting, empty: it opens nothing."""

    def __init__(self, keys: str) -> None:
        self._sealer = Sealer(keys) if keys else None
        self._known: dict[bytes, OrgKey] = {}

    def __bool__(self) -> bool:
        return self._sealer is not None

    def new_org_key(self, org_id: str, key_id: int) -> bytes:
        """Make a key of an org and return it as it is kept."""
        return self._opens().seal(msgspec.msgpack.encode(_OrgKey(org_id, key_id, os.urandom(KEY_BYTES))))

    def org_key(self, org_id: str, key_id: int, sealed: bytes) -> OrgKey:
        """Open the key of an org. KeysAway: this process has no key for it; Unsealable: nor has the setting."""
        known = self._known.get(sealed)
        if known is None:
            kept = msgspec.msgpack.decode(self._opens().open(sealed), type=_OrgKey)
            known = OrgKey(kept.org_id, kept.key_id, kept.key)
            if len(self._known) >= KNOWN_ORG_KEYS:
                self._known.clear()
            self._known[sealed] = known
        if (known.org_id, known.key_id) != (org_id, key_id):
            raise Unsealable("the key was made for another org: its row was changed")
        return known

    def secret(self, owner: Owner, sealed: bytes) -> dict[str, Any]:
        """Open what is secret of something else, or raise Unsealable."""
        return opened_for(self._sealer, owner, sealed)

    def opened(self, rows: Iterable[KeyRow]) -> dict[JobKey, bytes]:
        """Return the keys of jobs; one that its org's key does not open is as good as destroyed."""
        return dict(self._opened(rows))

    def _opened(self, rows: Iterable[KeyRow]) -> Iterator[tuple[JobKey, bytes]]:
        for org_id, job_id, key_id, sealed, org_sealed in rows:
            org_key = self.org_key(org_id, key_id, bytes(org_sealed))
            try:
                yield (org_id, job_id), org_key.job_key((org_id, job_id), bytes(sealed))
            except Unsealable:
                continue

    def _opens(self) -> Sealer:
        if self._sealer is None:
            raise KeysAway(NO_KEY)
        return self._sealer


def new_job_key() -> bytes:
    """Make the key of a job."""
    return os.urandom(KEY_BYTES)


def new_key_id() -> int:
    """Return the number of a new key of an org: never that of one which was destroyed, and which somebody holds yet."""
    return 1 + int.from_bytes(os.urandom(4)) % (2**31 - 1)
