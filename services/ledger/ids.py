"""UUIDs of version 7 that what they are of determines, so that the same decision gives the same ids."""

import hashlib


def determined_id(at: int, seed: bytes) -> bytes:
    """Return a UUIDv7 of a time (microseconds UTC) and of what makes it one of its kind."""
    tail = hashlib.blake2b(seed, digest_size=10).digest()
    marks = bytes((0x70 | tail[0] & 0x0F, tail[1], 0x80 | tail[2] & 0x3F))  # version and variant
    return (at // 1000).to_bytes(6, "big") + marks + tail[3:]


def shown_id(raw: bytes) -> str:
    """Return a UUID as people write it."""
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
