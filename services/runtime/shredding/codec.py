"""Seals private bytes under the key of their job, and opens them: encoding 1, which `schemas/sealed.py` describes."""

import os
from collections.abc import Collection, Mapping
from typing import Protocol

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from schemas import sealed as reading
from schemas.private import SEALED
from schemas.sealed import NONCE_BYTES, TAG_BYTES
from schemas.sealed import JobKey as JobKey
from schemas.sealed import bound as bound
from services.runtime.errors import Unsealable

KEY_BYTES = 32
ADDED_BYTES = len(SEALED) + NONCE_BYTES + TAG_BYTES  # what sealing adds to private bytes

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
    try:
        return reading.unsealed(private, key, job)
    except reading.DoesNotOpen as error:
        raise Unsealable(str(error)) from None


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
    try:
        return reading.decrypted(data, key, bound)
    except reading.DoesNotOpen as error:
        raise Unsealable(str(error)) from None
