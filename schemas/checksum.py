"""The checksum that the decider writes beside an event: over its place, its type, its org and its bytes (ADR 10)."""

from zlib import crc32

CHECKSUM_HEADER = "ledger-crc32"


def checksum_of(partition: int, position: int, ce_type: bytes, org_id: bytes, value: bytes) -> bytes:
    """Return the CRC-32 (as of zlib) of all this, in 8 hex digits; a line feed is behind each but the value."""
    return b"%08x" % crc32(b"%d\n%d\n%b\n%b\n%b" % (partition, position, ce_type, org_id, value))
