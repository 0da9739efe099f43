"""Blobs are whole or absent, durable when put returns, and their keys never leave the store or collide."""

import asyncio
import os
from pathlib import Path
from typing import Any

import obstore
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from services.runtime.blob import KEY, BlobStore, blob_key
from services.runtime.errors import BlobFault, BlobMissing

PART = st.text(min_size=1, max_size=20)


@pytest.fixture(params=["directory", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    return BlobStore(f"file://{tmp_path}/blobs" if request.param == "directory" else "memory:///")


async def test_a_blob_is_read_back_as_it_was_put(store: BlobStore) -> None:
    data = bytes(range(256)) * 5000
    await store.put("acme/j-1/1/body.html", data)
    assert await store.get("acme/j-1/1/body.html") == data
    assert await store.exists("acme/j-1/1/body.html")


async def test_a_put_that_is_cancelled_ends_once_nothing_of_it_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    store, put, begun, go_on = BlobStore("memory:///"), obstore.put_async, asyncio.Event(), asyncio.Event()

    async def late(*arguments: Any) -> object:
        begun.set()
        await go_on.wait()
        return await put(*arguments)

    monkeypatch.setattr(obstore, "put_async", late)
    putting = asyncio.create_task(store.put("a/b", b"x"))
    await begun.wait()
    putting.cancel()
    for _ in range(3):
        await asyncio.sleep(0)
    assert not putting.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await putting
    assert await store.exists("a/b")


async def test_many_blobs_are_read_at_once_in_the_order_of_their_keys(store: BlobStore) -> None:
    keys = [f"acme/j-{number}/1/body" for number in range(150)]
    for number in range(0, 150, 2):
        await store.put(keys[number], f"{number}".encode())
    found = await store.get_each([*keys, "../outside", keys[0]])
    assert found[0:150:2] == [f"{number}".encode() for number in range(0, 150, 2)]
    assert {type(each) for each in found[1:150:2]} == {BlobMissing}
    assert keys[1] in str(found[1])
    assert (type(found[150]), found[151]) == (ValueError, b"0")
    assert await store.get_each([]) == []


async def test_a_part_of_a_blob_is_read_by_itself(store: BlobStore) -> None:
    key = "acme/j-1/1/items-1-0"
    await store.put(key, b"rows outcomes stats")
    assert [await store.first(key, length) for length in (4, 19, 0)] == [b"rows", b"rows outcomes stats", b""]
    assert [await store.last(key, length) for length in (5, 19, 0)] == [b"stats", b"rows outcomes stats", b""]
    for read in (store.first, store.last):
        with pytest.raises(BlobMissing):
            await read(key + "x", 1)


async def test_putting_again_replaces_the_blob(store: BlobStore) -> None:
    await store.put("a/b", b"old and longer")
    await store.put("a/b", b"new")
    assert await store.get("a/b") == b"new"


async def test_an_empty_blob_is_a_blob(store: BlobStore) -> None:
    await store.put("a/empty", b"")
    assert await store.get("a/empty") == b""


async def test_a_missing_blob_is_said_to_be_missing_with_its_key(store: BlobStore) -> None:
    assert not await store.exists("a/none")
    with pytest.raises(BlobMissing, match="a/none"):
        await store.get("a/none")


async def test_deleting_twice_is_fine(store: BlobStore) -> None:
    await store.put("a/b", b"x")
    await store.delete("a/b")
    await store.delete("a/b")
    assert not await store.exists("a/b")


@pytest.mark.parametrize(
    "key", ["", "/etc/passwd", "../x", "a/../b", "a//b", "a/", "a/./b", "a/.hidden", "a b", "a\\b"]
)
async def test_a_key_that_could_leave_the_store_is_an_error(store: BlobStore, key: str) -> None:
    for call in (store.get(key), store.put(key, b""), store.exists(key), store.delete(key)):
        with pytest.raises(ValueError, match="blob_key"):
            await call


async def test_a_directory_that_cannot_be_written_is_a_fault(tmp_path: Path) -> None:
    store = BlobStore(f"file://{tmp_path}/blobs")
    (tmp_path / "blobs" / "a").write_text("in the way")
    with pytest.raises(BlobFault, match="a/b not written"):
        await store.put("a/b", b"x")


async def test_a_put_leaves_only_its_blob_and_makes_file_and_directories_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    real_fsync = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        real_fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    root = tmp_path / "blobs"
    await BlobStore(f"file://{root}").put("acme/j-1/body", b"x")
    assert synced == [str(root / place) for place in ("acme/j-1/body", "acme/j-1", "acme", "")]
    assert [path.name for path in root.rglob("*") if path.is_file()] == ["body"]


def test_a_blob_key_names_org_job_attempt_and_name() -> None:
    assert blob_key("acme", "0192-a", 2, "page.html") == "acme/0192-a/2/page.html"


@given(PART, PART, PART)
def test_every_blob_key_is_usable(org_id: str, job_id: str, name: str) -> None:
    assert KEY.fullmatch(blob_key(org_id, job_id, 1, name))


@given(st.tuples(PART, PART), st.tuples(PART, PART))
def test_different_parts_never_give_the_same_key(one: tuple[str, str], other: tuple[str, str]) -> None:
    assume(one != other)
    assert blob_key(one[0], one[1], 1, "x") != blob_key(other[0], other[1], 1, "x")


def test_an_empty_part_of_a_key_is_an_error() -> None:
    with pytest.raises(ValueError, match="empty"):
        blob_key("", "j-1", 1, "x")
