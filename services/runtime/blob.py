"""Bodies too large for events, in a directory or an object store, under keys that never leave it."""

import asyncio
import hashlib
import os
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, from_url

from services.runtime.errors import BlobFault, BlobMissing
from services.runtime.settings import blob_directory

CHUNK_BYTES = 1024 * 1024
READS_AT_ONCE = 16  # of an object store, by one call
READ_BY_A_THREAD = 64  # blobs of a directory
SEGMENT = r"[A-Za-z0-9_~\-][A-Za-z0-9_~.\-]*"
KEY = re.compile(rf"{SEGMENT}(/{SEGMENT})*")
UNESCAPED = re.compile(r"(?:~[0-9a-f]{2})+")
KEY_PARTS = 4  # of a blob of a job: org, job, attempt, name
JobKey = tuple[str, str]  # org_id, job_id
DIGEST_BYTES = 4  # keys are in the memory of the decider: enough for an accident, or for who edits by hand
DIGEST = re.compile(rf"\.([0-9a-f]{{{2 * DIGEST_BYTES}}})(?:\.json)?$")
ESCAPED = re.compile(r"[^A-Za-z0-9_.\-]|^\.")


def blob_key(org_id: str, job_id: str, attempt: int, name: str) -> str:
    """Return the key of a blob of one attempt of a job; different arguments never give the same key."""
    return "/".join((_segment(org_id), _segment(job_id), str(attempt), _segment(name)))


def body_key(org_id: str, job_id: str, attempt: int, name: str, data: bytes) -> str:
    """Return a key that says what its blob holds, by a digest: before the suffix of the name, if it has one."""
    stem, dot, suffix = name.partition(".")
    return blob_key(org_id, job_id, attempt, f"{stem}.{_digest(data)}{dot}{suffix}")


def is_as_written(key: str, data: bytes) -> bool:
    """Whether a blob holds what its key says; of a key without a digest nobody can tell."""
    found = DIGEST.search(key)
    return found is None or found[1] == _digest(data)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()


