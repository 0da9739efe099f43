"""Archives of projects: what is unpacked, and what never leaves its folder or fills the disk."""

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from services.workers.spiders import archive
from services.workers.spiders.archive import ArchiveInvalid, unpacked


def packed(*entries: tuple[str, bytes] | tarfile.TarInfo) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                tar.addfile(entry)
            else:
                info = tarfile.TarInfo(entry[0])
                info.size = len(entry[1])
                tar.addfile(info, io.BytesIO(entry[1]))
    return file.getvalue()


def special(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


CONFIG = ("shop/scrapy.cfg", b"[settings]\ndefault = shop.settings\n")


def test_a_project_is_unpacked_and_found_one_folder_down(tmp_path: Path) -> None:
    data = packed(special("shop", tarfile.DIRTYPE), CONFIG, ("shop/shop/spiders/a.py", b"x" * 100_000))
    assert unpacked(data, tmp_path) == tmp_path / "shop"
    assert (tmp_path / "shop/shop/spiders/a.py").read_bytes() == b"x" * 100_000


def test_a_project_is_found_at_the_top(tmp_path: Path) -> None:
    assert unpacked(packed(("./scrapy.cfg", b"[settings]\n"), ("./b/scrapy.cfg", b"")), tmp_path) == tmp_path


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (("../evil.py", b"x"), "'../evil.py' leads out"),
        (("shop/../../evil.py", b"x"), "leads out"),
        (("/etc/evil", b"x"), "leads out"),
        (("shop\\..\\evil", b"x"), "leads out"),
        (("C:/evil", b"x"), "leads out"),
        (special("shop/a", tarfile.SYMTYPE, "/etc/passwd"), "'shop/a' is a link"),
        (special("shop/a", tarfile.LNKTYPE, "shop/scrapy.cfg"), "'shop/a' is a link"),
        (special("shop/a", tarfile.CHRTYPE), "'shop/a' is neither a file nor a folder"),
        (special("shop/a", tarfile.FIFOTYPE), "'shop/a' is neither a file nor a folder"),
        (("shop/" + "a" * 300, b"x"), "is too long"),
        (CONFIG, "'shop/scrapy.cfg' is there twice"),
    ],
)
def test_what_leads_elsewhere_is_refused(entry: tuple[str, bytes] | tarfile.TarInfo, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    with pytest.raises(ArchiveInvalid, match=said):
        unpacked(packed(CONFIG, entry), folder)
    assert [each.name for each in tmp_path.iterdir()] == ["inner"]


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", 1_000_000)
    with pytest.raises(ArchiveInvalid, match="unpacks to more than 1000000 bytes"):
        unpacked(packed(CONFIG, *[(f"shop/{n}", bytes(400_000)) for n in range(3)]), tmp_path)
    assert sum(each.stat().st_size for each in tmp_path.rglob("*") if each.is_file()) < 1_000_000


def test_a_header_that_claims_much_takes_no_memory(tmp_path: Path) -> None:
    header = special("x", tarfile.XHDTYPE)
    header.size = 1 << 32
    data = gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + bytes(10_240))
    with pytest.raises(ArchiveInvalid):
        unpacked(data, tmp_path)


def test_too_many_entries_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_ENTRIES", 3)
    with pytest.raises(ArchiveInvalid, match="more than 3 entries"):
        unpacked(packed(CONFIG, *[(f"shop/{n}", b"") for n in range(3)]), tmp_path)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda data: data[: len(data) // 2], "no whole tar.gz"),
        (lambda _: b"PK\3\4", "no whole tar.gz"),
        (lambda _: gzip.compress(b"hello" * 1_000), "no whole tar.gz"),
        (lambda _: packed(("a.py", b"")), "no scrapy.cfg"),
        (lambda _: packed(("a/scrapy.cfg", b""), ("b/scrapy.cfg", b"")), "2 folders have a scrapy.cfg"),
    ],
)
def test_what_is_no_archive_of_a_project_is_refused(spoil: Callable[[bytes], bytes], said: str, tmp_path: Path) -> None:
    with pytest.raises(ArchiveInvalid, match=said):
        unpacked(spoil(packed(CONFIG, ("shop/a.py", bytes(range(256)) * 100))), tmp_path)
