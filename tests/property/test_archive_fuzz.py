"""Whatever is uploaded as an archive: it is unpacked within its folder and bounds, or ArchiveInvalid; never else.

For some seconds in each run; FUZZ_EXAMPLES=100000 for as long as one likes.
"""

import gzip
import io
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from services.workers.spiders.archive import ArchiveInvalid, unpacked

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "200"))
KINDS = (tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE)
PARTS = st.sampled_from(["a", "b", "..", ".", "", "scrapy.cfg", "C:", "\u00e9", "x" * 300, "\\", "a\udcffb"])
NAMES = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
ENTRIES = st.lists(st.tuples(NAMES, st.sampled_from(KINDS), st.binary(max_size=40), NAMES), max_size=5)
FUZZED = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def tar_of(entries: list[tuple[str, bytes, bytes, str]]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", errors="surrogateescape") as tar:
        for name, kind, data, link in [("scrapy.cfg", tarfile.REGTYPE, b"[settings]\n", ""), *entries]:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, link
            info.size = len(data) if kind == tarfile.REGTYPE else 0
            tar.addfile(info, io.BytesIO(data))
    return file.getvalue()


@contextmanager
def house() -> Iterator[tuple[Path, Path]]:
    """Make a folder to unpack into, and around it one where nothing else may come to lie."""
    with TemporaryDirectory(prefix="jobledger-fuzz-") as place:
        folder = Path(place) / "inner" / "folder"
        folder.mkdir(parents=True)
        yield Path(place), folder


def put(data: bytes) -> None:
    """Unpack bytes; that they are no archive is fine. Whatever came of it are plain files and folders in the folder."""
    with house() as (around, folder):
        try:
            root = unpacked(data, folder)
        except ArchiveInvalid:
            pass
        else:
            assert root.is_relative_to(folder)
            assert (root / "scrapy.cfg").is_file()
        outside = [each for each in around.rglob("*") if not each.is_relative_to(folder)]
        assert outside == [folder.parent]
        assert [each for each in folder.rglob("*") if each.is_symlink() or not (each.is_file() or each.is_dir())] == []


@FUZZED
@given(st.binary(max_size=400))
def test_any_bytes_are_an_archive_or_none(data: bytes) -> None:
    put(data)
    put(gzip.compress(data, 1))


@FUZZED
@given(ENTRIES)
@example([("../../outside", tarfile.REGTYPE, b"x", "")])
@example([("a", tarfile.SYMTYPE, b"", "../.."), ("a/b", tarfile.REGTYPE, b"x", "")])
@example([("a", tarfile.REGTYPE, b"x", ""), ("a/b", tarfile.REGTYPE, b"x", "")])
def test_whatever_names_and_kinds_stand_in_a_tar_nothing_leaves_the_folder(
    entries: list[tuple[str, bytes, bytes, str]],
) -> None:
    put(gzip.compress(tar_of(entries), 1))


@FUZZED
@given(st.data())
def test_a_damaged_tar_is_an_archive_or_none(data: st.DataObject) -> None:
    """Damage lies in the headers more often than not: 512 bytes of each entry."""
    whole = bytearray(tar_of([("shop/a.py", tarfile.REGTYPE, b"pass\n", ""), ("shop/b", tarfile.DIRTYPE, b"", "")]))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, 2047))] = data.draw(st.integers(0, 255))
    for header in range(0, 2048, 512):  # a damaged sum would end the reading there
        total = sum(whole[header : header + 148]) + 8 * 0x20 + sum(whole[header + 156 : header + 512])
        whole[header + 148 : header + 156] = f"{total:06o}\0 ".encode()
    put(gzip.compress(bytes(whole), 1))


@FUZZED
@given(st.data())
def test_a_damaged_gzip_is_an_archive_or_none(data: st.DataObject) -> None:
    packed = bytearray(gzip.compress(tar_of([("shop/a.py", tarfile.REGTYPE, b"pass\n" * 50, "")]), 1))
    for _ in range(data.draw(st.integers(1, 3))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    put(bytes(packed[: data.draw(st.integers(1, len(packed)))]))