class BlobStore:
    """Puts and gets whole blobs. `url`: file:///directory, s3://bucket/prefix, gs://..., az://... or memory:///.

    A put is atomic: readers see the old blob, none, or the new one. When it returns, the blob is durable: object
    stores promise that themselves; in a directory obstore writes aside and renames but does not call fsync
    (0.12, seen by strace), so that is done here, for the file and for each directory down to it.
    """

    def __init__(self, url: str) -> None:
        self._directory = blob_directory(url)
        if self._directory:
            self._store = LocalStore(prefix=self._directory, mkdir=True)
        else:
            self._store = from_url(url)  # type: ignore[assignment]

    async def put(self, key: str, data: bytes) -> None:
        """Return when the blob is durable, whether or not there was one under this key.

        Cancelled, it ends when the blob is there or is not: what is on its way cannot be called back, and whoever says
        afterwards that nothing goes on any more has to be right.
        """
        _check(key)
        putting = asyncio.ensure_future(self._put(key, data))
        try:
            await asyncio.shield(putting)
        except asyncio.CancelledError:
            await asyncio.wait({putting})
            if not putting.cancelled():
                putting.exception()  # nobody asks any more
            raise

    async def _put(self, key: str, data: bytes) -> None:
        try:
            if self._directory:  # by one thread from beginning to end: two hops would cost more than the writing
                await asyncio.to_thread(self._put_into, self._directory, key, data)
            else:
                await obstore.put_async(self._store, key, data)
        except (BaseError, OSError) as error:
            raise BlobFault(f"blob {key} not written: {error}") from error

    def _put_into(self, directory: Path, key: str, data: bytes) -> None:
        obstore.put(self._store, key, data)
        _make_durable(directory, key)

    async def get(self, key: str) -> bytes:
        """Return the blob, or raise BlobMissing."""
        _check(key)
        with _reading(key):
            answer = await obstore.get_async(self._store, key)
            return bytes(await answer.bytes_async())

    async def first(self, key: str, length: int) -> bytes:
        """Return so many bytes at the beginning of a blob that has them, or raise BlobMissing."""
        _check(key)
        with _reading(key):
            return bytes(await obstore.get_range_async(self._store, key, start=0, length=length)) if length else b""

    async def last(self, key: str, length: int) -> bytes:
        """Return so many bytes at the end of a blob that has them, or raise BlobMissing."""
        _check(key)
        with _reading(key):
            if not length:
                return b""
            answer = await obstore.get_async(self._store, key, options={"range": {"suffix": length}})
            return bytes(await answer.bytes_async())

    async def get_each(self, keys: Sequence[str]) -> list[bytes | Exception]:
        """Return blobs in the order of their keys; where there is none what `get` raises of it: BlobFault, ValueError.

        Out of a directory a thread reads many, one by one: asking for each from the loop takes four times the CPU.
        """
        if self._directory:
            parts = [keys[start : start + READ_BY_A_THREAD] for start in range(0, len(keys), READ_BY_A_THREAD)]
            read = await asyncio.gather(*(asyncio.to_thread(self._read_each, part) for part in parts))
            return [each for part in read for each in part]
        places = asyncio.Semaphore(READS_AT_ONCE)

        async def read_one(key: str) -> bytes | Exception:
            async with places:
                try:
                    return await self.get(key)
                except (BlobFault, ValueError) as error:
                    return error

        return await asyncio.gather(*map(read_one, keys))

    def _read_each(self, keys: Sequence[str]) -> list[bytes | Exception]:
        found: list[bytes | Exception] = []
        for key in keys:
            try:
                _check(key)
                with _reading(key):
                    found.append(bytes(obstore.get(self._store, key).bytes()))
            except (BlobFault, ValueError) as error:
                found.append(error)
        return found

    def put_chunks(self, key: str, chunks: Iterable[bytes]) -> None:
        """Do as `put` does for a blob that is made bit by bit; blocks."""
        _check(key)
        try:
            obstore.put(self._store, key, iter(chunks), use_multipart=True, max_concurrency=1)
            if self._directory:
                _make_durable(self._directory, key)
        except (BaseError, OSError) as error:
            raise BlobFault(f"blob {key} not written: {error}") from error

    def chunks(self, key: str) -> Iterator[bytes]:
        """Yield a blob bit by bit, or raise BlobMissing; blocks."""
        _check(key)
        try:
            for chunk in obstore.get(self._store, key).stream(min_chunk_size=CHUNK_BYTES):
                yield bytes(chunk)
        except FileNotFoundError:
            raise BlobMissing(f"no blob has the key {key}: it was deleted meanwhile") from None
        except (BaseError, OSError) as error:
            raise BlobFault(f"blob {key} not read: {error}") from error

    def delete_now(self, key: str) -> None:
        """Do as `delete` does; blocks."""
        _check(key)
        try:
            obstore.delete(self._store, key)
        except FileNotFoundError:
            return
        except (BaseError, OSError) as error:
            raise BlobFault(f"blob {key} not deleted: {error}") from error

    def keys(self, prefix: str) -> list[str]:
        """Return the keys of all blobs below a prefix, in their order; blocks."""
        _check(prefix)
        try:
            found = [str(meta["path"]) for batch in obstore.list(self._store, prefix=prefix) for meta in batch]
        except (BaseError, OSError) as error:
            raise BlobFault(f"blobs below {prefix} not listed: {error}") from error
        return sorted(found)

    async def size(self, key: str) -> int:
        """Return how many bytes a blob has, or raise BlobMissing."""
        _check(key)
        with _reading(key):
            return int((await obstore.head_async(self._store, key))["size"])

    async def exists(self, key: str) -> bool:
        """Whether there is a blob under this key."""
        try:
            await self.size(key)
        except BlobMissing:
            return False
        return True

    async def delete(self, key: str) -> None:
        """Remove the blob; one that is not there is fine."""
        _check(key)
        try:
            await obstore.delete_async(self._store, key)
        except FileNotFoundError:
            return
        except (BaseError, OSError) as error:
            raise BlobFault(f"blob {key} not deleted: {error}") from error

    async def jobs(self) -> AsyncIterator[set[JobKey]]:
        """Yield the jobs that have blobs, some at a time; one that has many may come more than once."""
        try:
            async for found in obstore.list(self._store):
                yield {job for entry in found if (job := _job_of(str(entry["path"])))}
        except (BaseError, OSError) as error:
            raise BlobFault(f"blobs not listed: {error}") from error

    async def delete_job(self, org_id: str, job_id: str, spared: str = "") -> None:
        """Remove every blob of a job, of all its attempts, but those whose names begin with what is to be spared."""
        prefix = f"{_segment(org_id)}/{_segment(job_id)}/"
        try:
            async for found in obstore.list(self._store, prefix):
                keys = [entry["path"] for entry in found]
                if spared:
                    keys = [key for key in keys if not str(key).rsplit("/", 1)[-1].startswith(spared)]
                if keys:
                    await obstore.delete_async(self._store, keys)
        except FileNotFoundError:  # another writer removed them just now
            return
        except (BaseError, OSError) as error:
            raise BlobFault(f"blobs under {prefix} not deleted: {error}") from error


@contextmanager
def _reading(key: str) -> Iterator[None]:
    """Raise what is wrong with a blob in our own words."""
    try:
        yield
    except FileNotFoundError:
        raise BlobMissing(f"no blob has the key {key}: it was purged, or JOBLEDGER_BLOBS is another store") from None
    except (BaseError, OSError) as error:
        raise BlobFault(f"blob {key} not read: {error}") from error


def _segment(text: str) -> str:
    """Escape what a key may not hold as ~XX per byte of UTF-8; `~` itself included, so that nothing collides."""
    if not text:
        raise ValueError("a part of a blob key is empty")
    return ESCAPED.sub(lambda found: "".join(f"~{byte:02x}" for byte in found[0].encode()), text)


def _job_of(key: str) -> JobKey | None:
    """Return the job of a key that `blob_key` has made; None: it is another blob's."""
    parts = key.split("/")
    if len(parts) != KEY_PARTS or not parts[2].isdigit():
        return None
    return _unescaped(parts[0]), _unescaped(parts[1])


def _unescaped(segment: str) -> str:
    return UNESCAPED.sub(lambda found: bytes.fromhex(found[0].replace("~", "")).decode(errors="replace"), segment)


def _check(key: str) -> None:
    if not KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no blob key: make keys with blob_key()")


def _make_durable(directory: Path, key: str) -> None:
    path = directory / key
    for place in (path, *path.parents):
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if place == directory:
            return
