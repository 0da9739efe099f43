"""The blob store as snapshots meet it: blocking calls, and at times it loses or spoils what it was given."""

import hashlib
from collections.abc import Iterable, Iterator

import cramjam
import msgspec

from services.ledger.snapshot import FOLD_VERSION
from services.runtime.errors import BlobFault, BlobMissing
from services.runtime.snapshots import CHECKSUM_BYTES, END, FRAME, MAGIC, Header
from tests.simulation import fibers
from tests.simulation.chaos import Chaos
from tests.simulation.life import Life, current
from tests.simulation.stores import Blobs

CHUNK_BYTES = 200


class SnapshotStore:
    """Stands for `services.runtime.blob.BlobStore` where it blocks. A put is atomic: all of its chunks, or none."""

    def __init__(self, blobs: Blobs, chaos: Chaos) -> None:
        self._blobs, self._chaos = blobs.blobs, chaos
        self._life: Life = current()

    def put_chunks(self, key: str, chunks: Iterable[bytes]) -> None:
        """Keep a blob that is made bit by bit; killed on the way, there is none."""
        data = b""
        for chunk in chunks:
            self._life.check()
            data += chunk
            if self._chaos.random.random() < 0.1:
                self._call(key)
        self._call(key)
        if not self._chaos.strikes("snapshot_lost"):
            self._blobs[key] = self._spoilt(data)
        self._call(key)

    def chunks(self, key: str) -> Iterator[bytes]:
        """Yield a blob bit by bit."""
        self._call(key)
        if key not in self._blobs:
            raise BlobMissing(key)
        data = self._blobs[key]
        for at in range(0, len(data), CHUNK_BYTES):
            yield data[at : at + CHUNK_BYTES]

    def keys(self, prefix: str) -> list[str]:
        """Return the keys of all blobs below a prefix."""
        self._call(prefix)
        return sorted(key for key in self._blobs if key.startswith(f"{prefix}/"))

    def delete_now(self, key: str) -> None:
        """Remove a blob."""
        self._call(key)
        self._blobs.pop(key, None)

    def _call(self, key: str) -> None:
        self._life.check()
        fibers.sleep(self._chaos.latency())
        if self._chaos.strikes("blob_fault"):
            raise BlobFault(f"{key}: simulated")

    def _spoilt(self, data: bytes) -> bytes:
        random = self._chaos.random
        if self._chaos.strikes("snapshot_of_older_fold"):
            return _of_older_fold(data)
        if not self._chaos.strikes("snapshot_corrupt"):
            return data
        at = random.randrange(len(data))
        return random.choice((data[:at], data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]))


def _of_older_fold(data: bytes) -> bytes:
    """Return a whole snapshot as an older version would have made it: it says so, and lacks what came to it since."""
    header, *parts = _frames(data)
    older = msgspec.structs.replace(msgspec.msgpack.decode(header, type=Header), fold_version=FOLD_VERSION - 1)
    written = MAGIC
    for part in (msgspec.msgpack.encode(older), *parts[:-1]):
        packed = bytes(cramjam.zstd.compress(part))
        written += FRAME.pack(len(packed)) + packed
    written += END
    return written + hashlib.blake2b(written, digest_size=CHECKSUM_BYTES).digest()


def _frames(data: bytes) -> Iterator[bytes]:
    at = len(MAGIC)
    while size := FRAME.unpack(data[at : at + FRAME.size])[0]:
        at += FRAME.size
        yield bytes(cramjam.zstd.decompress(data[at : at + size]))
        at += size
