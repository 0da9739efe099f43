"""Opens private bytes of encoding 1: AES-256-GCM under the key of their job.

The byte 1, a nonce of 12 bytes, then the ciphertext of private bytes of another encoding with its tag of 16 bytes. Org
and job are authenticated with it, so that no bytes pass for those of another job.
"""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from schemas.private import SEALED

NONCE_BYTES = 12
TAG_BYTES = 16

JobKey = tuple[str, str]  # org_id, job_id


class DoesNotOpen(Exception):
    """No key opens what was sealed, or it is not what it should be."""


def unsealed(private: bytes, key: bytes, job: JobKey) -> bytes:
    """Return what was sealed; DoesNotOpen where it is for another job, under another key, or was changed since."""
    if private[:1] != SEALED:
        raise DoesNotOpen(f"private bytes begin with {private[:1].hex() or 'nothing'}, sealed ones with 01")
    return decrypted(private[1:], key, bound(SEALED, job))


def decrypted(data: bytes, key: bytes, bound: bytes) -> bytes:
    """Return what was encrypted: a nonce, then what AES-GCM made of it; or raise DoesNotOpen."""
    if len(data) < NONCE_BYTES + TAG_BYTES:
        raise DoesNotOpen(f"{len(data)} sealed bytes are fewer than nonce and tag take: they were cut off")
    try:
        return AESGCM(key).decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], bound)
    except (InvalidTag, ValueError):
        raise DoesNotOpen("sealed bytes do not open: they belong to another key or job, or were changed") from None


def bound(purpose: bytes, job: JobKey) -> bytes:
    """Return what is authenticated beside the data; different arguments never give the same bytes."""
    org = job[0].encode()
    return purpose + len(org).to_bytes(4, "big") + org + job[1].encode()
