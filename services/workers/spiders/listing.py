"""Which spiders a project has, told by itself: it is loaded in a process as apart as that of a run."""

import asyncio
from pathlib import Path

from services.workers.spiders.archive import project_root
from services.workers.spiders.frames import Note, Spec
from services.workers.spiders.process import Process
from services.workers.spiders.protocol import Ended

MEMORY_MB = 512
LIST_SECONDS = 60.0  # that a project has to be loaded


class ProjectBroken(ValueError):
    """The project cannot be loaded, and why, in the words of its own error."""


async def spiders_of(folder: Path) -> list[str]:
    """Return the names of a project's spiders, sorted; raises ProjectBroken, or ArchiveInvalid where there is none.

    `folder` is that of the project or the one above it. What the project writes meanwhile stays in it: discard it.
    """
    project = (await asyncio.to_thread(project_root, folder)).absolute()
    spec = Spec(does="list", project=str(project), memory_mb=MEMORY_MB)
    process = Process()
    names: list[str] | None = None
    error = ""
    try:
        async with asyncio.timeout(LIST_SECONDS):
            await process.start(spec, (), {}, folder, None, apart=True)
            async for heard in process.heard():
                match heard:
                    case Note(about="spiders"):
                        names = heard.names
                    case Note(about="broken"):
                        error = heard.reason
                    case Ended():
                        error = error or ("it used too much memory" if heard.killed == "memory" else heard.printed)
    except TimeoutError:
        raise ProjectBroken(f"the project was not loaded within {LIST_SECONDS:g} s") from None
    finally:
        await process.close()
    if names is None:
        raise ProjectBroken(f"the project cannot be loaded: {error.strip() or 'its process said nothing'}")
    if not names:
        raise ProjectBroken("the project has no spiders")
    return names
