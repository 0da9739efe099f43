"""Unpacks the archive of a Scrapy project, a tar.gz from strangers: files and folders alone, within bounds.

Names that lead elsewhere, links, devices, bombs and archives without a project are refused before a file of the name is
written; what was written before that is left to whoever discards the folder.
"""

import gzip
import io
import tarfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO, cast

MAX_ARCHIVE_BYTES = 64 * 1024 * 1024  # as it is uploaded
MAX_UNPACKED_BYTES = 256 * 1024 * 1024  # of the whole tar
MAX_ENTRIES = 10_000
MAX_NAME_BYTES = 255  # of one part of a path, as file systems have it
MAX_PATH_BYTES = 1_024
CONFIG = "scrapy.cfg"
COPY_BYTES = 1024 * 1024


class ArchiveInvalid(ValueError):
    """The archive is not unpacked, and why, for whoever uploaded it."""


def unpacked(data: bytes, folder: Path) -> Path:
    """Unpack an archive into an empty folder, and return the folder of the project in it; or raise ArchiveInvalid."""
    if len(data) > MAX_ARCHIVE_BYTES:
        raise ArchiveInvalid(f"the archive has {len(data)} bytes, more than {MAX_ARCHIVE_BYTES}")
    try:
        plain = cast(IO[bytes], _Bounded(gzip.GzipFile(fileobj=io.BytesIO(data))))
        with tarfile.open(fileobj=plain, mode="r:") as tar:
            _unpack(tar, folder)
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, OverflowError) as error:
        raise ArchiveInvalid(f"the archive is no whole tar.gz: {error}") from error
    except (ValueError, OSError) as error:
        if isinstance(error, ArchiveInvalid):
            raise
        raise ArchiveInvalid(f"the archive has what cannot be unpacked: {error}") from error
    return project_root(folder)


def project_root(folder: Path) -> Path:
    """Return the folder with the scrapy.cfg that lies highest, at most one level down; or raise ArchiveInvalid."""
    if (folder / CONFIG).is_file():
        return folder
    found = sorted(each.parent for each in folder.glob(f"*/{CONFIG}") if each.is_file())
    if len(found) == 1:
        return found[0]
    if found:
        raise ArchiveInvalid(f"{len(found)} folders have a {CONFIG}: pack one project, with it at the top")
    raise ArchiveInvalid(f"no {CONFIG} at the top or one folder below: pack the folder that `scrapy startproject` made")


def _unpack(tar: tarfile.TarFile, folder: Path) -> None:
    entries = 0
    while (member := tar.next()) is not None:
        tar.members = []  # type: ignore[attr-defined]  # which the tar would keep, each with its names
        entries += 1
        if entries > MAX_ENTRIES:
            raise ArchiveInvalid(f"the archive has more than {MAX_ENTRIES} entries")
        _place(tar, member, folder)


def _place(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    parts = _parts(member.name)
    target = folder.joinpath(*parts)
    if member.isdir():
        target.mkdir(mode=0o755, parents=True, exist_ok=True)
        return
    if member.issym() or member.islnk():
        raise ArchiveInvalid(f"{member.name!r} is a link: pack files themselves")
    if not member.isreg() or member.issparse():
        raise ArchiveInvalid(f"{member.name!r} is neither a file nor a folder")
    if not parts:
        raise ArchiveInvalid("a file of the archive has no name")
    if member.size > MAX_UNPACKED_BYTES:
        raise _too_large()
    source = tar.extractfile(member)
    assert source is not None
    target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    try:
        with source, target.open("xb") as file:
            while piece := source.read(COPY_BYTES):
                file.write(piece)
    except FileExistsError:
        raise ArchiveInvalid(f"{member.name!r} is there twice") from None


def _parts(name: str) -> tuple[str, ...]:
    """Return the parts of a name below the folder, none for the folder itself."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name or ":" in (path.parts or ("",))[0]:
        raise ArchiveInvalid(f"{name!r} leads out of the project's folder")
    encoded = [part.encode("utf-8", "surrogateescape") for part in path.parts]
    if any(len(part) > MAX_NAME_BYTES for part in encoded) or sum(map(len, encoded)) > MAX_PATH_BYTES:
        raise ArchiveInvalid(f"a name that begins with {name[:80]!r} is too long")
    return path.parts


def _too_large() -> ArchiveInvalid:
    return ArchiveInvalid(f"the archive unpacks to more than {MAX_UNPACKED_BYTES} bytes")


class _Bounded:
    """What a gzip holds, up to a bound: neither a long stream nor a header that claims much is read beyond it."""

    def __init__(self, plain: gzip.GzipFile) -> None:
        self._plain = plain
        self._position = 0

    def read(self, size: int = -1) -> bytes:
        """Return what comes next, or raise ArchiveInvalid behind the bound."""
        if size < 0 or self._position + size > MAX_UNPACKED_BYTES:
            size = MAX_UNPACKED_BYTES - self._position + 1
        data = self._plain.read(size)
        self._position += len(data)
        if self._position > MAX_UNPACKED_BYTES:
            raise _too_large()
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go on to a later place, as a tar does past what it does not read."""
        if whence != 0 or offset < self._position:
            raise ArchiveInvalid("the archive is read once from its beginning to its end")
        while self._position < offset and self.read(min(COPY_BYTES, offset - self._position)):
            pass
        return self._position

    def tell(self) -> int:
        """Return how far it was read."""
        return self._position
