"""A head of a chain and its Ed25519 signature.

Whoever keeps a signed head can later show that the log held so many events of the org, ending in exactly this one.
"""

import base64
import binascii
from datetime import UTC, datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import Struct

from services.runtime.errors import SettingsError

SEED_BYTES = 32
VERSION = "jobledger head v1"


class Head(Struct, frozen=True, kw_only=True):
    """The newest event of an org in one partition. `hash` is the BLAKE2b-256 of its stored bytes, in hex."""

    ledger: str  # the topic prefix
    org_id: str  # empty: the chain of the partition itself
    partition: int
    position: int
    hash: str


class SignedHead(Head, frozen=True, kw_only=True):
    """A head, when it was signed (ISO 8601, UTC), and the signature over both, in base64."""

    signed_at: str
    signature: str


class Signer:
    """Signs heads with the Ed25519 key of a seed, 32 bytes in base64. The seed is never shown."""

    def __init__(self, seed: str) -> None:
        try:
            data = base64.b64decode(seed, validate=True)
        except binascii.Error:
            data = b""
        if len(data) != SEED_BYTES:
            raise SettingsError(
                f"JOBLEDGER_SIGNING_KEY takes {SEED_BYTES} bytes in base64: try `openssl rand -base64 {SEED_BYTES}`"
            )
        self._key = Ed25519PrivateKey.from_private_bytes(data)

    @property
    def public_key(self) -> str:
        """The key that verifies, 32 bytes in base64."""
        return base64.b64encode(self._key.public_key().public_bytes_raw()).decode()

    def sign(self, head: Head, at: datetime) -> SignedHead:
        """Sign a head at this time."""
        signed_at = at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        signature = base64.b64encode(self._key.sign(_message(head, signed_at))).decode()
        return SignedHead(
            ledger=head.ledger,
            org_id=head.org_id,
            partition=head.partition,
            position=head.position,
            hash=head.hash,
            signed_at=signed_at,
            signature=signature,
        )


class Verifier:
    """Tells signed heads from others."""

    def __init__(self, public_key: str) -> None:
        try:
            self._key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key, validate=True))
        except ValueError:
            raise SettingsError(
                "the public key takes 32 bytes in base64, as GET /api/v1/history/head tells it"
            ) from None

    def genuine(self, head: SignedHead) -> bool:
        """Whether the holder of the key signed exactly this."""
        try:
            self._key.verify(base64.b64decode(head.signature, validate=True), _message(head, head.signed_at))
        except (InvalidSignature, binascii.Error):
            return False
        return True


def _message(head: Head, signed_at: str) -> bytes:
    """Return the bytes that are signed: a line for each thing said, the org last: it may hold anything."""
    said = (VERSION, head.ledger, str(head.partition), str(head.position), head.hash, signed_at, head.org_id)
    return "\n".join(said).encode()
