"""Snapshots of partitions in the blob store: written whole, checked whole, the newest few kept.

A snapshot is a magic, then frames (length in 4 bytes, zstd), the first of which is the header and the others the parts
of the state (services/ledger/snapshot.py), then an empty frame and the BLAKE2b-256 of everything before it.

RuntimeFault
└── UnusableSnapshot   this snapshot cannot be begun with; `reason` says why, in one word
"""

import hashlib
import struct
from collections.abc import Iterable, Iterator
from itertools import chain

import cramjam
import msgspec

from services.ledger.policy import Policy
from services.ledger.snapshot import FOLD_VERSION, Rebuild, parts_of
from services.ledger.state import Ledger
from services.runtime.blob import BlobStore
from services.runtime.errors import BlobFault, RuntimeFault
from services.runtime.settings import Settings

MAGIC = b"JLSNAP01"  # its last two digits are the version of the format
FRAME = struct.Struct(">I")
END = FRAME.pack(0)
CHECKSUM_BYTES = 32
FORGETTING = ("idempotency_lifetime", "fire_lifetime")
KEPT = 3
ZSTD_LEVEL = 1


class UnusableSnapshot(RuntimeFault):
    """This snapshot cannot be begun with."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason


class Header(msgspec.Struct, frozen=True):
    """What a snapshot is of; the hash lets a restore see that the log still has the event that it ends with."""

    fold_version: int
    policy: bytes  # digest of the settings that say for how long something is remembered
    partition: int
    position: int
    event_offset: int  # of the last event folded; the next one comes after it
    event_hash: bytes
    next_command: int  # offset of the next command to decide
    jobs: int
    orgs: int


def header_of(ledger: Ledger, event_offset: int, event_hash: bytes) -> Header:
    """Return the header of a state that ends with this event."""
    return Header(
        FOLD_VERSION,
        digest_of_policy(ledger.policy),
        ledger.partition,
        ledger.position,
        event_offset,
        event_hash,
        ledger.cause + 1,
        len(ledger.jobs),
        len(ledger.orgs),
    )


def digest_of_policy(policy: Policy) -> bytes:
    """Return what tells apart settings by which a fold forgets: what is forgotten cannot be had from a snapshot.

    Waits that are dated by a setting are dated anew, and no fold depends on any other.
    """
    limits = [(name, getattr(policy, name)) for name in FORGETTING]
    return hashlib.blake2b(msgspec.json.encode(limits), digest_size=16).digest()


class Snapshots:
    """The snapshots of one ledger. Its calls block."""

    def __init__(self, settings: Settings) -> None:
        self._blobs = BlobStore(settings.blobs)
        self._root = f"snapshots/{settings.topic_prefix}"

    def newest_first(self, partition: int) -> list[str]:
        """Return the keys of a partition's snapshots."""
        return self._blobs.keys(self._prefix(partition))[::-1]

    def save(self, ledger: Ledger, header: Header) -> str:
        """Write a snapshot, and delete the oldest ones; return its key. The ledger must not change meanwhile.

        What claims to be newer than this one stays, and does not count: it may be of another log.
        """
        key = f"{self._prefix(ledger.partition)}/{header.position:020}"
        self._blobs.put_chunks(key, _written(header, parts_of(ledger)))
        for old in [each for each in self.newest_first(ledger.partition) if each <= key][KEPT:]:
            self._blobs.delete_now(old)
        return key

    def load(self, key: str, partition: int, policy: Policy, end_offset: int) -> tuple[Ledger, Header]:
        """Return the state in a snapshot, or raise UnusableSnapshot.

        `end_offset` is where the log ends: what lies behind it is no snapshot of this log.
        """
        try:
            return _read(self._blobs.chunks(key), partition, policy, end_offset)
        except BlobFault as error:
            raise UnusableSnapshot("unreadable", str(error)) from error
        except (msgspec.MsgspecError, cramjam.DecompressionError, KeyError, IndexError, ValueError, TypeError) as error:
            raise UnusableSnapshot("corrupt", f"{type(error).__name__}") from error

    def _prefix(self, partition: int) -> str:
        return f"{self._root}/{partition:05}"


def _written(header: Header, parts: Iterable[bytes]) -> Iterator[bytes]:
    digest = hashlib.blake2b(MAGIC, digest_size=CHECKSUM_BYTES)
    yield MAGIC
    for frame in (_frame(part) for part in chain([msgspec.msgpack.encode(header)], parts)):
        digest.update(frame)
        yield frame
    digest.update(END)
    yield END + digest.digest()


def _frame(part: bytes) -> bytes:
    packed = bytes(cramjam.zstd.compress(part, level=ZSTD_LEVEL))
    return FRAME.pack(len(packed)) + packed


class _Checked:
    """Reads a blob bit by bit, and hashes what it hands out."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._buffer = bytearray()
        self.digest = hashlib.blake2b(digest_size=CHECKSUM_BYTES)

    def take(self, size: int) -> bytes:
        """Return the next bytes, or raise UnusableSnapshot where there are fewer."""
        while len(self._buffer) < size:
            chunk = next(self._chunks, None)
            if chunk is None:
                raise UnusableSnapshot("truncated", f"{size - len(self._buffer)} more bytes were to come")
            self._buffer += chunk
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        self.digest.update(taken)
        return taken

    def frames(self) -> Iterator[bytes]:
        """Yield the frames up to the end of the last one."""
        while size := FRAME.unpack(self.take(FRAME.size))[0]:
            yield bytes(cramjam.zstd.decompress(self.take(size)))


def _read(chunks: Iterator[bytes], partition: int, policy: Policy, end_offset: int) -> tuple[Ledger, Header]:
    source = _Checked(chunks)
    if source.take(len(MAGIC)) != MAGIC:
        raise UnusableSnapshot("other_format", f"it does not begin with {MAGIC!r}")
    frames = source.frames()
    header = msgspec.msgpack.decode(next(frames, b""), type=Header)
    _check(header, partition, policy, end_offset)
    rebuild = Rebuild(partition, policy)
    for part in frames:
        rebuild.add(part)
    expected = source.digest.digest()
    if source.take(CHECKSUM_BYTES) != expected:
        raise UnusableSnapshot("corrupt", "its bytes are not those that were written")
    return rebuild.ledger, header


def _check(header: Header, partition: int, policy: Policy, end_offset: int) -> None:
    if header.fold_version != FOLD_VERSION:
        raise UnusableSnapshot("other_fold", f"fold version {header.fold_version}, this is {FOLD_VERSION}")
    if header.policy != digest_of_policy(policy):
        raise UnusableSnapshot("other_policy", "it was made with another lifetime of idempotency keys")
    if header.partition != partition:
        raise UnusableSnapshot("other_partition", f"it is of partition {header.partition}")
    if header.event_offset >= end_offset:
        raise UnusableSnapshot("beyond_the_log", f"offset {header.event_offset}, the log ends at {end_offset}")
