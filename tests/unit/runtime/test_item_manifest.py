"""The list of the chunks that hold a job's items: what is written is read, and its key tells what it is."""

import pytest

from services.runtime.blob import blob_key, is_as_written
from services.runtime.item_chunks import chunk_key, plan_key
from services.runtime.item_manifest import (
    BadManifest,
    Manifest,
    StoredChunk,
    is_manifest,
    manifest_key,
    manifest_of,
    packed_manifest,
)

CHUNKS = Manifest(
    (
        StoredChunk(chunk_key("acme", "job", 1, 1, 0), rows=1000, rows_bytes=70_000, json_bytes=300_000),
        StoredChunk(chunk_key("acme", "job", 1, 1, 1), rows=240, rows_bytes=17_000, json_bytes=70_000),
    )
)


def test_a_manifest_is_read_as_it_was_written() -> None:
    read = manifest_of(packed_manifest(CHUNKS))

    assert read == CHUNKS
    assert (read.rows, read.json_bytes) == (1240, 370_000)
    assert manifest_of(packed_manifest(Manifest(()))).rows == 0


def test_its_key_says_what_it_is_and_what_it_holds() -> None:
    data = packed_manifest(CHUNKS)
    key = manifest_key("acme", "job", 1, data)

    assert is_manifest(key)
    assert is_as_written(key, data)
    assert not is_as_written(key, data + b" ")


@pytest.mark.parametrize(
    "key",
    [
        "",
        chunk_key("acme", "job", 1, 1, 0),
        plan_key("acme", "job", 1, 1),
        blob_key("acme", "items-manifest.json", 1, "extraction.json"),
    ],
)
def test_no_other_key_is_taken_for_one(key: str) -> None:
    assert not is_manifest(key)


@pytest.mark.parametrize("data", [b"", b"[]", b'{"normalized": {}}', b'{"chunks": [{"key": "a"}]}', b"\xff"])
def test_what_is_no_manifest_is_refused(data: bytes) -> None:
    with pytest.raises(BadManifest):
        manifest_of(data)
