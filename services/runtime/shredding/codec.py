"""Encoding 1 of private bytes: AES-256-GCM under the key of their job.

The byte 1, a random nonce of 12 bytes, then the ciphertext of private bytes of another encoding with its tag of 16
bytes. Org and job are authenticated with it, so that no bytes pass for those of another job.
"""

import os
from collections.abc import Collection, Mapping
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from schemas.private import SEALED
from services.runtime.errors import Unsealable

KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16
ADDED_BYTES = len(SEALED) + NONCE_BYTES + TAG_BYTES  # what sealing adds to private bytes

JobKey = tuple[str, str]  # org_id, job_id
Keys = Mapping[JobKey, bytes]


class KeysOfJobs(Protocol):
    """Where the keys of jobs are; a services.runtime.shredding.store.JobKeys is one."""

    async def of(self, jobs: Collection[JobKey]) -> Mapping[JobKey, bytes]:
        """Return the keys of those of these jobs that have one; raises KeysAway."""


def is_sealed(private: bytes) -> bool:
    """Whether a key is needed to read these private bytes."""
    return private[:1] == SEALED


def sealed(private: bytes, key: bytes, job: JobKey) -> bytes:
    """Return private bytes sealed; empty ones, and those that are sealed already, as they are."""
    if not private or is_sealed(private):
        return private
    return SEALED + encrypted(private, key, bound(SEALED, job))


def unsealed(private: bytes, key: bytes, job: JobKey) -> bytes:
    """Return what was sealed; Unsealable where it was sealed for another job, under another key, or changed since."""
    if not is_sealed(private):
        raise Unsealable(f"private bytes begin with {private[:1].hex() or 'nothing'}, sealed ones with 01")
    return decrypted(private[1:], key, bound(SEALED, job))


def revealed(private: bytes, job: JobKey, keys: Keys) -> bytes:
    """Return private bytes as a reader sees them: unsealed where there is a key that opens them, else as they are."""
    key = keys.get(job) if is_sealed(private) else None
    if key is None:
        return private
    try:
        return unsealed(private, key, job)
    except Unsealable:  # not ours to refuse: the event is a fact
        return private


def encrypted(data: bytes, key: bytes, bound: bytes) -> bytes:
    """Return a fresh nonce and what AES-GCM makes of data under it."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, data, bound)


def decrypted(data: bytes, key: bytes, bound: bytes) -> bytes:
    """Return what was encrypted, or raise Unsealable."""
    if len(data) < NONCE_BYTES + TAG_BYTES:
        raise Unsealable(f"{len(data)} sealed bytes are fewer than nonce and tag take: they were cut off")
    try:
        return AESGCM(key).decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], bound)
    except (InvalidTag, ValueError):
        raise Unsealable("sealed bytes do not open: they belong to another key or job, or were changed") from None


def bound(purpose: bytes, job: JobKey) -> bytes:
    """Return what is authenticated beside the data; different arguments never give the same bytes."""
    org = job[0].encode()
    return purpose + len(org).to_bytes(4, "big") + org + job[1].encode()
