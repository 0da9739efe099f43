"""An uploaded archive, from the bytes of a form to what can be deployed: streamed to a folder, looked through, kept.

The archive is a stranger's: it is bounded while it comes, unpacked into a folder that goes away, and loaded by a
process apart that tells the names of its spiders.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from aiohttp import BodyPartReader, hdrs, web

from api.config import deploys
from api.config.deploys import Archive, Deploy
from api.errors import Problem, invalid
from api.parts import Parts
from api.reading import typed
from api.spiders.archives import archive_key
from api.spiders.requests import UploadDeploy
from services.workers.spiders.archive import MAX_ARCHIVE_BYTES, ArchiveInvalid, unpacked
from services.workers.spiders.listing import ProjectBroken, spiders_of

UPLOAD_SECONDS = 300.0  # for the whole form; then the caller is at fault
MAX_TEXT_BYTES = 64 * 1024  # of a field that is no file
MAX_SAID_CHARS = 4_000  # of the error of a project that cannot be loaded
FILE = "archive"
FORM = "multipart/form-data"


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A form that came whole."""

    asked: UploadDeploy
    path: Path  # of the archive
    digest: str  # its SHA-256, in hex
    size: int  # bytes


async def uploaded(request: web.Request, folder: Path) -> Uploaded:
    """Read a form to its end, its file into a folder, or raise the Problem that names what is wrong with it."""
    if request.content_type != FORM or "boundary" not in request.headers.get(hdrs.CONTENT_TYPE, ""):
        raise Problem("bad_request", f"send {FORM}: the fields org, project, source, notes, and the file {FILE}")
    texts: dict[str, str] = {}
    file: tuple[str, int] | None = None
    try:
        async with asyncio.timeout(UPLOAD_SECONDS):
            async for part in _parts(request):
                name = part.name or ""
                if name in texts or (name == FILE and file):
                    raise invalid(name, "comes several times: send it once")
                if name == FILE:
                    file = await _into(folder / FILE, part)
                elif name in UploadDeploy.__struct_fields__:
                    texts[name] = await _text(name, part)
                else:
                    raise invalid(name, f"there is no field `{name}`: leave it out")
    except (ValueError, AssertionError, RuntimeError) as fault:  # as the reader of aiohttp raises them
        raise Problem("bad_request", f"the form cannot be read: {fault}") from None
    except TimeoutError:
        raise Problem("bad_request", f"the form did not arrive whole within {UPLOAD_SECONDS:g} s") from None
    asked = typed({**texts, **({FILE: ""} if file else {})}, UploadDeploy)
    assert file is not None  # else `typed` has told that it is missing
    return Uploaded(asked, folder / FILE, *file)


async def deployed(parts: Parts, org_id: str, given: Uploaded) -> tuple[Deploy, bool] | None:
    """Look through an archive, keep it and make a version of it, or raise the Problem that says why that cannot be.

    Returns what `deploys.add` does.
    """
    async with parts.looking_through:
        data = await asyncio.to_thread(given.path.read_bytes)
        archive = Archive(archive_key(org_id, given.digest), given.digest, given.size, await _spiders_in(data))

        async def keep() -> None:
            if not await parts.blobs.exists(archive.ref):
                await parts.blobs.put(archive.ref, data)

        asked, most = given.asked, parts.settings.deploys_per_project
        return await deploys.add(
            parts.pool, org_id, asked.project, archive, asked.source, asked.notes, keep=keep, most=most
        )


async def _spiders_in(data: bytes) -> list[str]:
    with TemporaryDirectory(prefix="jobledger-deploy-", ignore_cleanup_errors=True) as place:
        try:
            await asyncio.to_thread(unpacked, data, Path(place))
            return await spiders_of(Path(place))
        except (ArchiveInvalid, ProjectBroken) as fault:
            raise Problem("archive_invalid", str(fault)[-MAX_SAID_CHARS:], field=FILE) from None


async def _parts(request: web.Request) -> AsyncIterator[BodyPartReader]:
    reader = await request.multipart()
    while (part := await reader.next()) is not None:
        if not isinstance(part, BodyPartReader):
            raise Problem("bad_request", "a part of the form has parts of its own: send plain fields and a file")
        yield part


async def _into(path: Path, part: BodyPartReader) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with path.open("xb") as file:
        while data := await part.read_chunk(65536):
            size += len(data)
            if size > MAX_ARCHIVE_BYTES:
                message = (
                    f"the archive takes at most {MAX_ARCHIVE_BYTES} bytes: leave out what is no part of the project"
                )
                raise Problem("too_large", message, field=FILE)
            digest.update(data)
            await asyncio.to_thread(file.write, data)
    if not size:
        raise invalid(FILE, "is empty: send a tar.gz of the project")
    return digest.hexdigest(), size


async def _text(name: str, part: BodyPartReader) -> str:
    data = bytearray()
    while piece := await part.read_chunk(65536):
        data += piece
        if len(data) > MAX_TEXT_BYTES:
            raise Problem("too_large", f"this field takes at most {MAX_TEXT_BYTES} bytes", field=name)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise invalid(name, "is no UTF-8") from None
    if "\0" in text:
        raise Problem("unusable_text", "this text holds a NUL character: leave it out", field=name)
    return text
